"""The best schedule in hindsight: for a scenario, which planner at which moments."""

import math
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.engines.keys import duration_ms_text
from bench.errors import ScenarioError
from bench.hindsight.schedule import Schedule, cheapest, lowest, parts_cpu_s
from bench.hindsight.segments import Floor, NotModelledError, Segment, floor_of, segments
from bench.names import known_text
from bench.results.best_schedules import LABEL
from bench.runs.preflight.checks import check_supported
from bench.scenario.load import load_scenario, scenario_of
from bench.scenario.scenario import Scenario
from bench.scenario.specs import StrategySpec, strategy_table
from bench.secrets import Secrets
from strategies.planner import traits_of

SCHEDULES_OF = "--schedules-of"
Key = tuple[str, tuple[int, ...]]  # of a schedule: the strategy whose planner it runs, and its ticks
_HOUR_MS = 3_600_000
_STRIDES = (1, 2, 4, 8)  # of moments
# What a search leaves out of a scenario: with it, a cost would depend on more than the last compaction.
_LEFT_OUT = ("clock", "compaction_delay", "maintenance", "variants")
_REPLACED = ("probe_every", "probe_phase", "jvm")  # by a query at each tick, and compiled code


@dataclass(frozen=True, slots=True)
class Searched:
    """The parts of all schedules of one strategy's planner."""

    spec: StrategySpec
    segments: tuple[Segment, ...]
    floor: Floor


@dataclass(frozen=True, slots=True)
class Candidate:
    """A schedule that may be the cheapest at a rate of queries, and the strategy whose planner it runs.

    No schedule of any planner costs less than `bound_cpu_s` at that rate.
    """

    spec: StrategySpec
    schedule: Schedule
    bound_cpu_s: float

    @property
    def key(self) -> Key:
        """Equal for candidates of any rate that do the same."""
        return self.spec.label, self.schedule.ticks


def hindsight_scenario(name_or_path: str, overrides: Sequence[str]) -> tuple[Scenario, list[str]]:
    """The scenario with a query at each tick and compiled code, and the keys that were left out of it.

    Raises ScenarioError.
    """
    base = load_scenario(name_or_path, overrides)
    if taken := next((spec.label for spec in base.strategies if spec.label.startswith(LABEL)), None):
        problem = f"is a label of schedules that are searched ({LABEL}RATE): rename or remove the strategy"
        raise ScenarioError(problem, code="taken", path=f"{base.file}: strategies[{taken}]")
    document = {key: value for key, value in base.document.items() if key not in (*_LEFT_OUT, *_REPLACED)}
    left_out = [key for key in _LEFT_OUT if key in base.document]
    if "shared_cores" in document.get("resources", {}):
        own = {key: value for key, value in document["resources"].items() if key != "shared_cores"}
        document["resources"] = own
        left_out.append("resources.shared_cores")
    made = scenario_of(base.file, {**document, "jvm": "warm"}, secrets=Secrets.of_arguments(overrides))
    return made, left_out


def planner_of(spec: StrategySpec) -> str | None:
    """What a strategy runs, by which executor, with its writer and properties.

    None unless one planner alone decides, and leaves it to its trigger when to compact.
    """
    if len(spec.strategy.rules) != 1:
        return None
    rule, table = spec.strategy.rules[0], strategy_table(spec)
    traits = traits_of(rule.planner)
    if rule.is_inline or rule.delay_ms or not traits.may_plan or traits.decides_when:
        return None
    return repr((table["rules"][0]["planner"], rule.executor, table["writer"], table["properties"]))


def searched_specs(scenario: Scenario, labels: Sequence[str] = ()) -> list[StrategySpec]:
    """The first strategy of each planner that decides alone, of those with these labels if there are any.

    Raises ScenarioError if there is none.
    """
    known = [spec.label for spec in scenario.strategies]
    if unknown := next((label for label in labels if label not in known), None):
        problem = f"no such strategy; {known_text(unknown, known)}"
        raise ScenarioError(problem, code="unknown-name", path=f"{SCHEDULES_OF} {unknown}")
    specs: dict[str, StrategySpec] = {}
    for spec in scenario.strategies:
        if (not labels or spec.label in labels) and (planner := planner_of(spec)) is not None:
            specs.setdefault(planner, spec)
    if not specs:
        problem = (
            "no strategy has exactly one rule, without inline or delay, whose trigger alone decides when to "
            "compact, so there is nothing to search: add such a strategy"
        )
        raise ScenarioError(problem, code="no-effect", path=scenario.file)
    check_supported(scenario, "simulated", [*specs.values()])
    return [*specs.values()]


