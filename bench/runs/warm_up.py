"""Warm-up: every query and every action of the scenario on a throw-away table, before anything is measured.

Without it the first compaction costs twice as much as a later one, which would favour strategies that compact
often. All runs of a scenario have the same warm-up, whatever their own strategy does.
"""

from collections.abc import Sequence
from dataclasses import replace

from bench.engines.contract import Batch, Engine
from bench.scenario.scenario import Scenario
from strategies.strategy import Planner, consult

ROUNDS = 4  # compaction and query times level off after three or four (see bench/DESIGN.md)
WARM_UP_STEP_MS = 10**12  # between rounds: long enough for planners that wait for time to pass


def warm_up(scenario: Scenario, engine: Engine, batches: Sequence[Batch]) -> None:
    """Commit, query and compact a few times on a sibling of the engine's table, then drop it."""
    scratch = engine.sibling("warm_up")
    scratch.create()
    planners = _planners(scenario)
    notes: list[object | None] = [None] * len(planners)
    stream = [batch for batch in batches if not batch.spec.is_initial and batch.spec.rows][:ROUNDS]
    for number, batch in enumerate(stream, 1):
        at_ms = batch.spec.at_ms
        scratch.commit(batch, at_ms)
        for probe in scenario.probes:
            scratch.query(probe)
        for index, planner in enumerate(planners):
            state = replace(scratch.state(at_ms), observed_at_ms=number * WARM_UP_STEP_MS)
            plan, notes[index] = consult(planner, state, notes[index])
            if plan is not None:
                scratch.complete(scratch.schedule(plan, at_ms, at_ms), at_ms)
    scratch.drop()


def _planners(scenario: Scenario) -> list[Planner]:
    """The distinct planners of all strategies and of the maintenance, in order."""
    rules = [rule for spec in scenario.strategies for rule in spec.strategy.rules]
    rules += scenario.maintenance
    distinct: list[Planner] = []
    for rule in rules:
        if rule.planner not in distinct:
            distinct.append(rule.planner)
    return distinct
