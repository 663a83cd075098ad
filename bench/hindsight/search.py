"""The best schedule in hindsight: for a scenario, which planner at which moments."""

import math
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.engines.keys import duration_ms_text
from bench.errors import ScenarioError
from bench.hindsight.schedule import Schedule, cheapest, lowest
from bench.hindsight.segments import Floor, Segment, floor_of, segments
from bench.runs.preflight.checks import check_supported
from bench.scenario.load import load_scenario, scenario_of
from bench.scenario.scenario import Scenario
from bench.scenario.specs import StrategySpec, strategy_table
from bench.secrets import Secrets
from strategies.planner import traits_of

_HOUR_MS = 3_600_000
STRIDES = (1, 2, 4, 8)  # of moments
# Of the scenario, what would make a cost depend on more than the last compaction, or on the clock.
_NOT_SEARCHED = ("clock", "compaction_delay", "maintenance", "probe_every", "variants")


@dataclass(frozen=True, slots=True)
class Searched:
    """The parts of all schedules of one strategy's planner."""

    spec: StrategySpec
    segments: tuple[Segment, ...]
    floor: Floor


@dataclass(frozen=True, slots=True)
class Best:
    """The cheapest schedule at a rate of queries, and the strategy whose planner it runs.

    `bound_cpu_s` is the least bound of all planners. It was found with every `stride`-th moment.
    """

    queries_per_h: float
    spec: StrategySpec
    schedule: Schedule
    bound_cpu_s: float
    stride: int = 1

    @property
    def label(self) -> str:
        return f"hindsight-{self.queries_per_h:g}"

    @property
    def tried_label(self) -> str:
        return f"{self.label}-{self.stride}"


def hindsight_scenario(name_or_path: str, overrides: Sequence[str]) -> Scenario:
    """The scenario with a query at each tick, compiled code and no maintenance. Raises ScenarioError."""
    base = load_scenario(name_or_path, overrides)
    document = {key: value for key, value in base.document.items() if key not in _NOT_SEARCHED}
    return scenario_of(base.file, {**document, "jvm": "warm"}, secrets=Secrets.of_arguments(overrides))


def planner_of(spec: StrategySpec) -> str | None:
    """What a strategy runs, with its writer and properties; None unless one planner alone decides."""
    if len(spec.strategy.rules) != 1 or spec.switches:
        return None
    rule, table = spec.strategy.rules[0], strategy_table(spec)
    if rule.is_inline or rule.is_concurrent or rule.delay_ms or not traits_of(rule.planner).may_plan:
        return None
    return repr((table["rules"][0]["planner"], table["writer"], table["properties"]))


def searched_specs(scenario: Scenario) -> list[StrategySpec]:
    """The first strategy of each planner that decides alone. Raises ScenarioError if there is none."""
    specs: dict[str, StrategySpec] = {}
    for spec in scenario.strategies:
        if (planner := planner_of(spec)) is not None:
            specs.setdefault(planner, spec)
    if not specs:
        problem = (
            "no strategy has one rule alone, without inline, concurrent and delay: there is nothing to search"
        )
        raise ScenarioError(problem, code="no-effect", path=scenario.file)
    check_supported(scenario, "simulated", [*specs.values()])
    return [*specs.values()]


def moments(commits_count: int, most: int) -> tuple[int, ...]:
    """The ticks at which a schedule may compact, evenly spaced, the last one at the end of the stream."""
    every = -(-commits_count // most)
    return tuple(range(commits_count, 0, -every))[::-1]


def search(
    scenario: Scenario,
    spec: StrategySpec,
    coefficients: Path | None,
    ends: Sequence[int],
    advance: Callable[[], None],
) -> Searched:
    """Simulate the parts of all schedules of a strategy's planner; calls `advance` after each of them.

    Raises ScenarioError if the cost of its plans is not modelled.
    """
    made: list[Segment] = []
    try:
        floor = floor_of(scenario, spec, coefficients)
        for one in segments(scenario, spec, coefficients, ends):
            made += [] if one is None else [one]
            advance()
    except ValueError as error:
        raise ScenarioError(str(error), code="no-effect", path=spec.label) from error
    return Searched(spec, tuple(made), floor)


def best_schedules(
    scenario: Scenario, searched: Sequence[Searched], ends: Sequence[int], queries_per_h: float
) -> list[Best]:
    """The cheapest schedule of all planners, and cheapest ones that compact at fewer moments, to be tried.

    The first is the best, if a compaction leaves the same table whatever came before it. Otherwise one with
    other moments may be.
    """
    queries_per_tick = queries_per_h * scenario.commit_interval_ms / _HOUR_MS
    made: dict[tuple[str, tuple[int, ...]], Best] = {}
    bound_cpu_s = math.inf
    for stride in STRIDES:
        fewer = ends[::-1][::stride][::-1]
        found = [(_cheapest(one, fewer, queries_per_tick), one.spec) for one in searched]
        schedule, spec = min(found, key=lambda one: one[0].cpu_s)
        if stride == 1:
            bound_cpu_s = min(one.bound_cpu_s for one, _ in found)
        made.setdefault(
            (spec.label, schedule.ticks), Best(queries_per_h, spec, schedule, bound_cpu_s, stride)
        )
    return [*made.values()]


def _cheapest(one: Searched, ends: Sequence[int], queries_per_tick: float) -> Schedule:
    own = [segment for segment in one.segments if segment.start in {0, *ends}]
    return cheapest(own, ends, lowest([one.floor], own), queries_per_tick)


def floor_cpu_s(scenario: Scenario, searched: Sequence[Searched], queries_per_h: float) -> float:
    """What commits and queries cost at least: those of a table that is compacted after each commit."""
    floor = lowest([lowest([one.floor], one.segments) for one in searched])
    return floor.cpu_s(queries_per_h * scenario.commit_interval_ms / _HOUR_MS)


def with_schedules(scenario: Scenario, found: Mapping[str, Best]) -> Scenario:
    """The scenario with a strategy of this label for each schedule that compacts at all."""
    document = deepcopy(dict(scenario.document))
    by_label: Mapping[str, Any] = {strategy["label"]: strategy for strategy in document["strategies"]}
    for label, one in found.items():
        if one.schedule.ticks:
            made = {**deepcopy(by_label[one.spec.label]), "label": label}
            times = [duration_ms_text(tick * scenario.commit_interval_ms) for tick in one.schedule.ticks]
            made["rules"][0]["trigger"] = {"type": "at", "times": times}
            document["strategies"].append(made)
    return scenario_of(scenario.file, document, secrets=scenario.secrets)