def moments_of(commits_count: int, most: int) -> tuple[int, ...]:
    """The ticks at which a schedule may compact, evenly spaced, the last one at the end of the stream."""
    every = -(-commits_count // most)
    return tuple(range(commits_count, 0, -every))[::-1]


def search(
    scenario: Scenario,
    spec: StrategySpec,
    coefficients: Path | None,
    moments: Sequence[int],
    advance: Callable[[], None],
) -> Searched:
    """Simulate the parts of all schedules of a strategy's planner; calls `advance` after each of them.

    Raises ScenarioError if the cost of its plans is not modelled.
    """
    made: list[Segment] = []
    try:
        floor = floor_of(scenario, spec, coefficients)
        for one in segments(scenario, spec, coefficients, moments):
            made += [] if one is None else [one]
            advance()
    except NotModelledError as error:
        raise ScenarioError(str(error), code="no-effect", path=spec.label) from error
    return Searched(spec, tuple(made), floor)


def candidates(
    scenario: Scenario, searched: Sequence[Searched], moments: Sequence[int], queries_per_h: float
) -> list[Candidate]:
    """The cheapest schedule of all planners, and the cheapest ones that compact at fewer moments.

    The rate is the mean over the stream; queries arrive as in the scenario. The first is the best, if a
    compaction leaves the same table whatever came before it. Otherwise one of the others may be, or one that
    was found for another rate.
    """
    queries = _queries(scenario, queries_per_h)
    made: list[Candidate] = []
    bound_cpu_s = math.inf
    for stride in _STRIDES:
        fewer = moments[::-1][::stride][::-1]
        found = [(_cheapest(one, fewer, queries), one.spec) for one in searched]
        schedule, spec = min(found, key=lambda one: one[0].cpu_s)
        if stride == 1:
            bound_cpu_s = min(one.bound_cpu_s for one, _ in found)
        made.append(Candidate(spec, schedule, bound_cpu_s))
    return made


def cpu_s_of(one: Candidate, scenario: Scenario, searched: Sequence[Searched], queries_per_h: float) -> float:
    """What a candidate of any rate costs at this one, by the parts of its schedule."""
    (own,) = (of_planner for of_planner in searched if of_planner.spec is one.spec)
    return parts_cpu_s(own.segments, one.schedule.ticks, _queries(scenario, queries_per_h))


def _queries(scenario: Scenario, queries_per_h: float) -> np.ndarray:
    """How many are asked from each tick to the next, from tick 0 on."""
    weights = scenario.query_weights or (1.0,) * scenario.commits_count
    return np.array([0.0, *weights]) * queries_per_h * scenario.commit_interval_ms / _HOUR_MS


def _cheapest(one: Searched, moments: Sequence[int], queries: np.ndarray) -> Schedule:
    starts = {0, *moments}
    own = [segment for segment in one.segments if segment.start in starts]
    return cheapest(own, moments, lowest([one.floor], own), queries)


def floor_cpu_s(scenario: Scenario, searched: Sequence[Searched], queries_per_h: float) -> float:
    """What commits and queries cost at least: those of a table that is compacted after each commit."""
    floor = lowest([lowest([one.floor], one.segments) for one in searched])
    return floor.cpu_s(_queries(scenario, queries_per_h))


def with_schedules(scenario: Scenario, schedules: Mapping[str, tuple[str, Sequence[int]]]) -> Scenario:
    """The scenario with a strategy of this label for each schedule that compacts at all.

    A schedule is the label of the strategy whose planner it runs, and its ticks.
    """
    document = deepcopy(dict(scenario.document))
    by_label: Mapping[str, Any] = {strategy["label"]: strategy for strategy in document["strategies"]}
    for label, (strategy, ticks) in schedules.items():
        if ticks:
            made = {**deepcopy(by_label[strategy]), "label": label}
            times = [duration_ms_text(tick * scenario.commit_interval_ms) for tick in ticks]
            made["rules"][0]["trigger"] = {"type": "at", "times": times}
            document["strategies"].append(made)
    return scenario_of(scenario.file, document, secrets=scenario.secrets)
