"""The figures of one run: pure arithmetic over its records. A figure that does not apply is None, never 0."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bench.results.arithmetic import all_known, mean, total
from bench.results.folders import RunResult
from bench.results.latency import OverTime, over_time
from bench.results.query_effect import QueryEffect, query_effects
from bench.results.records import (
    CommitRecord,
    CompactionRecord,
    ControlRecord,
    DecisionRecord,
    MaintenanceRecord,
    ObserveRecord,
    QueryRecord,
    SpeedRecord,
)
from bench.results.sessions import queries_by
from bench.results.table_content import as_left, commits_of, of_content
from bench.results.values import Session

HEALTH_SCORE = "health_score"  # a figure that planners may report about the table
PARTITIONS_LEFT = "partitions_left"  # another: how many due partitions a plan leaves for later
IDLE_PLANNER = "never"  # registered name of the planner that never plans


@dataclass(frozen=True, slots=True)
class RunFigures:
    """The records of one run, selected once for the formulas of all metrics.

    `content_bytes` is the common denominator of amplifications (`amplification.common_content_bytes`).
    """

    run: RunResult
    content_bytes: int | None
    loads: tuple[CommitRecord, ...]  # the initial load
    commits: tuple[CommitRecord, ...]  # of the stream
    primary: tuple[QueryRecord, ...]  # every primary query
    after_commit: tuple[QueryRecord, ...]  # of them, on the cadence, right after the commit
    settled: tuple[QueryRecord, ...]  # and at the end of the same ticks
    over_time: OverTime  # the settled query in means over time
    by_new: tuple[QueryRecord, ...]  # the primary query by new sessions
    compactions: tuple[CompactionRecord, ...]
    effects: tuple[QueryEffect, ...]  # of the compactions
    maintenance: tuple[MaintenanceRecord, ...]
    observed: tuple[ObserveRecord, ...]
    decisions: tuple[DecisionRecord, ...]  # evaluations, except of `never`

    @property
    def effective(self) -> tuple[CompactionRecord, ...]:
        """The compactions that committed."""
        return tuple(c for c in self.compactions if c.status == "ok")

    @property
    def fired(self) -> tuple[DecisionRecord, ...]:
        """Evaluations whose trigger fired."""
        return tuple(d for d in self.decisions if d.status != "not_due")

    @property
    def is_simulated(self) -> bool:
        return self.run.manifest.mode == "simulated"


def queries_of(run: RunResult, session: Session | None = None) -> tuple[QueryRecord, ...]:
    """The queries that figures are computed from: that succeeded, on a table with rows.

    They are those of one kind of session, by default of the kind that latencies are of.
    """
    return of_content(run, queries_by(run, session))


def figures(run: RunResult, content_bytes: int | None) -> RunFigures:
    commits = commits_of(run)
    primary = tuple(q for q in queries_of(run) if q.primary)
    return RunFigures(
        run=run,
        content_bytes=content_bytes,
        loads=tuple(c for c in commits if c.is_initial),
        commits=tuple(c for c in commits if not c.is_initial),
        primary=primary,
        after_commit=tuple(q for q in primary if q.when == "after_commit"),
        settled=tuple(q for q in primary if q.when == "settled"),
        over_time=over_time(run, primary),
        by_new=tuple(q for q in queries_of(run, "new") if q.primary),
        compactions=tuple(c for c in run.of(CompactionRecord) if c.tick),
        effects=tuple(effect for effect in query_effects(run) if effect.compaction.tick),
        maintenance=run.of(MaintenanceRecord),
        observed=run.of(ObserveRecord),
        decisions=tuple(d for d in run.of(DecisionRecord) if d.planner != IDLE_PLANNER),
    )


def count_with_status(*statuses: str) -> Callable[[RunFigures], float]:
    return lambda f: float(sum(c.status in statuses for c in f.compactions))


def ineffective(f: RunFigures) -> float:
    """The number of committed compactions that left as many data files, delete files and rows as before.

    Such a compaction may be planned forever (apache/amoro issue 3855). Applying deletes leaves fewer rows,
    and merely converting equality deletes replaces no data file, so neither counts.
    """
    return float(sum(_is_ineffective(c) for c in f.effective))


def _is_ineffective(c: CompactionRecord) -> bool:
    change = c.change
    same_deletes = change.delete_files_removed_count == change.delete_files_added_count
    # Between an inline compaction and the commit that ran it the table was not observed.
    is_known = not c.is_inline and c.before.rows == c.after.rows
    return change.files_removed_count == change.files_added_count > 0 and same_deletes and is_known


def noop_evaluations(f: RunFigures) -> float | None:
    """The number of evaluations whose trigger fired without a plan; None if no trigger fired."""
    return float(sum(d.status == "nothing_to_do" for d in f.fired)) if f.fired else None


def returned_s(f: RunFigures) -> list[float]:
    """For each commit of the stream, the wall seconds until its writer can continue.

    The writer waits for compactions that its commit runs itself. A concurrent compaction uses the same cores,
    so Spark jobs queue, beginning with the jobs that prepare the batch: this part of the preparation counts
    as waiting too.
    """
    concurrent = [c for c in f.compactions if c.cost.is_shared]
    return [
        commit.cost.wall_s + commit.waited_s + sum(_prepared_during(commit, other) for other in concurrent)
        for commit in f.commits
    ]


def _prepared_during(commit: CommitRecord, compaction: CompactionRecord) -> float:
    """Seconds of a commit's preparation during which a compaction ran."""
    if commit.span is None or compaction.span is None:
        return 0.0
    started_s = max(commit.span.started_s - commit.prepare_s, compaction.span.started_s)
    return max(0.0, min(commit.span.started_s, compaction.span.ended_s) - started_s)


