"""The stored regrets of `tools.regrets`, and what the page says of them. All of them are modelled."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from bench.results.arithmetic import all_known, mean
from bench.text import MISSING, human_percent
from reports.verdicts.regrets import spread

FILE = Path(__file__).parent / "published" / "regrets.json"
INTERVAL, THRESHOLD = "best interval in hindsight", "best threshold in hindsight"


@dataclass(frozen=True, slots=True)
class OverBest:
    """The extra CPU of a strategy over that of the best schedule, by stream; None where it is not known.

    `settings` are those that were chosen for each stream, of a strategy that is chosen in hindsight.
    """

    ratios: tuple[float | None, ...]
    settings: tuple[str, ...] = ()

    @property
    def mean(self) -> float | None:
        """None unless all are known."""
        return mean(all_known(self.ratios) or ())

    @property
    def worst(self) -> float | None:
        """None unless all are known."""
        return max(all_known(self.ratios) or (), default=None)

    @property
    def text(self) -> str:
        """The mean, with the worst in brackets if that differs: "1.08 (1.12)"."""
        if self.mean is None or self.worst is None:
            return MISSING
        mean, worst = ratio_text(self.mean), ratio_text(self.worst)
        return mean if mean == worst else f"{mean} ({worst})"


@dataclass(frozen=True, slots=True)
class AtRate:
    """One rate of queries. Items are by stream, in CPU seconds, or over the extra CPU of the best schedule.

    `rounds` are the compactions of the schedule that was found, `bounds` what any schedule takes at least,
    and `errors` are of that schedule, as simulated, against the sum of its parts.
    """

    queries_per_h: float
    best_extra_cpu_s: tuple[float, ...]
    rounds: tuple[int, ...]
    bounds: tuple[float | None, ...]
    errors: tuple[float, ...]
    strategies: Mapping[str, OverBest]


@dataclass(frozen=True, slots=True)
class Traffic:
    """One kind of traffic; `streams` are the seeds or the files of a trace."""

    scenario: str
    command: str
    commits: int
    streams: tuple[str, ...]
    rates: tuple[AtRate, ...]

    @property
    def is_exact(self) -> bool:
        """Whether no schedule takes less than the one that was found, at any rate."""
        return all(bound is not None and bound >= 0.99 for rate in self.rates for bound in rate.bounds)

    @property
    def differ_by(self) -> str:
        """By how much the extra CPU of the best schedule differs between streams, at most; a dash of one."""
        if len(self.streams) == 1:
            return MISSING
        return human_percent(max(spread(rate.best_extra_cpu_s) for rate in self.rates))


_STORED: TypeAdapter[tuple[Traffic, ...]] = TypeAdapter(tuple[Traffic, ...])


def stored_traffic() -> tuple[Traffic, ...]:
    return _STORED.validate_json(FILE.read_bytes()) if FILE.exists() else ()


def store_traffic(made: Traffic) -> None:
    """Add a kind of traffic, or replace it; the file is in order of names."""
    by_name = {one.scenario: one for one in stored_traffic()} | {made.scenario: made}
    ordered = tuple(by_name[name] for name in sorted(by_name))
    FILE.write_bytes(_STORED.dump_json(ordered, indent=1) + b"\n")


def worst(traffic: Iterable[Traffic], strategy: str) -> str:
    """The largest ratio of a strategy over all rates and streams; a dash unless all are known."""
    found = all_known(rate.strategies[strategy].worst for one in traffic for rate in one.rates)
    return ratio_text(max(found)) if found else MISSING


def chosen(traffic: Iterable[Traffic], strategy: str, queries_per_h: float) -> str:
    """The least and the greatest number in the settings that were chosen at a rate: "14 to 33"."""
    numbers = [
        int(setting.partition("=")[2])
        for one in traffic
        for rate in one.rates
        if rate.queries_per_h == queries_per_h
        for setting in rate.strategies[strategy].settings
    ]
    return f"{min(numbers)} to {max(numbers)}"


def ratio_text(ratio: float) -> str:
    """Two decimals, by which a goal of 1.2 is told from 1.15 and 1.24."""
    return f"{ratio:.2f}"
