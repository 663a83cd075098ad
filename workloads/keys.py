"""Which rows a stream of changes hits: keys drawn from those that are there, evenly or not."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from workloads.draws import below, share

Skew = Literal["uniform", "zipf", "recent-first"]

_RANKS_APART = 64  # beyond them ranks are taken together, each range longer by this factor:
_RANGE_FACTOR = 1.1


@dataclass(frozen=True, slots=True)
class KeyChoice:
    """How changes choose among the keys 1 to `population`, in order of their insertion.

    "uniform": each alike. The others draw a rank r with a density falling as r^-`exponent`, cut down
    to a whole number, and give rank 1 to the newest key ("recent-first") or to a key that is hot
    wherever it lies ("zipf"): there the ranks up to `initial_rows` are scattered over the initial
    load, some keys getting two and some none, and later keys have the rank of their number, so that
    a key stays as hot as it was while the table grows.
    """

    skew: Skew
    exponent: float
    initial_rows: int

    def sql(self, seed: int, draw: str, population: int) -> str:
        """SQL of the key that the draw numbered `draw` (SQL too) hits."""
        if self.skew == "uniform":
            return f"1 + {below(seed, 'key', population, draw)}"
        rank = self._rank_sql(share(seed, "key", draw), population)
        if self.skew == "recent-first":
            return f"{population + 1}L - {rank}"
        scattered = f"1 + {below(seed, 'scattered_key', self.initial_rows, rank)}"
        return f"IF({rank} <= {self.initial_rows}L, {scattered}, {rank})"

    def _rank_sql(self, uniform: str, population: int) -> str:
        """The inverse of `_below`; POW is Java's StrictMath, and so the same everywhere."""
        if self.exponent == 1:
            rank = f"pow({population + 1}D, {uniform})"
        else:
            power = 1 - self.exponent
            rank = f"pow(1D + {uniform} * {(population + 1) ** power - 1!r}D, {1 / power!r}D)"
        return f"least({population}L, greatest(1L, CAST(floor({rank}) AS BIGINT)))"

    def share(self, first_key: int, end_key: int, population: int) -> float:
        """The share (0..1) of draws that hits a key in [`first_key`, `end_key`)."""
        first, end = max(first_key, 1), min(end_key, population + 1)
        if first >= end:
            return 0.0
        if self.skew == "uniform":
            return (end - first) / population
        if self.skew == "recent-first":
            return self._ranks(population + 2 - end, population + 2 - first, population)
        scattered = min(self.initial_rows, population)
        inside = max(0, min(end, scattered + 1) - first)
        share_of_scattered = self._ranks(1, scattered + 1, population) * inside / scattered
        return share_of_scattered + self._ranks(max(first, scattered + 1), end, population)

    @property
    def is_scattered(self) -> bool:
        """Whether the keys of the initial load are hot in another order than that of their numbers."""
        return self.skew == "zipf"

    def heat(self, first: int, end: int, population: int) -> float:
        """As `share`, but of places in the order of heat: the keys, where they are scattered their ranks."""
        if self.is_scattered:
            return self._ranks(max(first, 1), min(end, population + 1), population)
        return self.share(first, end, population)

    def key_at(self, share_before: float, population: int) -> int:
        """The key at a quantile (0..1) of the draws: at most that share of them hits a lower one."""
        first, last = 1, population
        while first < last:
            middle = (first + last + 1) // 2
            if self.share(1, middle, population) <= share_before:
                first = middle
            else:
                last = middle - 1
        return first

    def distinct(self, draws: int, population: int) -> float:
        """How many different keys so many draws are expected to hit; ranks that share a key count apart."""
        if self.skew == "uniform":
            return _hit(1.0, population, draws)
        return sum(
            _hit(self._ranks(start, end, population), end - start, draws)
            for start, end in _rank_ranges(population)
        )

    def _ranks(self, start: int, end: int, population: int) -> float:
        return self._below(end, population) - self._below(start, population) if start < end else 0.0

    def _below(self, rank: int, population: int) -> float:
        """The share of draws with a lower rank: the integral of r^-exponent from 1, over that to the end."""
        if self.exponent == 1:
            return math.log(rank) / math.log(population + 1)
        power = 1 - self.exponent
        return float((rank**power - 1) / ((population + 1) ** power - 1))


def _rank_ranges(population: int) -> Iterator[tuple[int, int]]:
    start = 1
    while start <= population:
        length = 1 if start <= _RANKS_APART else math.ceil(start * (_RANGE_FACTOR - 1))
        yield start, min(start + length, population + 1)
        start += length


def _hit(share_of_all: float, keys: int, draws: int) -> float:
    """How many of `keys`, which share out a share of the draws evenly, are hit at least once."""
    each = share_of_all / keys
    return keys * -math.expm1(draws * math.log1p(-each)) if each < 1 else float(min(draws, 1))
