"""Traffic over time: how many rows arrive in each commit of a stream."""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

# Above this mean a normal distribution differs from a Poisson one by less than the rounding to whole rows.
_NORMAL_FROM_ROWS = 100.0
_FACTOR_MAX = 1e6  # of the mean: no traffic rises higher, and sums of rows stay finite


class Arrival(Protocol):
    """How many rows arrive in the commit covering [`from_ms`, `to_ms`); never negative.

    Both count from the start of the stream, `index` from 1. `mean_rows` is the long-run mean per commit.
    All randomness comes from `seed`, which is the same for all commits of a stream, and `index`.
    """

    def rows(self, index: int, from_ms: int, to_ms: int, mean_rows: float, seed: str) -> int: ...


@dataclass(frozen=True, slots=True)
class Constant:
    """Steady traffic: every commit has the mean number of rows."""

    def rows(self, index: int, from_ms: int, to_ms: int, mean_rows: float, seed: str) -> int:
        return round(mean_rows)


@dataclass(frozen=True, slots=True)
class Poisson:
    """Poisson arrivals: rows arrive independently of each other at a constant rate."""

    def rows(self, index: int, from_ms: int, to_ms: int, mean_rows: float, seed: str) -> int:
        rng = _drawn(seed, index)
        if mean_rows >= _NORMAL_FROM_ROWS:
            return max(0, round(rng.gauss(mean_rows, math.sqrt(mean_rows))))
        return _poisson(mean_rows, rng)


@dataclass(frozen=True, slots=True)
class Bursts:
    """Steady traffic with bursts: it is `factor` times as high during `length_s` of every `every_s`.

    A burst is the end of its period, or, with `at_random`, a part of it that the seed draws. The steady part
    is lowered so that the mean over a period is kept.
    """

    every_s: float = 3600.0
    length_s: float = 300.0
    factor: float = 5.0
    at_random: bool = False

    def __post_init__(self) -> None:
        _check_bursts("", self.every_s, self.length_s, self.factor)

    def rows(self, index: int, from_ms: int, to_ms: int, mean_rows: float, seed: str) -> int:
        drawn_by = seed if self.at_random else None
        return _between(lambda at_s: self._traffic_s(at_s, drawn_by), from_ms, to_ms, mean_rows)

    def _traffic_s(self, at_s: float, drawn_by: str | None) -> float:
        """Seconds of mean traffic that have arrived by `at_s`."""
        extra_s = (self.factor - 1) * _burst_s(at_s, self.every_s, self.length_s, drawn_by)
        return (at_s + extra_s) / (1 + (self.factor - 1) * self.length_s / self.every_s)


