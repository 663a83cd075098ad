"""The figures of one run: pure arithmetic over its records. A figure that does not apply is None, never 0."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bench.results.arithmetic import known_mean, known_sum, ratio, sum_of_known, total
from bench.results.folders import RunResult
from bench.results.latency import OverTime, over_time, settled_of
from bench.results.query_effect import QueryEffects, query_effects
from bench.results.records import (
    LOST_STATUSES,
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
from bench.results.table_content import (
    as_left,
    commits_of,
    of_content,
    stream_commits_of,
    stream_compactions_of,
)
from bench.results.tables import Records, own_cost, together
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
    loads: Records[CommitRecord]  # the initial load
    commits: Records[CommitRecord]  # of the stream
    primary: Records[QueryRecord]  # every primary query
    after_commit: Records[QueryRecord]  # of them, on the cadence, right after the commit
    settled: Records[QueryRecord]  # and at the end of the same ticks; those that were due with a real clock
    over_time: OverTime  # the settled query in means over time
    by_new: Records[QueryRecord]  # the primary query by new sessions
    compactions: Records[CompactionRecord]
    effects: QueryEffects  # of the compactions
    maintenance: Records[MaintenanceRecord]
    observed: Records[ObserveRecord]
    decisions: Records[DecisionRecord]  # evaluations, except of `never`

    @property
    def effective(self) -> Records[CompactionRecord]:
        """The compactions that committed."""
        return self.compactions.having(status="ok")

    @property
    def fired(self) -> Records[DecisionRecord]:
        """Evaluations whose trigger fired."""
        return self.decisions.where(self.decisions.column("status") != "not_due")

    @property
    def is_simulated(self) -> bool:
        return self.run.manifest.mode == "simulated"


def queries_of(run: RunResult, session: Session | None = None) -> Records[QueryRecord]:
    """The queries that figures are computed from: that succeeded, on a table with rows.

    They are those of one kind of session, by default of the kind that latencies are of.
    """
    return of_content(run, queries_by(run, session))


def primary_queries_of(run: RunResult, session: Session | None = None) -> Records[QueryRecord]:
    queries = queries_of(run, session)
    return queries.having(primary=True)


def figures(run: RunResult, content_bytes: int | None) -> RunFigures:
    commits, primary = commits_of(run), primary_queries_of(run)
    effects = query_effects(run)
    decisions = run.of(DecisionRecord)
    return RunFigures(
        run=run,
        content_bytes=content_bytes,
        loads=commits.having(is_initial=True),
        commits=stream_commits_of(run),
        primary=primary,
        after_commit=primary.having(when="after_commit"),
        settled=settled_of(primary),
        over_time=over_time(run, primary),
        by_new=primary_queries_of(run, "new"),
        compactions=stream_compactions_of(run),
        effects=effects.where(effects.column("tick") > 0),
        maintenance=run.of(MaintenanceRecord),
        observed=run.of(ObserveRecord),
        decisions=decisions.where(decisions.column("planner") != IDLE_PLANNER),
    )


def count_with_status(*statuses: str) -> Callable[[RunFigures], float]:
    return lambda f: float(np.isin(f.compactions.column("status").astype(str), statuses).sum())


def ineffective(f: RunFigures) -> float:
    """The number of committed compactions that left as many data files, delete files and rows as before.

    Such a compaction may be planned forever (apache/amoro issue 3855). Applying deletes leaves fewer rows,
    and merely converting equality deletes replaces no data file, so neither counts.
    """
    value = f.effective.column
    removed, added = value("files_removed_count"), value("files_added_count")
    same_deletes = value("delete_files_removed_count") == value("delete_files_added_count")
    before, after = value("before_rows"), value("after_rows")
    same_rows = (before == after) | (np.isnan(before) & np.isnan(after))
    # Between an inline compaction and the commit that ran it the table was not observed.
    is_known = ~value("is_inline") & same_rows
    return float(((removed == added) & (added > 0) & same_deletes & is_known).sum())


def noop_evaluations(f: RunFigures) -> float | None:
    """The number of evaluations whose trigger fired without a plan; None if no trigger fired."""
    fired = f.fired.column("status")
    return float((fired == "nothing_to_do").sum()) if len(fired) else None


def returned_s(f: RunFigures) -> np.ndarray:
    """For each commit of the stream, the wall seconds until its writer can continue.

    The writer waits for compactions that its commit runs itself, and with a real clock for its commit before.
    """
    return np.asarray(f.commits.column("wall_s") + f.commits.column("waited_s"))


def since_due_s(f: RunFigures) -> np.ndarray:
    """The real seconds from when each commit of the stream was due to its end; empty if none can be late."""
    if not f.run.manifest.is_at_once:
        return np.empty(0)
    if not f.run.manifest.is_live:  # the clock of a simulation adds up the durations of steps
        return np.asarray(f.commits.column("waited_s") + f.commits.column("wall_s"))
    return np.asarray(f.commits.column("ended_s") - due_s(f.run, f.commits))


def due_s(run: RunResult, commits: Records[CommitRecord]) -> np.ndarray:
    """The real seconds from the start of the stream until each of its commits was due."""
    return np.asarray(commits.column("at_ms") / 1000 / run.manifest.speed)


def began_s(compactions: Records[CompactionRecord]) -> np.ndarray:
    """When each compaction began, by the run's clock: one in two phases, when the first did."""
    staged_s = compactions.column("staged_started_s")
    return np.where(np.isnan(staged_s), compactions.column("started_s"), staged_s)


