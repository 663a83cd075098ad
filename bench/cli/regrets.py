"""What strategies cost over the best schedule in hindsight."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.cli.simulating import simulated_aside
from bench.errors import ScenarioError
from bench.hindsight.search import Candidate, Searched, floor_cpu_s, planner_of, with_schedules
from bench.results.folders import RunResult
from bench.runs.suite.cases import plan_runs
from bench.scenario.scenario import Scenario
from reports.verdicts.query_load import cpu_with_queries_s

_NOISE = 1e-9  # of the floor, below which extra CPU is a rounding error


@dataclass(frozen=True, slots=True)
class Regrets:
    """At one rate of queries: CPU seconds of commits, policy and queries.

    `floor_cpu_s` is what commits and queries take at least, `found_cpu_s` that of the schedule that was
    found, as simulated, and `cpu_s` that of each strategy, None where it is not known. `cheaper` is a
    strategy with one of the planners whose own schedule is cheaper than what was found. *Extra* CPU is what
    is above the floor.
    """

    found: Candidate
    floor_cpu_s: float
    found_cpu_s: float
    cpu_s: Mapping[str, float | None]
    cheaper: str | None = None

    @property
    def best_extra_s(self) -> float:
        own_s = None if self.cheaper is None else self.cpu_s[self.cheaper]
        return (self.found_cpu_s if own_s is None else own_s) - self.floor_cpu_s

    @property
    def bound_over_best(self) -> float | None:
        """The extra CPU that each schedule has at least, over that of the best one that is known."""
        return self._over_best(self.found.bound_cpu_s)

    @property
    def error(self) -> float:
        """The schedule that was found, simulated, against the sum of its parts."""
        return self.found_cpu_s / self.found.schedule.cpu_s - 1

    def over_best(self, strategy: str) -> float | None:
        """None if its cost is not known, or if the best schedule has no extra CPU."""
        return self._over_best(self.cpu_s[strategy])

    def _over_best(self, cpu_s: float | None) -> float | None:
        if cpu_s is None or self.best_extra_s <= _NOISE * self.floor_cpu_s:
            return None
        return (cpu_s - self.floor_cpu_s) / self.best_extra_s


def cheapest_simulated(
    scenario: Scenario, tried: Sequence[Candidate], coefficients: Path | None
) -> Candidate:
    """The candidate of one rate that costs least when it is simulated."""
    if len(tried) == 1:
        return tried[0]
    by_label = {f"{one.label}-{one.stride}": one for one in tried}
    made = with_schedules(scenario, by_label)
    labels = [spec.label for spec in made.strategies if spec.label in by_label]
    runs = simulated_aside(plan_runs([made], labels, None, (), mode="simulated"), coefficients)
    cpu_s = _cpu_s(runs, tried[0].queries_per_h)
    # One that never compacts has no run of its own.
    label = min(by_label, key=lambda label: cpu_s.get(label, by_label[label].schedule.cpu_s))
    return by_label[label]


def regrets_of(
    scenario: Scenario, searched: Sequence[Searched], found: Candidate, runs: Iterable[RunResult]
) -> Regrets:
    """`runs` are those of the scenario's strategies, and of the schedule that was found if it compacts.

    Raises ScenarioError if the table never has rows.
    """
    cpu_s = _cpu_s(runs, found.queries_per_h)
    planners = {planner_of(one.spec) for one in searched}
    own = [spec.label for spec in scenario.strategies if planner_of(spec) in planners and spec.label in cpu_s]
    if not own:
        raise ScenarioError("no commit has rows: choose a longer duration", code="empty", path=scenario.file)
    cheapest_own = min(own, key=cpu_s.__getitem__)
    found_cpu_s = cpu_s.get(found.label, found.schedule.cpu_s)
    return Regrets(
        found,
        floor_cpu_s(scenario, searched, found.queries_per_h),
        found_cpu_s,
        {spec.label: cpu_s.get(spec.label) for spec in scenario.strategies},
        cheaper=cheapest_own if cpu_s[cheapest_own] < found_cpu_s else None,
    )


def _cpu_s(runs: Iterable[RunResult], queries_per_h: float) -> dict[str, float]:
    """By strategy, where it is known."""
    every = {run.manifest.strategy: cpu_with_queries_s(run, queries_per_h) for run in runs}
    return {strategy: cost_s for strategy, cost_s in every.items() if cost_s is not None}
