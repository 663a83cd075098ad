"""The roles with a real clock: each is a process or a thread of its own, on one table and at real time.

A commit or a query is due by schedule, and one that is late begins at once: `at_ms` of its record is the
moment at which it was due, and its span counts from the start of the stream, which all roles share. So
the latency from due is the end of the span minus that moment, in real seconds.

Each role is a generator of the moments of scenario time that it waits for, in milliseconds; it works on the
table before it yields the next one.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from bench.engines.contract import Batch, CommitConflictError, Observation, Prober, SharedEngine, Table
from bench.engines.format import SizeModel
from bench.errors import EngineError
from bench.replay.active_strategy import ActiveStrategy
from bench.replay.claims import Claims
from bench.replay.clock import LiveClock
from bench.replay.execution import Execution, compaction_fields
from bench.replay.history import History, probe_seen
from bench.replay.roles.compactor import evaluated
from bench.replay.roles.maintainer import maintain_by
from bench.replay.roles.tries import Tries
from bench.replay.roles.writer import commit_fields
from bench.replay.step_log import Fields, StepLog
from bench.results.records import CommitRecord, CompactionRecord, QueryRecord
from bench.results.values import NO_COST, Cost, Span
from bench.scenario.scenario import Scenario
from bench.scenario.schema import WriterRole
from strategies.plan import Plan, describe_action
from strategies.state import TableState

Role = Iterator[int]

_NOTHING_FREE = {"status": "vetoed", "error": "other compactors are at work on its files"}


def writer(batches: Iterable[Batch], table: Table, role: WriterRole, log: StepLog, clock: LiveClock) -> Role:
    """Commits each batch of the stream when it is due, or once the one before it is done."""
    for batch in batches:
        if batch.spec.is_initial:
            continue
        yield batch.spec.at_ms
        log.at(batch.spec.index, batch.spec.at_ms)
        _commit(batch, table, role, log, clock)


def _commit(batch: Batch, table: Table, role: WriterRole, log: StepLog, clock: LiveClock) -> None:
    """Commit a batch, again after each conflict. Raises CommitConflictError when retries are spent."""
    tries = Tries(role)
    while True:
        try:
            began_s, waited_s = log.now_s, clock.late_s(log.at_ms)
            outcome = table.commit(batch, batch.spec.at_ms)
            break
        except CommitConflictError as conflict:
            clock.sleep(tries.lost(conflict))
    if batch.spec.rows:
        committed_s = began_s + outcome.prepare_s
        fields = commit_fields(log, batch, outcome, committed_s, waited_s)
        log.recorder.write(CommitRecord, fields | tries.fields())
    log.saw(outcome.observed, "commit")


def reader(scenario: Scenario, prober: Prober, due_ms: Iterable[int], log: StepLog, clock: LiveClock) -> Role:
    """Asks the primary query at each moment, or once the one before it is answered.

    What has not begun when the stream ends is not asked, since nobody changes the table any more.
    """
    for at_ms in due_ms:
        yield at_ms
        log.at(_tick(scenario, at_ms), at_ms)
        if clock.scenario_ms() < scenario.duration_ms:
            _ask(scenario, prober, log, clock)
        else:
            asked = _asked(scenario, log, NO_COST, clock.late_s(at_ms))
            log.recorder.write(QueryRecord, asked | {"status": "failed", "span": None})


def _ask(scenario: Scenario, prober: Prober, log: StepLog, clock: LiveClock) -> None:
    began_s, waited_s, elapsed = log.now_s, clock.late_s(log.at_ms), clock.stopwatch()
    try:
        outcome = prober.query(scenario.primary_probe)
    except EngineError:  # its files may be gone, as for any reader beside maintenance
        fields = _asked(scenario, log, elapsed(), waited_s) | {"status": "failed"}
    else:
        fields = _asked(scenario, log, outcome.cost, waited_s)
        fields |= {"work": outcome.work, "planning_s": outcome.planning_s, "execution_s": outcome.execution_s}
    span = Span(began_s, began_s + fields["cost"].wall_s)
    log.recorder.write(QueryRecord, fields | {"span": span})


def _asked(scenario: Scenario, log: StepLog, cost: Cost, waited_s: float) -> Fields:
    probe = {"probe": scenario.primary_probe.name, "primary": True, "when": "due", "session": "new"}
    return log.fields("reader", None, log.now_s, cost) | probe | {"waited_s": waited_s}


@dataclass(frozen=True, slots=True)
class Looks:
    """When to look at the table: at `moments_ms`, one in each commit interval.

    Looks of intervals that have passed meanwhile are left out. They go on until the writer has ended, which
    may be late.
    """

    moments_ms: Iterable[int]
    interval_ms: int
    clock: LiveClock
    is_over: Callable[[], bool]

    def __iter__(self) -> Iterator[int]:
        for number, at_ms in enumerate(self.moments_ms):
            if self.is_over():
                return
            if (number + 1) * self.interval_ms > self.clock.scenario_ms():
                yield at_ms


@dataclass(frozen=True, slots=True)
class Compacting:
    """What a compactor works with.

    `note` is told what is known of a compaction as it begins, with the second in which it does; None when it
    has ended. `asked` returns the primary queries that the reader has recorded since the last call. `claims`
    are of all compactors, and name the role of this one. What fails once it `is_given_up` has been cancelled.
    """

    scenario: Scenario
    strategy: ActiveStrategy
    engine: SharedEngine
    history: History
    size_model: SizeModel | None
    log: StepLog
    looks: Looks
    note: Callable[[Fields | None, float], None]
    asked: Callable[[], Iterable[QueryRecord]]
    claims: Claims
    is_given_up: Callable[[], bool] = lambda: False

    def observe(self) -> TableState:
        """What a rule is told of the table as it is now.

        Pending plans are read first: one that ends before the table is read still keeps its files.
        """
        log, at_ms, others = self.log, self.looks.clock.scenario_ms(), self.claims.others()
        log.at(_tick(self.scenario, at_ms), at_ms)
        log.observed = self.engine.refresh(at_ms)
        log.unbooked = log.observed.cost
        for query in self.asked():
            if query.status == "ok":
                self.history.saw_probe(query.tick, probe_seen(query.at_ms, query.cost, query.work))
        state = self.engine.state(at_ms)
        pending = (*state.pending, *(other.seen_in(state) for other in others))
        state = replace(state, pending=pending)
        return self.history.added_to(state, self.scenario.probe_rate_per_s(log.tick))


def compactor(of: Compacting) -> Role:
    """Evaluates the rules once a commit interval; while it compacts it evaluates nothing."""
    for at_ms in of.looks:
        yield at_ms
        if not of.looks.is_over():
            _look(of)


def _look(of: Compacting) -> None:
    log = of.log
    state = of.observe()
    records, last = evaluated(of.strategy, state, log, is_inline=False, role=of.claims.role)
    for record in records:
        log.recorder.write(*record)
    observed = log.observed
    if last is None or last.plan is None or observed is None:
        return
    plan = of.claims.take(last.plan, log.at_ms)
    if plan is None:
        log.recorder.write(CompactionRecord, _begun(of, last.plan, observed) | _NOTHING_FREE)
        return
    of.note(_begun(of, plan, observed) | {"status": "unfinished"}, log.now_s)
    execution = Execution(plan, of.engine, log, last.rule.executor)
    outcome = execution.complete()
    of.history.saw_compaction(log.tick, log.at_ms, execution.ticket, outcome)
    of.claims.release()
    fields = compaction_fields(of.claims.role, execution, observed, size_model=of.size_model)
    if outcome.status == "failed" and not outcome.versions and of.is_given_up():
        fields |= {"status": "unfinished"}
    log.recorder.write(CompactionRecord, fields)
    of.note(None, log.now_s)
    log.saw(outcome.observed, "compaction")


def _begun(of: Compacting, plan: Plan, observed: Observation) -> Fields:
    """The record of a compaction without its status, end, cost and effect."""
    log, live = of.log, observed.table.live
    return log.fields(of.claims.role, observed, log.now_s, NO_COST) | {
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
        yield at_ms
        for rule in () if of.looks.is_over() else rules:
            maintain_by(rule, of.observe(), of.engine, of.log)


def _tick(scenario: Scenario, at_ms: int) -> int:
    return min(scenario.commits_count, at_ms // scenario.commit_interval_ms)
