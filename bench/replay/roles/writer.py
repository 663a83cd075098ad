"""The writer: commits the stream, and waits for the compactions of inline rules."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from bench.engines.contract import (
    INLINE,
    Batch,
    CommitConflictError,
    CommitOutcome,
    InlineCompaction,
    Observation,
    Table,
    total_change,
)
from bench.replay.execution import rewritten_partitions
from bench.replay.history import History
from bench.replay.roles.compactor import Compactions
from bench.replay.roles.tries import Tries
from bench.replay.schedule import Role, Turn, Until
from bench.replay.step_log import Fields, NewRecord, StepLog, version_ids
from bench.results.records import CommitRecord, CompactionRecord
from bench.results.values import NO_COST, Cost
from bench.scenario.schema import WriterRole


@dataclass(frozen=True, slots=True)
class _Done:
    """A commit, the table before its last try, and when that began: `late_s` after the commit was due.

    `tries` are those that lost before it; None in turns.
    """

    outcome: CommitOutcome
    before: Observation | None
    started_s: float
    late_s: float
    tries: Tries | None = None


def writer(
    batches: Iterable[Batch],
    table: Table,
    compactions: Compactions,
    role: WriterRole,
    history: History,
    log: StepLog,
) -> Role:
    """Commits each batch when it is due; with a real clock again after each conflict."""
    last = NO_COST
    for batch in batches:
        yield Until(batch.spec.at_ms, Turn.COMMIT)
        log.at(batch.spec.index, batch.spec.at_ms)
        log.catch_up()
        if log.cores is None or batch.spec.is_initial or not batch.spec.rows:
            done = _in_turn(batch, table, log)
        else:
            done = _at_once(batch, table, compactions, role, log, last)
        last = _record(batch, done, compactions, history, log, last)


def _in_turn(batch: Batch, table: Table, log: StepLog) -> _Done:
    before, started_s = log.observed, log.now_s
    return _Done(table.commit(batch, log.at_ms), before, started_s, log.late_s)


def _at_once(
    batch: Batch, table: Table, compactions: Compactions, role: WriterRole, log: StepLog, last: Cost
) -> _Done:
    """Commit a batch beside compactions. Raises CommitConflictError when its retries are spent.

    Those that end before the commit does come first: by the cost of the commit before it, `last`, or that of
    the last try.
    """
    tries = Tries(role)
    while True:
        try:
            table.begin(batch)
            compactions.act_during(last)
            before, started_s = log.observed, log.now_s
            outcome = table.commit(batch, log.at_ms)
            return _Done(outcome, before, started_s, log.late_s, tries)
        except CommitConflictError as conflict:
            last = max(last, conflict.cost, key=attrgetter("wall_s"))  # one that is refused ends early
            log.took(log.run(conflict.cost).wall_s)
            compactions.wait(tries.lost(conflict))


def _record(
    batch: Batch, done: _Done, compactions: Compactions, history: History, log: StepLog, last: Cost
) -> Cost:
    """Record the commit of the tick, if it had rows, and the table; returns the cost of the last commit.

    The commit waits while plans of inline rules are executed. Nobody sees the table in between, as with
    formats whose commits compact by themselves.
    """
    outcome = done.outcome
    alone = outcome.cost
    if not batch.spec.is_initial:  # scenario time begins after it
        outcome = _run(outcome, log)
    history.saw_inline(log.at_ms, outcome.compactions)
    inline_cost = sum((compaction.cost for compaction in outcome.compactions), NO_COST)
    log.took(outcome.prepare_s + outcome.cost.wall_s + inline_cost.wall_s)
    log.observed, log.unbooked = outcome.observed, outcome.observed.cost
    waited_s, observed = 0.0, outcome.observed
    records: Sequence[NewRecord] = ()
    if batch.spec.rows and not batch.spec.is_initial and compactions.has_inline_rules:
        waited_s, records, observed = _wait(compactions, outcome.observed)
    committed_s = done.started_s + outcome.prepare_s
    if batch.spec.rows:
        waited_s += done.late_s + inline_cost.wall_s
        fields = commit_fields(log, batch, outcome, committed_s, waited_s)
        log.recorder.write(CommitRecord, fields | (done.tries.fields() if done.tries else {}))
    compacted_s = committed_s + outcome.cost.wall_s
    for compaction in outcome.compactions:
        log.recorder.write(
            CompactionRecord,
            _inline_fields(log, compaction, done.before or outcome.observed, outcome.observed, compacted_s),
        )
        compacted_s += compaction.cost.wall_s
    log.saw(observed, "initial" if batch.spec.is_initial else "commit")
    for record in records:
        log.recorder.write(*record)
    return alone if batch.spec.rows else last


def _run(outcome: CommitOutcome, log: StepLog) -> CommitOutcome:
    """The outcome with the time that its steps took beside others."""
    cost = log.run(outcome.cost)
    compactions = (replace(compaction, cost=log.run(compaction.cost)) for compaction in outcome.compactions)
    return replace(outcome, cost=cost, compactions=tuple(compactions))


def _wait(compactions: Compactions, before: Observation) -> tuple[float, Sequence[NewRecord], Observation]:
    """Evaluate the inline rules, and execute their plan: how long it took, the records, and the table then.

    A plan with a delay is only scheduled. The table is recorded once, after commit and compaction, with the
    cost of reading it twice.
    """
    records, last = compactions.evaluate(is_inline=True)
    wall_s = sum(fields["cost"].wall_s for _, fields in records)
    if last is None or last.plan is None:
        return wall_s, records, before
    execution = compactions.schedule(last.plan, last.rule)
    if execution.is_delayed:
        return wall_s + execution.ticket.staging_s, records, before
    fields, after = compactions.complete_inline(execution), execution.outcome.observed
    observed = replace(after, cost=before.cost + after.cost)
    return wall_s + fields["cost"].wall_s, [*records, (CompactionRecord, fields)], observed


def commit_fields(
    log: StepLog, batch: Batch, outcome: CommitOutcome, started_s: float, waited_s: float
) -> Fields:
    return {
        **log.fields("writer", outcome.observed, started_s, outcome.cost),
        "is_initial": batch.spec.is_initial,
        "rows": batch.spec.rows,
        "ingested_bytes": batch.size_bytes,
        "change": outcome.change,
        "work": outcome.work,
        "prepare_s": outcome.prepare_s,
        "waited_s": waited_s,
        "versions": version_ids(outcome.versions),
    }


def _inline_fields(
    log: StepLog, compaction: InlineCompaction, before: Observation, after: Observation, started_s: float
) -> Fields:
    """A commit's own compaction. The table was only observed before and after the commit."""
    return {
        **log.fields("writer", after, started_s, compaction.cost),
        "before": before.table.live,
        "after": after.table.live,
        "change": total_change(compaction.versions),
        "work": compaction.work,
        "versions": version_ids(compaction.versions),
        "partitions": rewritten_partitions(after, compaction.versions),
        "reason": INLINE,
        "actions": [compaction.action],
        "scheduled_at_ms": log.at_ms,
        "is_sorted": compaction.is_sorted,
        "is_converting": False,
        "is_inline": True,
    }
