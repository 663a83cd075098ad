"""A plan from its schedule to its outcome, and when both phases began and ended."""

from bench.engines.contract import Engine, Outcome
from bench.replay.step_log import StepFields, StepLog
from bench.results.records import RoleId
from bench.results.values import Span
from strategies.plan import Plan
from strategies.strategy import Rule


class Execution:
    """A scheduled plan, and its `outcome` once it is complete. The log accounts for both phases.

    The engine may have `staged` the plan when it was scheduled. A plan `is_concurrent` if the engine executes
    it beside the stream from then on.
    """

    outcome: Outcome

    def __init__(
        self, plan: Plan, engine: Engine, log: StepLog, rule: Rule | None = None, delay_ms: int = 0
    ) -> None:
        """Schedule a plan of a `rule`, or of the scenario's maintenance."""
        self._engine, self._log, self._started_s = engine, log, log.now_s
        self.ticket = self._engine.schedule(
            plan, log.at_ms, log.at_ms + delay_ms, rule.executor if rule else None
        )
        staged_s = self.ticket.scheduling_s
        log.took(staged_s)
        self.staged = Span(self._started_s, self._started_s + staged_s) if staged_s else None
        self._started_s += staged_s
        self.is_concurrent = rule is not None and rule.is_concurrent and self.is_delayed
        if self.is_concurrent:
            self._engine.start(self.ticket)

    @property
    def is_delayed(self) -> bool:
        """Whether it is completed later than it was scheduled."""
        return self.ticket.due_at_ms > self.ticket.scheduled_at_ms

    def complete(self) -> Outcome:
        """Complete the plan, and account for the time that the stream has waited for it."""
        log, started_s = self._log, self._log.now_s
        self.outcome = outcome = self._engine.complete(self.ticket, log.at_ms)
        if outcome.cost.is_shared:  # never in a simulation, which executes a concurrent plan only now
            log.took(log.now_s - started_s - outcome.observed.cost.wall_s)
        else:
            log.took(outcome.cost.wall_s - self.ticket.scheduling_s)
        if not (self.is_concurrent and outcome.cost.is_shared):
            self._started_s = started_s
        return outcome

    def fields(self, role: RoleId) -> StepFields:
        """The common fields of the record of the executed plan."""
        outcome, staged_s = self.outcome, self.ticket.scheduling_s
        return self._log.fields(role, outcome.observed, self._started_s, outcome.cost, staged_s=staged_s)
