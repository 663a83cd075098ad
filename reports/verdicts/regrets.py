"""What strategies cost over the best schedule in hindsight, all in modelled CPU."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from bench.results.best_schedules import LABEL, BestSchedule, read_best_schedules
from bench.results.folders import RunResult
from bench.results.rows import usable
from reports.verdicts.query_load import cpu_with_queries_s

_NOISE = 1e-9  # of the floor, below which extra CPU is a rounding error
# Of CPU, below which two figures count as alike: by as much the simulation of a schedule may differ from the
# sum of its parts.
ALIKE = 0.01
EXTRA_CPU = (
    "Extra CPU is that of compactions, and what commits and queries take beyond those of a table that is "
    "compacted after each commit at no cost."
)


@dataclass(frozen=True, slots=True)
class Regrets:
    """At one rate of queries: CPU seconds of commits, policy and queries.

    `found_cpu_s` is that of the schedule that was found, as simulated, and `cpu_s` that of each strategy,
    None where it is not known. `cheaper` is a strategy with one of the planners whose own schedule is cheaper
    than what was found. *Extra* CPU, as in `EXTRA_CPU`, is what is above the floor.
    """

    found: BestSchedule
    found_cpu_s: float
    cpu_s: Mapping[str, float | None]
    cheaper: str | None

    @property
    def best_extra_s(self) -> float:
        own_s = None if self.cheaper is None else self.cpu_s[self.cheaper]
        return (self.found_cpu_s if own_s is None else own_s) - self.found.floor_cpu_s

    @property
    def bound_over_best(self) -> float | None:
        """The extra CPU that each schedule has at least, over that of the best one that is known."""
        return self._over_best(self.found.bound_cpu_s)

    @property
    def error(self) -> float:
        """The schedule that was found, simulated, against the sum of its parts."""
        return self.found_cpu_s / self.found.parts_cpu_s - 1

    def extra_s(self, strategy: str) -> float | None:
        cpu_s = self.cpu_s.get(strategy)
        return None if cpu_s is None else cpu_s - self.found.floor_cpu_s

    def over_best(self, strategy: str) -> float | None:
        """None if its cost is not known, or if the best schedule has no extra CPU."""
        return self._over_best(self.cpu_s.get(strategy))

    def _over_best(self, cpu_s: float | None) -> float | None:
        if cpu_s is None or self.best_extra_s <= _NOISE * self.found.floor_cpu_s:
            return None
        return (cpu_s - self.found.floor_cpu_s) / self.best_extra_s


def regrets_of(found: BestSchedule, runs: Iterable[RunResult]) -> Regrets | None:
    """`runs` are those of the strategies, and of the schedule that was found if it compacts.

    None if no strategy with one of the planners has a cost, as on a table that never has rows.
    """
    in_order = sorted(runs, key=lambda run: run.manifest.strategy_index or 0)
    cpu_s = {run.manifest.strategy: cpu_with_queries_s(run, found.queries_per_h) for run in in_order}
    own_s = {label: own for label in found.same_planners if (own := cpu_s.get(label)) is not None}
    if not own_s:
        return None
    least = cheapest(own_s, own_s.get)
    found_s = cpu_s.get(found.label)
    if found_s is None:
        found_s = found.parts_cpu_s
    return Regrets(
        found,
        found_s,
        {label: cost_s for label, cost_s in cpu_s.items() if not label.startswith(LABEL)},
        cheaper=least if own_s[least] < found_s else None,
    )


def cheapest(labels: Iterable[str], extra_s: Callable[[str], float | None]) -> str:
    """The strategy with the least extra CPU, the first of equal ones; unknown costs are the highest."""

    def known_s(label: str) -> float:
        own_s = extra_s(label)
        return math.inf if own_s is None else own_s

    return min(labels, key=known_s)


def spread(values: Sequence[float]) -> float:
    """The share by which the largest exceeds the smallest; 0 where the smallest is 0."""
    low, high = min(values), max(values)
    return high / low - 1 if low > 0 else 0.0


def stored_regrets(runs: Sequence[RunResult]) -> tuple[Regrets, ...]:
    """Those of a scenario's simulated runs, by rate, if a search has stored schedules beside them."""
    first = runs[0]
    stored = read_best_schedules(first.folder.parent) if first.manifest.mode == "simulated" else None
    if stored is None or stored.scenario_hash != first.manifest.scenario_hash:
        return ()
    counted = [run for run in runs if usable(run)]
    return tuple(one for found in stored.found if (one := regrets_of(found, counted)) is not None)
