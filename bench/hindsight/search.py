"""The best schedule in hindsight: for a scenario, which planner at which moments."""

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

    `bound_cpu_s` is the least bound of all planners.
    """

    queries_per_h: float
    spec: StrategySpec
    schedule: Schedule
    bound_cpu_s: float

    @property
    def label(self) -> str:
        return f"hindsight-{self.queries_per_h:g}"


def hindsight_scenario(name_or_path: str, overrides: Sequence[str]) -> Scenario:
    """The scenario with a query at each tick, compiled code and no maintenance. Raises ScenarioError."""
    base = load_scenario(name_or_path, overrides)
    document = {key: value for key, value in base.document.items() if key not in _NOT_SEARCHED}
    return scenario_of(base.file, {**document, "jvm": "warm"}, secrets=Secrets.of_arguments(overrides))


def searched_specs(scenario: Scenario) -> list[StrategySpec]:
    """The first strategy of each planner that decides alone, with its writer and properties.

    Raises ScenarioError if there is none.
    """
    specs: dict[str, StrategySpec] = {}
    for spec in scenario.strategies:
        if len(spec.strategy.rules) == 1 and not spec.switches:
            rule, table = spec.strategy.rules[0], strategy_table(spec)
            if traits_of(rule.planner).may_plan and not (
                rule.is_inline or rule.is_concurrent or rule.delay_ms
            ):
                key = repr((table["rules"][0]["planner"], table["writer"], table["properties"]))
                specs.setdefault(key, spec)
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


def best_schedule(
    scenario: Scenario, searched: Sequence[Searched], ends: Sequence[int], queries_per_h: float
) -> Best:
    """The cheapest schedule of all planners."""
    queries_per_tick = queries_per_h * scenario.commit_interval_ms / _HOUR_MS
    found = [
        (cheapest(one.segments, ends, lowest([one.floor], one.segments), queries_per_tick), one.spec)
        for one in searched
    ]
    schedule, spec = min(found, key=lambda one: one[0].cpu_s)
    return Best(queries_per_h, spec, schedule, min(made.bound_cpu_s for made, _ in found))


def floor_cpu_s(scenario: Scenario, searched: Sequence[Searched], queries_per_h: float) -> float:
    """What commits and queries cost at least: those of a table that is compacted after each commit."""
    floor = lowest([lowest([one.floor], one.segments) for one in searched])
    return floor.cpu_s(queries_per_h * scenario.commit_interval_ms / _HOUR_MS)


def with_schedules(scenario: Scenario, found: Sequence[Best]) -> Scenario:
    """The scenario with a strategy for each schedule that compacts at all."""
    document = deepcopy(dict(scenario.document))
    by_label: Mapping[str, Any] = {strategy["label"]: strategy for strategy in document["strategies"]}
    for one in found:
        if one.schedule.ticks:
            made = {**deepcopy(by_label[one.spec.label]), "label": one.label}
            times = [duration_ms_text(tick * scenario.commit_interval_ms) for tick in one.schedule.ticks]
            made["rules"][0]["trigger"] = {"type": "at", "times": times}
            document["strategies"].append(made)
    return scenario_of(scenario.file, document, secrets=scenario.secrets)
