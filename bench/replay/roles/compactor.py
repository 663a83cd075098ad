"""The compactor: evaluates the rules of the strategy, and executes what they plan, now or when it is due."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from bench.engines.contract import Engine, Observation, Outcome, Ticket, TicketId
from bench.engines.format import SizeModel
from bench.replay.active_strategy import ActiveStrategy, reads_state
from bench.replay.compaction_records import compaction_record, decision_record
from bench.replay.roles.reader import Queries
from bench.replay.schedule import Role, Turn, Until, perform
from bench.replay.step_log import StepLog
from bench.results.records import CompactionRecord, DecisionRecord, RoleId
from bench.results.values import NO_COST, Span
from bench.scenario.scenario import Scenario
from strategies.plan import Plan
from strategies.strategy import Rule

BESIDE: RoleId = "compactor-beside"  # executes plans of concurrent rules while the stream goes on


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan, the rule that made it, and how long it waits for its execution."""

    plan: Plan
    rule: Rule
    delay_ms: int


@dataclass(frozen=True, slots=True)
class Decided:
    """The decisions of some rules, the plan of the last one if it has one, and what deciding took."""

    records: tuple[DecisionRecord, ...] = ()
    planned: Planned | None = None
    wall_s: float = 0.0


class Compactions:
    """What the strategy in force decides, and the plans that are scheduled and not yet complete.

    `after_compaction` is called after each compaction with the number of commits so far. With a `size_model`
    our planner's forecast is recorded with each compaction.
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
        self._pending: list[Ticket] = []
        self._staged: dict[TicketId, Span] = {}
        self._started_s: dict[TicketId, float] = {}  # of plans that are executed beside the stream
        self._is_settling = False  # the query after the last compaction is that at the end of the tick

    @property
    def has_inline_rules(self) -> bool:
        """Whether commits evaluate rules, now or after a switch."""
        return self._strategy.has_inline_rules

    def compact(self, tick: int) -> None:
        """Complete the pending plans that are due, evaluate the rules, and execute what they plan."""
        is_probed, log = bool(self._queries.due(tick)), self._log
        self._is_settling = False
        due = [ticket for ticket in self._pending if ticket.due_at_ms <= log.at_ms]
        for ticket in due:
            self._pending.remove(ticket)
            self._complete(ticket, settles=is_probed and ticket is due[-1])
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
        for ticket in self._pending:
            self._complete(ticket, settles=False)

    def evaluate(self, *, is_inline: bool) -> Decided:
        """Evaluate the inline rules, or the others.

        The first rule that looks at the table is charged with reading it, the others share what it read.
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

    def postpone(self, planned: Planned) -> Ticket:
        """Schedule a plan that is completed later, and begin to execute it if its rule is concurrent."""
        started_s = self._log.now_s
        ticket = self._schedule(planned)
        if planned.rule.is_concurrent:
            self._started_s[ticket.id] = started_s + ticket.scheduling_s
            self._engine.start(ticket)
        self._pending.append(ticket)
        return ticket

    def run_inline(self, planned: Planned) -> tuple[CompactionRecord, Observation]:
        """Execute a plan for which a commit waits: its record, and the table after it."""
        log, before = self._log, self._log.observed
        ticket = self._schedule(planned)
        started_s = log.now_s
        outcome = self._engine.complete(ticket, log.at_ms)
        log.took(outcome.cost.wall_s - ticket.scheduling_s)
        log.unbooked = outcome.observed.cost
        return self._record("writer", ticket, outcome, before, started_s, is_inline=True), outcome.observed

    def _schedule(self, planned: Planned) -> Ticket:
        """Schedule a plan; an engine may stage it at once."""
        log, started_s = self._log, self._log.now_s
        due_at_ms = log.at_ms + planned.delay_ms
        ticket = self._engine.schedule(planned.plan, log.at_ms, due_at_ms, planned.rule.executor)
        if ticket.scheduling_s:
            self._staged[ticket.id] = Span(started_s, started_s + ticket.scheduling_s)
        log.took(ticket.scheduling_s)
        return ticket

    def _complete(self, ticket: Ticket, *, settles: bool) -> None:
        """Complete a plan between two runs of the primary probe, the queries before and after it.

        The first is the latest run of this tick. If there is none it runs here: commits have changed the
        table since a delayed plan was scheduled. A compaction beside the stream has no query before it, as it
        may have committed long since. The second runs here too, unless the compaction `settles`: then the
        query at the end of the tick serves, so that no policy runs more queries on the cadence than another.
        """
        log, queries = self._log, self._queries
        if self._is_settling:  # of an earlier compaction of this tick
            queries.run_primary("after")
            self._is_settling = False
        before, is_beside = log.observed, ticket.id in self._started_s
        if not (queries.has_run_now or is_beside):
            queries.run_primary("before")
        asked_s = log.now_s
        began_s = self._started_s.pop(ticket.id, asked_s)
        outcome = self._engine.complete(ticket, log.at_ms)
        ran_beside = outcome.cost.is_shared  # a simulation executes the plan only now
        waited_s = log.now_s - asked_s - outcome.observed.cost.wall_s
        log.took(waited_s if ran_beside else outcome.cost.wall_s - ticket.scheduling_s)
        log.unbooked = outcome.observed.cost
        log.saw(outcome.observed, "compaction")
        role, started_s = (BESIDE, began_s) if ran_beside else ("compactor", asked_s)
        log.recorder.write(self._record(role, ticket, outcome, before, started_s))
        if self._after_compaction:
            self._after_compaction(log.tick)
        if outcome.status == "ok":
            self._is_settling = settles
            if not settles:
                queries.run_primary("after")

    def _record(
        self,
        role: RoleId,
        ticket: Ticket,
        outcome: Outcome,
        before: Observation | None,
        started_s: float,
        *,
        is_inline: bool = False,
    ) -> CompactionRecord:
        return compaction_record(
            self._log.fields(role, outcome.observed, started_s, outcome.cost, staged_s=ticket.scheduling_s),
            ticket,
            outcome,
            before or outcome.observed,
            staged=self._staged.pop(ticket.id, None),
            size_model=self._size_model,
            is_inline=is_inline,
        )


def compactor(scenario: Scenario, compactions: Compactions) -> Role:
    """Compacts after each commit of the stream, and completes what is pending after the last one."""
    for tick, at_ms in scenario.ticks():
        yield Until(at_ms, Turn.COMPACT)
        yield from perform(partial(compactions.compact, tick))
    yield Until(scenario.duration_ms, Turn.DRAIN)
    yield from perform(compactions.drain)
