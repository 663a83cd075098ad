"""The compactor: evaluates the rules of the strategy, and executes what they plan, now or when it is due."""

import math
from collections.abc import Callable, Sequence

from bench.engines.contract import Engine
from bench.engines.format import SizeModel
from bench.replay.active_strategy import ActiveStrategy, add_decision
from bench.replay.execution import Execution, compaction_fields
from bench.replay.history import History
from bench.replay.roles.reader import Queries
from bench.replay.schedule import Role, Turn, Until
from bench.replay.shared_cores import SharedCores
from bench.replay.step_log import Fields, NewRecord, StepLog
from bench.results.records import CompactionRecord, DecisionRecord, RoleId
from bench.results.values import NO_COST, Cost
from bench.scenario.scenario import Scenario
from strategies.plan import Plan
from strategies.state import TableState
from strategies.strategy import Decision, Rule


class Compactions:
    """Evaluates the strategy, and holds the plans that are scheduled and not yet complete.

    `after_compaction` and `size_model` are those of `replay`. `looks_ms` are by tick when the compactor looks
    at the table with a real clock.
    """

    def __init__(
        self,
        scenario: Scenario,
        strategy: ActiveStrategy,
        engine: Engine,
        queries: Queries,
        history: History,
        log: StepLog,
        after_compaction: Callable[[int], None] | None,
        size_model: SizeModel | None,
        looks_ms: Sequence[int],
    ) -> None:
        self._scenario, self._strategy, self._engine = scenario, strategy, engine
        self.looks_ms, self._looked_tick = looks_ms, 0
        self._queries, self._history, self._log = queries, history, log
        self._after_compaction, self._size_model = after_compaction, size_model
        self._pending: list[Execution] = []
        self._is_settling = False  # the query at the end of the tick is the one after the last compaction

    @property
    def has_inline_rules(self) -> bool:
        """Whether commits evaluate rules."""
        return self._strategy.has_inline_rules

    def finish(self, until_ms: float) -> None:
        """With a real clock: complete the plans that have ended by a moment, each at the end of its time."""
        log = self._log
        if log.cores is None:
            return
        log.cores.advance(log.second_of(until_ms))
        self._complete_ended(max(until_ms, log.moment_of(log.cores.now_s)))

    def wait(self, seconds: float) -> None:
        """With a real clock: likewise, after so many seconds of the cores, and look if that is due."""
        cores, log = self._log.cores, self._log
        if cores is None:
            return
        until_ms = log.moment_of(cores.now_s + seconds)
        if self.looks_ms[log.tick] < until_ms:
            self.look(log.tick)
        self.finish(until_ms)

    def act_during(self, cost: Cost) -> None:
        """With a real clock: do what will have happened when a step of this cost has ended.

        A commit takes effect at its end, so plans that end during it come first, and a look finds the table
        before it.
        """
        cores, log = self._log.cores, self._log
        if cores is None or not cost.wall_s:
            return
        end_ms = log.moment_of(cores.now_s + cores.beside(cost.wall_s, cost.mean_cores))
        look_ms = self.looks_ms[log.tick]
        if look_ms < end_ms:
            self._end_beside(cost, cores, look_ms)
            self._look(look_ms)
        self._end_beside(cost, cores, end_ms)

    def _end_beside(self, cost: Cost, cores: SharedCores, until_ms: float) -> None:
        """Complete the plans that end until then, while a step of this cost runs."""
        ends_s = cores.ends_during(cost.wall_s, cost.mean_cores)
        known = {step: end_s for step, end_s in ends_s.items() if self._log.moment_of(end_s) <= until_ms}
        for execution in self._pending:
            execution.ends(known)
        self._complete_ended(until_ms)

    def look(self, tick: int) -> None:
        """With a real clock: look at the table in a tick, unless that was during its commit."""
        if self._looked_tick < tick:
            self.finish(self.looks_ms[tick])
            self._look(self.looks_ms[tick])

    def _look(self, at_ms: int) -> None:
        """The compactor does one thing at a time, and evaluates no rule while it compacts."""
        log = self._log
        if self._looked_tick >= log.tick:
            return
        self._looked_tick, due_ms = log.tick, log.at_ms
        if not self._pending:
            log.at(log.tick, at_ms)
            self._compact(is_probed=bool(self._queries.due(log.tick)))
            log.at(log.tick, due_ms)

    def _complete_ended(self, until_ms: float) -> None:
        """Each at the end of its time."""
        log = self._log
        tick, at_ms = log.tick, log.at_ms
        self._is_settling = False
        for execution in sorted(self._taken_due(until_ms), key=lambda execution: execution.due_at_ms):
            log.at(tick, int(execution.due_at_ms))
            self._complete(execution, settles=False)
        log.at(tick, at_ms)

    def compact(self, tick: int) -> None:
        """In turns: complete the plans that are due, evaluate the rules, and execute what they plan."""
        is_probed = bool(self._queries.due(tick))
        self._is_settling = False
        due = self._taken_due(self._log.at_ms)
        for execution in due:
            self._complete(execution, settles=is_probed and execution is due[-1])
        self._compact(is_probed=is_probed)

    def _compact(self, *, is_probed: bool) -> None:
        """Evaluate the rules, and execute what they plan."""
        log = self._log
        records, last = self.evaluate(is_inline=False)
        for record in records:
            log.recorder.write(*record)
        if last is None or last.plan is None:
            return
        is_delayed = self._delay_ms(last.rule) > 0 or self._scenario.has_real_clock
        if not (is_delayed or self._queries.has_run_now):  # before a rewrite is staged
            self._queries.run_primary("before")
        execution = self.schedule(last.plan, last.rule, takes_time=self._scenario.has_real_clock)
        if not execution.is_delayed:
            self._complete(execution, settles=is_probed)

    def _taken_due(self, at_ms: float) -> list[Execution]:
        """The plans that are due by a moment, which are pending no longer."""
        due = [execution for execution in self._pending if execution.due_at_ms <= at_ms]
        for execution in due:
            self._pending.remove(execution)
        return due

    def drain(self) -> None:
        """Complete all plans that are still pending."""
        self._is_settling = False
        self.finish(math.inf)
        for execution in self._taken_due(math.inf):
            self._complete(execution, settles=False)

    def evaluate(self, *, is_inline: bool) -> tuple[list[NewRecord], Decision | None]:
        """Evaluate the inline rules, or the others, as `evaluated` does."""
        state = self._queries.with_history(self._engine.state(self._log.at_ms))
        return evaluated(self._strategy, state, self._log, is_inline=is_inline)

    def schedule(self, plan: Plan, rule: Rule, *, takes_time: bool = False) -> Execution:
        """Schedule a rule's plan, which stays pending if it has a delay or takes time."""
        delay_ms = self._delay_ms(rule)
        execution = Execution(plan, self._engine, self._log, rule.executor, delay_ms, takes_time=takes_time)
        if execution.is_delayed:
            self._pending.append(execution)
        return execution

    def complete_inline(self, execution: Execution) -> Fields:
        """Complete a plan that a commit waits for."""
        before, log = self._log.observed, self._log
        outcome = execution.complete()
        log.unbooked = outcome.observed.cost
        self._history.saw_compaction(log.tick, log.at_ms, execution.ticket, outcome, is_inline=True)
        return compaction_fields("writer", execution, before, size_model=self._size_model, is_inline=True)

    def _delay_ms(self, rule: Rule) -> int:
        return rule.delay_or(self._scenario.compaction_delay_ms)

    def _complete(self, execution: Execution, *, settles: bool) -> None:
        """Complete a plan between two runs of the primary probe, the queries before and after it.

        The query before is the latest run in this tick. If there is none it runs here, because commits have
        changed the table since a delayed plan was scheduled. The query after runs here too, unless the
        compaction `settles`: then the query at the end of the tick is used, so that no policy runs more
        queries on the cadence.
        """
        log, queries = self._log, self._queries
        if self._is_settling:  # of an earlier compaction of this tick
            queries.run_primary("after")
            self._is_settling = False
        before = log.observed
        if not queries.has_run_now:
            queries.run_primary("before")
        outcome = execution.complete()
        log.unbooked = outcome.observed.cost
        self._history.saw_compaction(log.tick, log.at_ms, execution.ticket, outcome)
        log.saw(outcome.observed, "compaction")
        log.recorder.write(
            CompactionRecord, compaction_fields("compactor", execution, before, size_model=self._size_model)
        )
        if self._after_compaction:
            self._after_compaction(log.tick)
        if outcome.status == "ok":
            self._is_settling = settles
            if not settles:
                queries.run_primary("after")