def pending_mean_s(f: RunFigures) -> float | None:
    """Mean scenario seconds between a decision and its commit; 0 without a compaction delay."""
    return mean([(c.at_ms - c.scheduled_at_ms) / 1000 for c in f.effective])


def control_mean_s(f: RunFigures) -> float | None:
    return mean([c.cost.wall_s for c in f.run.of(ControlRecord) if c.status == "ok"])


def fixed_work_s(f: RunFigures) -> float | None:
    return mean([s.cost.wall_s for s in f.run.of(SpeedRecord)])


def other_cores(f: RunFigures) -> float | None:
    return None if f.run.end is None else f.run.end.other_cores


def staleness_mean_s(f: RunFigures) -> float | None:
    """Scenario seconds since the last commit, or since 0, as a mean over time; None without a commit.

    Over a gap of g seconds between two commits the age grows from 0 to g: g / 2 on average, for g seconds.
    """
    duration_ms = f.run.manifest.duration_ms
    times_ms = sorted({0, duration_ms, *(c.at_ms for c in f.commits)})
    squares = sum((later - earlier) ** 2 for earlier, later in pairwise(times_ms))
    return squares / 2 / duration_ms / 1000 if f.commits else None


def since_compaction_mean_s(f: RunFigures) -> float | None:
    ends = [0, *sorted(c.at_ms for c in f.effective)]
    return mean([(c.at_ms - ends[bisect_left(ends, c.at_ms, lo=1) - 1]) / 1000 for c in f.commits])


def health_scores(f: RunFigures) -> list[float]:
    """The health scores that planners reported, in order."""
    scores = [(d.figures or {}).get(HEALTH_SCORE) for d in f.fired]
    return [score for score in scores if score is not None]


def deletes_end(field: str) -> Callable[[RunFigures], float | None]:
    """A count of delete files or of their rows at the end; None without deletes."""
    return lambda f: mean(_deletes(f, f.observed[-1:], field))


def deletes_mean(field: str) -> Callable[[RunFigures], float | None]:
    """The mean over time of a count of delete files or of their rows; None without deletes."""
    return lambda f: mean(_deletes(f, as_left(f.run), field))


def deletes_age_mean_s(f: RunFigures) -> float | None:
    """The mean over time of the age of the oldest delete file; 0 while there is none.

    Until the next commit the age grows by a commit interval, by half of one on average. None without deletes.
    """
    observed = as_left(f.run) if has_deletes(f) else ()
    ages_ms = [_delete_age_ms(o, f.run.manifest.commit_interval_ms) for o in observed]
    known = all_known(ages_ms)
    return mean([age_ms / 1000 for age_ms in known]) if known else None


def _delete_age_ms(observed: ObserveRecord, interval_ms: int) -> float | None:
    if not observed.table.delete_files_count:
        return 0.0
    added_ms = observed.table.oldest_delete_at_ms
    return None if added_ms is None else observed.at_ms - added_ms + interval_ms / 2


def _deletes(f: RunFigures, observations: Sequence[ObserveRecord], field: str) -> list[float]:
    """A field of the observations; empty without deletes or if an observation lacks the field."""
    values = [getattr(o.table, field) for o in observations] if has_deletes(f) else []
    return [] if None in values else values


def has_deletes(f: RunFigures) -> bool:
    """Whether the stream updates or deletes rows, or delete files were observed."""
    return f.run.manifest.is_cdc or any(o.table.delete_files_count for o in f.observed)


def overlapped_commits(f: RunFigures) -> float | None:
    longest_s = max((c.cost.wall_s for c in f.compactions), default=0.0)
    return 1000 * longest_s / f.run.manifest.commit_interval_ms


def duty_cycle(f: RunFigures) -> float:
    return total(c.cost.wall_s for c in f.compactions) / (f.run.manifest.duration_ms / 1000)
