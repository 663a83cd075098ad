"""What a stream costs after one compaction, if no other one follows: the parts of which schedules are made.

Each part is simulated once, by the engine that runs use, with compiled code (`jvm = "warm"`), so that a cost
does not depend on what ran before. That parts can be put together needs one assumption: a compaction leaves
the same table, whatever earlier compactions did. It holds for planners that rewrite all small files and apply
all deletes. Whether it held shows when the schedule that was found is simulated.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.engines.contract import CommitOutcome
from bench.engines.simulated.engine import SimulatedEngine
from bench.runs.committing import committed
from bench.scenario.scenario import Scenario
from bench.scenario.specs import StrategySpec
from strategies.plan import Plan
from strategies.planner import consult


class NotModelledError(Exception):
    """The cost of a plan is not known before it is executed."""


@dataclass(frozen=True, slots=True)
class Segment:
    """CPU seconds by tick, from a compaction at tick `start` on; 0 is the table that never was compacted.

    Arrays have an item for each tick of the stream from 0 on: the commit of a tick, one primary query at its
    end, and an evaluation after its commit, which is 0 without a plan or if its price was not asked for.
    `compacts` is whether that evaluation compacts anything. Items before `start` are 0.
    """

    start: int
    commit_cpu_s: np.ndarray
    query_cpu_s: np.ndarray
    evaluation_cpu_s: np.ndarray
    compacts: np.ndarray


@dataclass(frozen=True, slots=True)
class Floor:
    """CPU seconds by tick, from 0 on, of the commit and of a query if the table is compacted at each tick."""

    commit_cpu_s: np.ndarray
    query_cpu_s: np.ndarray

    def cpu_s(self, queries: np.ndarray) -> float:
        """Of the whole stream, with so many queries by tick."""
        return float(self.commit_cpu_s[1:].sum() + queries[1:] @ self.query_cpu_s[1:])


def floor_of(scenario: Scenario, spec: StrategySpec, coefficients: Path | None) -> Floor:
    """By the planner of the first rule."""
    made = Floor(*np.zeros((2, scenario.commits_count + 1)))
    for engine, batch, outcome in committed(scenario, spec, coefficients):
        made.commit_cpu_s[batch.spec.index] = _commit_s(outcome)
        _compact(engine, spec, batch.spec.at_ms)
        made.query_cpu_s[batch.spec.index] = _query_s(engine, scenario)
    return made


def segments(
    scenario: Scenario, spec: StrategySpec, coefficients: Path | None, moments: Sequence[int]
) -> Iterator[Segment | None]:
    """The segments that start at 0 and at each of the ticks `moments`, by the planner of the first rule.

    Evaluations have prices at each of these ticks and at the next one. None if nothing is compacted at a
    start. Raises NotModelledError.
    """
    return (_segment(scenario, spec, coefficients, moments, start) for start in (0, *moments))


def _segment(
    scenario: Scenario, spec: StrategySpec, coefficients: Path | None, moments: Sequence[int], start: int
) -> Segment | None:
    count = scenario.commits_count + 1
    made = Segment(start, np.zeros(count), np.zeros(count), np.zeros(count), np.zeros(count, bool))
    priced = {1, *moments, *(tick + 1 for tick in moments)}
    for engine, batch, outcome in committed(scenario, spec, coefficients):
        tick, at_ms = batch.spec.index, batch.spec.at_ms
        if tick < start:
            continue
        if tick > start:
            made.commit_cpu_s[tick] = _commit_s(outcome)
        if tick == start and start > 0:
            if not _compact(engine, spec, at_ms):
                return None
        elif tick in priced:
            made.evaluation_cpu_s[tick], made.compacts[tick] = _evaluation(engine, spec, at_ms)
        made.query_cpu_s[tick] = _query_s(engine, scenario)
    return made


def _plan(engine: SimulatedEngine[Any], spec: StrategySpec, at_ms: int) -> Plan | None:
    try:
        return consult(spec.strategy.rules[0].planner, engine.state(at_ms)).plan
    except Exception as error:  # the planner is the user's
        raise NotModelledError(f"its planner failed ({type(error).__name__}: {error})") from error


def _compact(engine: SimulatedEngine[Any], spec: StrategySpec, at_ms: int) -> bool:
    """Whether the table was compacted."""
    plan = _plan(engine, spec, at_ms)
    if plan is None:
        return False
    ticket = engine.schedule(plan, at_ms, at_ms, spec.strategy.rules[0].executor)
    return engine.complete(ticket, at_ms).status == "ok"


def _evaluation(engine: SimulatedEngine[Any], spec: StrategySpec, at_ms: int) -> tuple[float, bool]:
    """The CPU of what the planner would do now, and whether that compacts anything."""
    plan = _plan(engine, spec, at_ms)
    if plan is None:
        return 0.0, False
    priced = engine.price(plan, at_ms, spec.strategy.rules[0].executor)
    if priced is None:
        raise NotModelledError("its plans are not modelled before they are executed")
    return priced.cost.cpu_s, not priced.finds_nothing


def _query_s(engine: SimulatedEngine[Any], scenario: Scenario) -> float:
    """The CPU of the primary query by the last kind of session; nobody asks a table without rows."""
    if not engine.state(0).data_files:
        return 0.0
    return engine.query(scenario.primary_probe, engine.sessions[-1]).cost.cpu_s


def _commit_s(outcome: CommitOutcome) -> float:
    """The CPU of a commit, with the compactions that it ran itself."""
    return outcome.cost.cpu_s + sum(compaction.cost.cpu_s for compaction in outcome.compactions)