def evaluated(
    strategy: ActiveStrategy, state: TableState, log: StepLog, *, is_inline: bool, role: RoleId = "compactor"
) -> tuple[list[NewRecord], Decision | None]:
    """Evaluate the inline rules, or the others: the records, and the last decision if there is one.

    Reading the table's state is charged to the first rule that needs it; the others share that state.
    """
    records, decision = list[NewRecord](), None
    started_s, elapsed = log.now_s, log.clock.stopwatch()
    for decision in strategy.decide(state, is_inline=is_inline):
        cost, read, facts = elapsed(), NO_COST, strategy.facts_of(decision)
        log.took(cost.wall_s)
        if facts.reads_state(decision.verdict):
            read, log.unbooked = log.unbooked, NO_COST
        fields = log.fields(role, log.observed, started_s, cost)
        add_decision(fields, strategy.label, decision, facts, read)
        records.append((DecisionRecord, fields))
        started_s, elapsed = log.now_s, log.clock.stopwatch()
    return records, decision


def compactor(scenario: Scenario, compactions: Compactions) -> Role:
    """Compacts after each commit of the stream, and completes what is pending after the last one.

    With a real clock it looks at the table at moments of its own.
    """
    end_ms = scenario.duration_ms
    for tick, at_ms in scenario.ticks():
        if scenario.has_real_clock:
            yield Until(compactions.looks_ms[tick], Turn.COMPACT)
            compactions.look(tick)
            end_ms = at_ms + scenario.commit_interval_ms
            yield Until(end_ms, Turn.FINISH)
            compactions.finish(end_ms)
        else:
            yield Until(at_ms, Turn.COMPACT)
            compactions.compact(tick)
    yield Until(end_ms, Turn.DRAIN)
    compactions.drain()
