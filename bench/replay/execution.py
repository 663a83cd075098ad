"""A plan from its schedule to its outcome, and when both phases began and ended."""

from dataclasses import dataclass

from bench.engines.contract import Engine, Outcome, Ticket
from bench.replay.step_log import StepFields, StepLog
from bench.results.records import RoleId
from bench.results.values import Span
from strategies.plan import Plan


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A scheduled plan. Its engine may have staged it, which took the whole `span`.

    A plan `is_concurrent` if the engine executes it beside the stream, from the end of `span` on.
    """

    ticket: Ticket
    span: Span
    is_concurrent: bool = False


@dataclass(frozen=True, slots=True)
class Executed:
    """A plan that has been executed. `started_s` is when its last phase began."""

    ticket: Ticket
    staged: Span | None
    outcome: Outcome
    started_s: float


def schedule(
    plan: Plan, engine: Engine, log: StepLog, *, delay_ms: int = 0, executor: str | None = None
) -> Scheduled:
    """Schedule a plan, and account for its staging."""
    started_s = log.now_s
    ticket = engine.schedule(plan, log.at_ms, log.at_ms + delay_ms, executor)
    log.took(ticket.scheduling_s)
    return Scheduled(ticket, Span(started_s, started_s + ticket.scheduling_s))


def complete(scheduled: Scheduled, engine: Engine, log: StepLog) -> Executed:
    """Complete a plan, and account for the time that the stream has waited for it."""
    ticket, started_s = scheduled.ticket, log.now_s
    outcome = engine.complete(ticket, log.at_ms)
    if outcome.cost.is_shared:  # never in a simulation, which executes a concurrent plan only now
        log.took(log.now_s - started_s - outcome.observed.cost.wall_s)
        started_s = scheduled.span.ended_s if scheduled.is_concurrent else started_s
    else:
        log.took(outcome.cost.wall_s - ticket.scheduling_s)
    return Executed(ticket, scheduled.span if ticket.scheduling_s else None, outcome, started_s)


def plan_fields(role: RoleId, executed: Executed, log: StepLog) -> StepFields:
    """The common fields of the record of an executed plan."""
    outcome = executed.outcome
    return log.fields(
        role, outcome.observed, executed.started_s, outcome.cost, staged_s=executed.ticket.scheduling_s
    )