def run_delay_s(f: RunFigures) -> float | None:
    """None where roles share a process, whose threads are not told apart."""
    if not f.run.manifest.is_live:
        return None
    delays_s, _ = _delayed(f)
    return total(delays_s) if len(delays_s) else None


def run_delay_per_cpu(f: RunFigures) -> float | None:
    delays_s, cpu_s = _delayed(f)
    return ratio(total(delays_s), total(cpu_s)) if f.run.manifest.is_live else None


def _delayed(f: RunFigures) -> tuple[np.ndarray, np.ndarray]:
    """The run delay and the CPU of steps whose delay is known: not that of a compaction that was ended."""
    steps = (f.commits, f.compactions, f.maintenance, f.primary)
    delays_s, cpu_s = (together(name, *steps) for name in ("run_delay_s", "cpu_s"))
    is_known = ~np.isnan(delays_s)
    return delays_s[is_known], cpu_s[is_known]


def redone_commits(f: RunFigures) -> float | None:
    """How often a commit of the stream was done again after a conflict; None if nobody else commits."""
    if not f.run.manifest.is_at_once:
        return None
    tries = f.commits.column("conflicts").tolist()
    return None if None in tries else float(sum(map(len, tries)))


def lost_compactions(f: RunFigures) -> float | None:
    """None where nobody else commits."""
    return count_with_status(*LOST_STATUSES)(f) if f.run.manifest.is_at_once else None


def unfinished_compactions(f: RunFigures) -> float | None:
    """None where nobody else commits."""
    return count_with_status("unfinished")(f) if f.run.manifest.is_at_once else None


def wasted_cpu_s(f: RunFigures) -> float | None:
    """CPU seconds of commits and compactions that lost a conflict or did not end; None likewise."""
    if not f.run.manifest.is_at_once:
        return None
    lost = f.compactions.where(np.isin(f.compactions.column("status").astype(str), LOST_STATUSES))
    return sum_of_known([known_sum(own_cost("cpu_s", lost)), known_sum(f.commits.column("wasted_cpu_s"))])


def pending_mean_s(f: RunFigures) -> float | None:
    """Mean scenario seconds between a decision and its commit; 0 without a compaction delay.

    None where roles work at the same time: a compaction is dated by its decision.
    """
    if f.run.manifest.is_live:
        return None
    pending_ms = f.effective.column("at_ms") - f.effective.column("scheduled_at_ms")
    return known_mean(pending_ms / 1000)


def control_mean_s(f: RunFigures) -> float | None:
    return known_mean(f.run.of(ControlRecord).having(status="ok").column("wall_s"))


def fixed_work_s(f: RunFigures) -> float | None:
    return known_mean(f.run.of(SpeedRecord).column("wall_s"))


def other_cores(f: RunFigures) -> float | None:
    return None if f.run.end is None else f.run.end.other_cores


def staleness_mean_s(f: RunFigures) -> float | None:
    """Scenario seconds since the last commit, or since 0, as a mean over time; None without a commit.

    Over a gap of g seconds between two commits the age grows from 0 to g: g / 2 on average, for g seconds.
    None with a real clock, by which commits may be late.
    """
    if f.run.manifest.is_at_once:
        return None
    duration_ms = f.run.manifest.duration_ms
    gaps_ms = np.diff(np.unique([0, duration_ms, *f.commits.column("at_ms")])).astype(float)
    return total(gaps_ms**2) / 2 / duration_ms / 1000 if f.commits else None


def since_compaction_mean_s(f: RunFigures) -> float | None:
    if f.run.manifest.is_live:
        return None
    ends_ms = np.concatenate([[0], np.sort(f.effective.column("at_ms"))])
    at_ms = f.commits.column("at_ms")
    return known_mean((at_ms - ends_ms[np.searchsorted(ends_ms[1:], at_ms)]) / 1000)


def health_scores(f: RunFigures) -> np.ndarray:
    """The health scores that planners reported, in order."""
    figures = f.fired.column("figures").tolist()
    return np.array(
        [known[HEALTH_SCORE] for known in figures if known and HEALTH_SCORE in known], dtype=float
    )


def deletes_end(field: str) -> Callable[[RunFigures], float | None]:
    """A count of delete files or of their rows at the end; None without deletes."""
    return lambda f: known_mean(f.observed.column(field)[-1:]) if has_deletes(f) else None


def deletes_mean(field: str) -> Callable[[RunFigures], float | None]:
    """The mean over time of a count of delete files or of their rows; None without deletes."""
    return lambda f: known_mean(as_left(f.run).column(field)) if has_deletes(f) else None


def deletes_age_mean_s(f: RunFigures) -> float | None:
    """The mean over time of the age of the oldest delete file; 0 while there is none.

    Until the next commit the age grows by a commit interval, by half of one on average. None without deletes.
    """
    if not has_deletes(f):
        return None
    left, interval_ms = as_left(f.run), f.run.manifest.commit_interval_ms
    ages_ms = left.column("at_ms") - left.column("oldest_delete_at_ms") + interval_ms / 2
    return known_mean(np.where(left.column("delete_files_count") > 0, ages_ms, 0.0) / 1000)


def has_deletes(f: RunFigures) -> bool:
    """Whether the stream updates or deletes rows, or delete files were observed."""
    return f.run.manifest.is_cdc or bool(f.observed.column("delete_files_count").any())


def overlapped_commits(f: RunFigures) -> float | None:
    longest_s = f.compactions.column("wall_s").max(initial=0.0)
    return float(1000 * longest_s * f.run.manifest.speed / f.run.manifest.commit_interval_ms)


def duty_cycle(f: RunFigures) -> float:
    return total(f.compactions.column("wall_s")) / (f.run.manifest.lasted_ms / 1000)
