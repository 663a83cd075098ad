"""The maintainer: the scenario's own maintenance, the same for every strategy."""

from dataclasses import replace

from bench.engines.contract import Engine
from bench.replay.active_strategy import ActiveStrategy
from bench.replay.execution import Execution
from bench.replay.roles.reader import Queries
from bench.replay.schedule import Role, Turn, Until
from bench.replay.step_log import StepLog, version_ids
from bench.results.records import MaintenanceRecord
from bench.scenario.scenario import Scenario
from strategies.plan import Plan, Reason, describe_action
from strategies.state import TableState
from strategies.strategy import Strategy

_LABEL = "maintenance"


def maintainer(scenario: Scenario, engine: Engine, queries: Queries, log: StepLog) -> Role:
    """Maintains the table after the compactions of each tick.

    In a strategy only the first rule that plans acts. All maintenance rules act, so each is a strategy here.
    """
    rules = rules_of(scenario)
    for _, at_ms in scenario.ticks() if rules else ():
        yield Until(at_ms, Turn.MAINTAIN)
        for rule in rules:
            state = queries.with_history(engine.state(log.at_ms))
            maintain_by(rule, state, engine, log)


def rules_of(scenario: Scenario) -> list[ActiveStrategy]:
    """Each maintenance rule as a strategy."""
    return [ActiveStrategy(Strategy(_LABEL, (rule,))) for rule in scenario.maintenance]


def maintain_by(rule: ActiveStrategy, state: TableState, engine: Engine, log: StepLog) -> None:
    """Execute and record what a maintenance rule plans on a state of the table."""
    for decision in rule.decide(state):
        if decision.plan is not None:
            _maintain(decision.plan, engine, log)


def _maintain(plan: Plan, engine: Engine, log: StepLog) -> None:
    """Execute a plan of a maintenance rule, and record it."""
    plan = replace(plan, reason=Reason.MAINTENANCE)
    before_bytes = log.observed.table.storage_bytes if log.observed else 0
    execution = Execution(plan, engine, log)
    outcome = execution.complete()
    fields = execution.fields("maintainer") | {
        "status": outcome.status,
        "error": outcome.error,
        "command": ", ".join(describe_action(action) for action in plan.actions),
        "freed_bytes": before_bytes - outcome.observed.table.storage_bytes,
        "change": outcome.change,
        "work": outcome.maintenance,
        "versions": version_ids(outcome.versions),
    }
    log.recorder.write(MaintenanceRecord, fields)
    log.saw(outcome.observed, "maintenance")
