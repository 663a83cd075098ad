"""The compactor: evaluates the rules of the strategy, and executes what they plan, now or when it is due."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from bench.engines.contract import Engine, Observation
from bench.engines.format import SizeModel
from bench.replay.active_strategy import ActiveStrategy, reads_state
from bench.replay.compaction_records import compaction_record, decision_record
from bench.replay.execution import Executed, Scheduled, complete, plan_fields, schedule
from bench.replay.roles.reader import Queries
from bench.replay.schedule import Role, Turn, Until, perform
from bench.replay.step_log import StepLog
from bench.results.records import CompactionRecord, DecisionRecord, RoleId
from bench.results.values import NO_COST
from bench.scenario.scenario import Scenario
from strategies.plan import Plan
from strategies.strategy import Rule


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan, the rule that made it, and how long it waits for its execution."""

    plan: Plan
    rule: Rule
    delay_ms: int


@dataclass(frozen=True, slots=True)
class Decided:
    """The records of some rules' decisions, the plan of the last rule, and how long deciding took."""

    records: tuple[DecisionRecord, ...] = ()
    planned: Planned | None = None
    wall_s: float = 0.0


class Compactions:
    """Evaluates the strategy in force, and holds the plans that are scheduled and not yet complete.

    `after_compaction` and `size_model` are those of `replay`.
    """

    def __init__(
        self,
        scenario: Scenario,
        strategy: ActiveStrategy,
        engine: Engine,
        queries: Queries,
        log: StepLog,
        after_compaction: Callable[[int], None] | None,
        size_model: SizeModel | None,
    ) -> None:
        self._scenario, self._strategy, self._engine = scenario, strategy, engine
        self._queries, self._log = queries, log
        self._after_compaction, self._size_model = after_compaction, size_model
        self._pending: list[Scheduled] = []
        self._is_settling = False  # the query at the end of the tick is the one after the last compaction

    @property
    def has_inline_rules(self) -> bool:
        """Whether commits evaluate rules, now or after a switch."""
        return self._strategy.has_inline_rules

    def compact(self, tick: int) -> None:
        """Complete the pending plans that are due, evaluate the rules, and execute what they plan."""
        is_probed, log = bool(self._queries.due(tick)), self._log
        self._is_settling = False
        due = [scheduled for scheduled in self._pending if scheduled.ticket.due_at_ms <= log.at_ms]
        for scheduled in due:
            self._pending.remove(scheduled)
            self._complete(scheduled, settles=is_probed and scheduled is due[-1])
        decided = self.evaluate(is_inline=False)
        for record in decided.records:
            log.recorder.write(record)
        if decided.planned is None:
            return
        if decided.planned.delay_ms:
            self.postpone(decided.planned)
            return
        if not self._queries.has_run_now:  # before an explicit rewrite is staged
            self._queries.run_primary("before")
        self._complete(self._schedule(decided.planned), settles=is_probed)

    def drain(self) -> None:
        """Complete all plans that are still pending."""
        self._is_settling = False
        for scheduled in self._pending:
            self._complete(scheduled, settles=False)

    def evaluate(self, *, is_inline: bool) -> Decided:
        """Evaluate the inline rules, or the others.

        Reading the table's state is charged to the first rule that needs it; the others share that state.
        """
        log = self._log
        state = self._queries.with_latency(self._engine.state(log.at_ms))
        started_s = log.now_s
        label, evaluations = self._strategy.decide(state, log.clock, is_inline=is_inline)
        decided = Decided()
        for evaluation in evaluations:
            decision, cost = evaluation.decision, evaluation.cost
            rule = self._strategy.rule(decision)
            read = NO_COST
            if reads_state(rule, decision):
                read, log.unbooked = log.unbooked, NO_COST
            log.took(cost.wall_s)
            fields = log.fields("compactor", log.observed, started_s, cost)
            record = decision_record(fields, label, rule, decision, read)
            started_s += cost.wall_s
            delay_ms = rule.delay_or(self._scenario.compaction_delay_ms)
            planned = Planned(decision.plan, rule, delay_ms) if decision.plan else None
            decided = Decided((*decided.records, record), planned, decided.wall_s + cost.wall_s)
        return decided

    def postpone(self, planned: Planned) -> Scheduled:
        """Schedule a plan that is completed later, and begin to execute it if its rule is concurrent."""
        scheduled = replace(self._schedule(planned), is_concurrent=planned.rule.is_concurrent)
        if scheduled.is_concurrent:
            self._engine.start(scheduled.ticket)
        self._pending.append(scheduled)
        return scheduled

    def run_inline(self, planned: Planned) -> tuple[CompactionRecord, Observation]:
        """Execute a plan that a commit waits for: its record, and the table after it."""
        before = self._log.observed
        executed = complete(self._schedule(planned), self._engine, self._log)
        observed = executed.outcome.observed
        self._log.unbooked = observed.cost
        return self._record("writer", executed, before, is_inline=True), observed

    def _schedule(self, planned: Planned) -> Scheduled:
        return schedule(
            planned.plan, self._engine, self._log,
            delay_ms=planned.delay_ms, executor=planned.rule.executor,
        )  # fmt: skip

    def _complete(self, scheduled: Scheduled, *, settles: bool) -> None:
        """Complete a plan between two runs of the primary probe, the queries before and after it.

        The query before is the latest run in this tick. If there is none it runs here, because commits have
        changed the table since a delayed plan was scheduled. A concurrent compaction has no query before it:
        it may have committed long ago. The query after runs here too, unless the compaction `settles`: then
        the query at the end of the tick is used, so that no policy runs more queries on the cadence.
        """
        log, queries = self._log, self._queries
        if self._is_settling:  # of an earlier compaction of this tick
            queries.run_primary("after")
            self._is_settling = False
        before = log.observed
        if not (queries.has_run_now or scheduled.is_concurrent):
            queries.run_primary("before")
        executed = complete(scheduled, self._engine, log)
        outcome = executed.outcome
        log.unbooked = outcome.observed.cost
        log.saw(outcome.observed, "compaction")
        role: RoleId = "compactor-beside" if outcome.cost.is_shared else "compactor"
        log.recorder.write(self._record(role, executed, before))
        if self._after_compaction:
            self._after_compaction(log.tick)
        if outcome.status == "ok":
            self._is_settling = settles
            if not settles:
                queries.run_primary("after")

    def _record(
        self, role: RoleId, executed: Executed, before: Observation | None, *, is_inline: bool = False
    ) -> CompactionRecord:
        return compaction_record(
            plan_fields(role, executed, self._log), executed, before or executed.outcome.observed,
            size_model=self._size_model, is_inline=is_inline,
        )  # fmt: skip


def compactor(scenario: Scenario, compactions: Compactions) -> Role:
    """Compacts after each commit of the stream, and completes what is pending after the last one."""
    for tick, at_ms in scenario.ticks():
        yield Until(at_ms, Turn.COMPACT)
        yield from perform(partial(compactions.compact, tick))
    yield Until(scenario.duration_ms, Turn.DRAIN)
    yield from perform(compactions.drain)
