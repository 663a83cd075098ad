"""The roles with a real clock: each is a process or a thread of its own, on one table and at real time.

A commit or a query is due by schedule, and one that is late begins at once: `at_ms` of its record is the
moment at which it was due, and its span counts from the start of the stream, which all roles share. So
the latency from due is the end of the span minus that moment, in real seconds.
"""

import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from bench.engines.contract import Batch, CommitConflictError, Observation, Prober, SharedEngine, Table
from bench.engines.format import SizeModel
from bench.errors import EngineError
from bench.replay.active_strategy import ActiveStrategy
from bench.replay.clock import LiveClock
from bench.replay.execution import Execution, compaction_fields
from bench.replay.history import History, probe_seen
from bench.replay.roles.compactor import evaluated
from bench.replay.roles.maintainer import maintain
from bench.replay.roles.writer import commit_fields
from bench.replay.schedule import Role, Turn, Until, perform
from bench.replay.step_log import Fields, StepLog
from bench.results.records import CommitRecord, CompactionRecord, QueryRecord
from bench.results.values import NO_COST, Cost, Span
from bench.scenario.scenario import Scenario
from strategies.plan import Plan, describe_action
from strategies.state import TableState

_BACKOFF_MAX_S = 60.0


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a commit that conflicts is done again, and how long it waits: twice as long each time.

    It never waits for longer than a minute.
    """

    retries: int
    backoff_s: float

    def wait_s(self, conflicts_count: int) -> float:
        return min(self.backoff_s * 2.0 ** (conflicts_count - 1), _BACKOFF_MAX_S)


def writer(batches: Iterable[Batch], table: Table, retry: Retry, log: StepLog, clock: LiveClock) -> Role:
    """Commits each batch of the stream when it is due, or once the one before it is done."""
    for batch in batches:
        if batch.spec.is_initial:
            continue
        yield Until(batch.spec.at_ms, Turn.COMMIT)
        log.at(batch.spec.index, batch.spec.at_ms)
        yield from perform(partial(_commit, batch, table, retry, log, clock))


def _commit(batch: Batch, table: Table, retry: Retry, log: StepLog, clock: LiveClock) -> None:
    """Commit a batch, again after each conflict. Raises CommitConflictError when retries are spent."""
    conflicts, wasted_cpu_s = list[str](), 0.0
    while True:
        try:
            began_s, waited_s = log.now_s, clock.late_s(log.at_ms)
            outcome = table.commit(batch, batch.spec.at_ms)
            break
        except CommitConflictError as conflict:
            conflicts.append(conflict.reason)
            wasted_cpu_s += conflict.cost.cpu_s
            if len(conflicts) > retry.retries:
                raise
            clock.sleep(retry.wait_s(len(conflicts)))
    if batch.spec.rows:
        committed_s = began_s + outcome.prepare_s
        fields = commit_fields(log, batch, outcome, committed_s, waited_s)
        fields |= {"conflicts": conflicts, "wasted_cpu_s": wasted_cpu_s}
        log.recorder.write(CommitRecord, fields)
    log.saw(outcome.observed, "commit")


def reader(scenario: Scenario, prober: Prober, due_ms: Iterable[int], log: StepLog, clock: LiveClock) -> Role:
    """Asks the primary query at each moment, or once the one before it is answered.

    What has not begun when the stream ends is not asked, since nobody changes the table any more.
    """
    for at_ms in due_ms:
        yield Until(at_ms, Turn.READ)
        log.at(_tick(scenario, at_ms), at_ms)
        if clock.scenario_ms() < scenario.duration_ms:
            yield from perform(partial(_ask, scenario, prober, log, clock))
        else:
            log.recorder.write(QueryRecord, _asked(scenario, log, NO_COST, clock) | {"status": "failed"})


def _ask(scenario: Scenario, prober: Prober, log: StepLog, clock: LiveClock) -> None:
    began_s, waited_s, elapsed = log.now_s, clock.late_s(log.at_ms), clock.stopwatch()
    try:
        outcome = prober.query(scenario.primary_probe)
    except EngineError:  # its files may be gone, as for any reader beside maintenance
        fields = _asked(scenario, log, elapsed(), clock) | {"status": "failed"}
    else:
        fields = _asked(scenario, log, outcome.cost, clock)
        fields |= {"work": outcome.work, "planning_s": outcome.planning_s, "execution_s": outcome.execution_s}
    span = Span(began_s, began_s + fields["cost"].wall_s)
    log.recorder.write(QueryRecord, fields | {"span": span, "waited_s": waited_s})


def _asked(scenario: Scenario, log: StepLog, cost: Cost, clock: LiveClock) -> Fields:
    probe = {"probe": scenario.primary_probe.name, "primary": True, "when": "due", "session": "new"}
    waited_s = clock.late_s(log.at_ms)
    return log.fields("reader", None, log.now_s, cost) | probe | {"waited_s": waited_s}


@dataclass(frozen=True, slots=True)
class Looks:
    """When to look at the table: once in each commit interval, at a moment that the seed draws.

    If it were the moment of the commit, each compaction would begin just before a commit ends, and lose.
    Looks that have passed meanwhile are left out. They go on until the writer has ended, which may be late.
    """

    scenario: Scenario
    clock: LiveClock
    seed: str
    is_over: Callable[[], bool]

    def __iter__(self) -> Iterator[int]:
        rng, interval_ms = random.Random(self.seed), self.scenario.commit_interval_ms  # noqa: S311 - no secret
        for number in itertools.count():
            at_ms = int((number + rng.random()) * interval_ms)
            if self.is_over():
                return
            if (number + 1) * interval_ms > self.clock.scenario_ms():
                yield at_ms


@dataclass(frozen=True, slots=True)
class Compacting:
    """What a compactor works with.

    `note` is told what is known of a compaction as it begins, with the second in which it does; None when it
    has ended. `asked` returns the primary queries that the reader has recorded since the last call. What
    fails once it `is_given_up` has been cancelled.
    """

    scenario: Scenario
    strategy: ActiveStrategy
    engine: SharedEngine
    history: History
    size_model: SizeModel | None
    log: StepLog
    looks: "Looks"
    note: Callable[[Fields | None, float], None]
    asked: Callable[[], Iterable[QueryRecord]]
    is_given_up: Callable[[], bool] = lambda: False

    def observe(self) -> TableState:
        """What a rule is told of the table as it is now."""
        log, at_ms = self.log, self.looks.clock.scenario_ms()
        log.at(_tick(self.scenario, at_ms), at_ms)
        log.observed = self.engine.refresh(at_ms)
        log.unbooked = log.observed.cost
        for query in self.asked():
            if query.status == "ok":
                self.history.saw_probe(query.tick, probe_seen(query.at_ms, query.cost, query.work))
        state = self.engine.state(at_ms)
        return self.history.added_to(state, self.scenario.reader_rate_per_s)


def compactor(of: Compacting) -> Role:
    """Evaluates the rules once a commit interval; while it compacts it evaluates nothing."""
    for at_ms in of.looks:
        yield Until(at_ms, Turn.COMPACT)
        if not of.looks.is_over():
            yield from perform(partial(_look, of))


def _look(of: Compacting) -> None:
    log = of.log
    state = of.observe()
    records, last = evaluated(of.strategy, state, log, is_inline=False)
    for record in records:
        log.recorder.write(*record)
    observed = log.observed
    if last is None or last.plan is None or observed is None:
        return
    of.note(_unfinished(last.plan, observed, log), log.now_s)
    execution = Execution(last.plan, of.engine, log, last.rule)
    outcome = execution.complete()
    of.history.saw_compaction(log.tick, log.at_ms, execution.ticket, outcome)
    fields = compaction_fields("compactor", execution, observed, size_model=of.size_model)
    if outcome.status == "failed" and not outcome.versions and of.is_given_up():
        fields |= {"status": "unfinished"}
    log.recorder.write(CompactionRecord, fields)
    of.note(None, log.now_s)
    log.saw(outcome.observed, "compaction")


def _unfinished(plan: Plan, observed: Observation, log: StepLog) -> Fields:
    """The record of a compaction that has only begun, without its end and cost."""
    live = observed.table.live
    return log.fields("compactor", observed, log.now_s, NO_COST) | {
        "status": "unfinished",
        "reason": plan.reason,
        "actions": [describe_action(action) for action in plan.actions],
        "plan_kind": plan.kind,
        "scheduled_at_ms": log.at_ms,
        "before": live,
        "after": live,
    }


def maintainer(of: Compacting, rules: Sequence[ActiveStrategy]) -> Role:
    """Maintains the table by the scenario's own rules, once a commit interval."""
    for at_ms in of.looks:
        yield Until(at_ms, Turn.MAINTAIN)
        for rule in () if of.looks.is_over() else rules:
            for plan in filter(None, [decision.plan for decision in rule.decide(of.observe())]):
                yield from perform(partial(maintain, plan, of.engine, of.log))


def _tick(scenario: Scenario, at_ms: int) -> int:
    return min(scenario.commits_count, at_ms // scenario.commit_interval_ms)