@dataclass(frozen=True, slots=True)
class Daily:
    """A daily cycle: constant low traffic at night, and a raised-cosine peak during the day.

    Traffic is `peak_factor` times the mean at its peak and `night_factor` (0..1) times at night. The length
    of the day part, 2 x (1 - night) / (peak - night) of 24 h, follows from the mean: 2.5 and 0.2 give 16.7 h.
    The peak is at `peak_at_s` of the day (None: 14 h of 24), and the stream begins at midnight. A `day_s`
    below 86400 compresses the day for a short scenario. Bursts add (`burst_factor` - 1) times the mean during
    the last `burst_length_s` of every `burst_every_s`, or, with `bursts_at_random`, during a part of it that
    the seed draws; the rest is lowered so that the mean is kept. A `burst_factor` of 1 means no bursts.
    """

    peak_factor: float = 2.5
    night_factor: float = 0.2
    peak_at_s: float | None = None
    day_s: float = 86_400.0
    burst_every_s: float = 3600.0
    burst_length_s: float = 300.0
    burst_factor: float = 1.0
    bursts_at_random: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.night_factor < 1:
            raise ValueError(f"night_factor={self.night_factor} must be in [0, 1)")
        if not self.peak_factor >= 2 - self.night_factor:
            least = 2 - self.night_factor
            raise ValueError(
                f"peak_factor={self.peak_factor} must be >= {least:g} = 2 - night_factor: "
                "a lower peak cannot keep the mean"
            )
        if not self.peak_factor <= _FACTOR_MAX:
            raise ValueError(f"peak_factor={self.peak_factor} must be <= {_FACTOR_MAX:g}")
        if not self.day_s > 0:
            raise ValueError(f"day_s={self.day_s} must be > 0")
        if self.peak_at_s is not None and not 0 <= self.peak_at_s < self.day_s:
            raise ValueError(f"peak_at_s={self.peak_at_s} must be in [0, day_s={self.day_s})")
        _check_bursts("burst_", self.burst_every_s, self.burst_length_s, self.burst_factor)

    def rows(self, index: int, from_ms: int, to_ms: int, mean_rows: float, seed: str) -> int:
        drawn_by = seed if self.bursts_at_random else None
        return _between(lambda at_s: self._traffic_s(at_s, drawn_by), from_ms, to_ms, mean_rows)

    def _traffic_s(self, at_s: float, drawn_by: str | None) -> float:
        """Seconds of mean traffic that have arrived by `at_s`, up to a constant."""
        peak_at_s = self.day_s * 14 / 24 if self.peak_at_s is None else self.peak_at_s
        days, from_trough = divmod((at_s - peak_at_s) / self.day_s + 0.5, 1)
        burst_s = _burst_s(at_s, self.burst_every_s, self.burst_length_s, drawn_by)
        extra_s = (self.burst_factor - 1) * burst_s
        level = 1 + (self.burst_factor - 1) * self.burst_length_s / self.burst_every_s
        return ((days + self._traffic_of_day(from_trough)) * self.day_s + extra_s) / level

    def _traffic_of_day(self, from_trough: float) -> float:
        """The share of a day's traffic in the first `from_trough` (0..1) of a day centred on its peak."""
        width = 2 * (1 - self.night_factor) / (self.peak_factor - self.night_factor)
        x = min(max((from_trough - 0.5) / width, -0.5), 0.5)
        hump = width * (x + 0.5 + math.sin(2 * math.pi * x) / (2 * math.pi)) / 2
        return self.night_factor * from_trough + (self.peak_factor - self.night_factor) * hump


def _between(traffic_s: Callable[[float], float], from_ms: int, to_ms: int, mean_rows: float) -> int:
    """Whole rows between two points of cumulative traffic; rounding errors do not add up over commits."""
    rows_per_s = mean_rows / ((to_ms - from_ms) / 1000)
    before, after = (math.floor(traffic_s(at_ms / 1000) * rows_per_s + 0.5) for at_ms in (from_ms, to_ms))
    return max(0, after - before)


def _burst_s(at_s: float, every_s: float, length_s: float, drawn_by: str | None) -> float:
    """Total seconds of bursts before `at_s`: one ends each period, or its place is drawn by a seed."""
    periods, into_s = divmod(at_s, every_s)
    begin_s = every_s - length_s
    if drawn_by is not None:
        begin_s *= _drawn(drawn_by, round(periods)).random()
    return periods * length_s + min(length_s, max(0.0, into_s - begin_s))


def _drawn(seed: str, number: int) -> random.Random:
    """What is random in a commit or a period, independent of all others."""
    return random.Random(f"{seed}/{number}")  # noqa: S311 - reproducible, not secret


def _check_bursts(prefix: str, every_s: float, length_s: float, factor: float) -> None:
    if not every_s > 0:
        raise ValueError(f"{prefix}every_s={every_s} must be > 0")
    if not 0 < length_s < every_s:
        raise ValueError(f"{prefix}length_s={length_s} must be in (0, {prefix}every_s={every_s})")
    if not 1 <= factor <= _FACTOR_MAX:
        raise ValueError(f"{prefix}factor={factor} must be in [1, {_FACTOR_MAX:g}]")


def _poisson(mean_rows: float, rng: random.Random) -> int:
    """Knuth's product of uniforms. Source: The Art of Computer Programming 2, 3.4.1, algorithm Q."""
    limit, rows, product = math.exp(-mean_rows), 0, rng.random()
    while product > limit:
        rows += 1
        product *= rng.random()
    return rows
