"""The figures of one run: pure arithmetic over its records. A figure that does not apply is None, never 0."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from bench.results.folders import RunResult
from bench.results.records import (
    CommitRecord,
    CompactionRecord,
    DecisionRecord,
    MaintenanceRecord,
    ObserveRecord,
    QueryRecord,
)

DEGRADATION_BLOCK_PROBES = 10
GB = 10**9
HEALTH_SCORE = "health_score"  # a figure planners may report of the table
IDLE_PLANNER = "never"  # registered name of the planner that never plans


@dataclass(frozen=True, slots=True)
class RunFigures:
    """The records of one run, selected once for the formulas below."""

    run: RunResult
    commits: tuple[CommitRecord, ...]
    cadence: tuple[QueryRecord, ...]  # the primary query at its fixed cadence
    compactions: tuple[CompactionRecord, ...]
    maintenance: tuple[MaintenanceRecord, ...]
    observed: tuple[ObserveRecord, ...]
    fired: tuple[DecisionRecord, ...]  # evaluations whose trigger fired, except those of `never`

    @property
    def effective(self) -> tuple[CompactionRecord, ...]:
        """Compactions that committed."""
        return tuple(c for c in self.compactions if c.status == "ok")


def figures(run: RunResult) -> RunFigures:
    """The records of a run by use. The initial load and commits without rows are left out."""
    queries = run.of(QueryRecord)
    return RunFigures(
        run=run,
        commits=tuple(c for c in run.of(CommitRecord) if c.status == "ok" and not c.is_initial and c.rows),
        cadence=tuple(q for q in queries if q.primary and q.status == "ok" and q.when == "cadence"),
        compactions=tuple(c for c in run.of(CompactionRecord) if c.tick),
        maintenance=run.of(MaintenanceRecord),
        observed=run.of(ObserveRecord),
        fired=tuple(d for d in run.of(DecisionRecord) if d.status != "not_due" and d.planner != IDLE_PLANNER),
    )


def total(values: Iterable[float]) -> float:
    """The sum as a float."""
    return float(sum(values))


def mean(values: Sequence[float]) -> float | None:
    """The mean; None if there are no values."""
    return fmean(values) if values else None


def mean_of_known(values: Sequence[float | None]) -> float | None:
    """The mean, None where one of them is not known: a mean of the others would be of other queries."""
    known = [value for value in values if value is not None]
    return mean(known) if len(known) == len(values) else None


def percentile(values: Sequence[float], percent: float) -> float | None:
    """Linear interpolation between closest ranks (numpy's default); None if there are no values."""
    return float(np.percentile(values, percent)) if values else None


def ratio(above: float, below: float) -> float | None:
    """`above / below`; None if `below` is 0."""
    return above / below if below else None


def count_with_status(*statuses: str) -> Callable[[RunFigures], float]:
    """How many compactions ended with one of these statuses."""
    return lambda f: float(sum(c.status in statuses for c in f.compactions))


def ineffective(f: RunFigures) -> float:
    """Effective compactions that replaced data files and left as many data files, delete files and rows.

    Such a compaction may be planned forever (apache/amoro issue 3855). One that applies deletes leaves fewer
    rows; one that only converts equality deletes replaces no data file.
    """
    return float(sum(_is_ineffective(c) for c in f.effective))


def _is_ineffective(c: CompactionRecord) -> bool:
    same_deletes = c.delete_files_removed_count == c.delete_files_added_count
    # Around an inline compaction the table was observed together with the commit that ran it.
    is_known = not c.is_inline and c.rows_before == c.rows_after
    return c.files_removed_count == c.files_added_count > 0 and same_deletes and is_known


def noop_evaluations(f: RunFigures) -> float | None:
    """Evaluations whose trigger fired without a plan; None if no trigger fired, not counting `never`."""
    return float(sum(d.status == "nothing_to_do" for d in f.fired)) if f.fired else None


def pending_mean_s(f: RunFigures) -> float | None:
    """Scenario seconds between a decision and its commit; 0 where the scenario has no compaction delay."""
    return mean([(c.at_ms - c.scheduled_at_ms) / 1000 for c in f.effective])


def since_compaction_mean_s(f: RunFigures) -> float | None:
    """At each commit, scenario seconds since the last effective compaction before it, or since 0."""
    ends = [0, *sorted(c.at_ms for c in f.effective)]
    return mean([(c.at_ms - ends[bisect_left(ends, c.at_ms, lo=1) - 1]) / 1000 for c in f.commits])


def health_scores(f: RunFigures) -> list[float]:
    """The scores that planners reported, in order; user-defined planners may report one too."""
    scores = [(d.figures or {}).get(HEALTH_SCORE) for d in f.fired]
    return [score for score in scores if score is not None]


def deletes_end(field: str) -> Callable[[RunFigures], float | None]:
    """The number of delete files, or of their rows, at the end; None where deletes do not occur."""
    return lambda f: mean(_deletes(f, f.observed[-1:], field))


def deletes_mean(field: str) -> Callable[[RunFigures], float | None]:
    """The mean of the same after each commit, before any compaction due then."""
    return lambda f: mean(_deletes(f, [o for o in f.observed if o.after == "commit"], field))


def _deletes(f: RunFigures, observations: Sequence[ObserveRecord], field: str) -> list[float]:
    """A field of the observations; empty where deletes do not occur or an observation lacks the field."""
    values = [getattr(o, field) for o in observations] if has_deletes(f) else []
    return [] if None in values else values


def has_deletes(f: RunFigures) -> bool:
    """Whether the stream updates or deletes rows, or delete files were observed."""
    return f.run.manifest.is_cdc or any(o.delete_files_count for o in f.observed)


def latencies_s(f: RunFigures) -> list[float]:
    """Wall seconds of the primary query at its cadence, in order."""
    return [q.wall_s for q in f.cadence]


def commit_added_bytes(f: RunFigures) -> float:
    """Bytes of data and delete files written by the commits of the stream."""
    return total(c.added_bytes for c in f.commits)


def compaction_added_bytes(f: RunFigures) -> float:
    """Bytes of data and delete files written by compaction."""
    return total(c.added_bytes for c in f.compactions)


def write_amplification(f: RunFigures) -> float | None:
    """Bytes written per byte of the change log, without metadata."""
    return ratio(
        commit_added_bytes(f) + compaction_added_bytes(f), total(c.ingested_bytes for c in f.commits)
    )


def read_amplification(queries: Sequence[QueryRecord]) -> float | None:
    """Mean of the bytes a query opened per live byte; None unless it is known of every one."""
    return mean_of_known(
        [None if q.opened_bytes is None else q.opened_bytes / q.live_bytes for q in queries if q.live_bytes]
    )


def space_amplification(f: RunFigures) -> float | None:
    """Bytes on storage per live byte, at the end."""
    return ratio(f.observed[-1].storage_bytes, f.observed[-1].live_bytes) if f.observed else None


def degradation_rate(latencies_s: Sequence[float]) -> float | None:
    """Mean relative change between medians of successive blocks of 10 queries; None below two blocks.

    Source: S_DR of LST-Bench (Camacho-Rodríguez et al., SIGMOD 2024, section 4), over blocks of queries
    instead of its phases. A last block of fewer than 10 queries is left out.
    """
    count = len(latencies_s) // DEGRADATION_BLOCK_PROBES
    blocks = np.asarray(latencies_s[: count * DEGRADATION_BLOCK_PROBES]).reshape(
        count, DEGRADATION_BLOCK_PROBES
    )
    medians = np.median(blocks, axis=1) if count else np.array([])
    if len(medians) < 2 or not np.all(medians[:-1] > 0):
        return None
    return float(np.mean(np.diff(medians) / medians[:-1]))


def gb_hours(f: RunFigures) -> float:
    """Memory of the compacting process (decimal GB) x compaction hours."""
    return f.run.manifest.memory_bytes / GB * total(c.wall_s for c in f.compactions) / 3600


def overlapped_commits(f: RunFigures) -> float | None:
    """Duration of the longest compaction in commit intervals."""
    longest_s = max((c.wall_s for c in f.compactions), default=0.0)
    return 1000 * longest_s / f.run.manifest.commit_interval_ms


def duty_cycle(f: RunFigures) -> float:
    """Compaction seconds per second of scenario time; above 1, no compactor could keep up."""
    return total(c.wall_s for c in f.compactions) / (f.run.manifest.duration_ms / 1000)


def metadata_bytes(f: RunFigures) -> float:
    """Metadata bytes written by the stream, compactions and maintenance."""
    return (
        total(c.metadata_bytes for c in f.commits)
        + total(c.metadata_bytes for c in f.compactions)
        + total(m.metadata_bytes for m in f.maintenance)
    )


def storage_requests(f: RunFigures) -> float | None:
    """Files opened or written by commits, compactions and the primary query at its cadence.

    None unless it is known of every query what it opened.
    """
    opened = [_opened_files(q) for q in f.cadence]
    known = [count for count in opened if count is not None]
    if len(known) < len(opened):
        return None
    written = total(
        c.files_added_count + c.delete_files_added_count + c.metadata_files_count for c in f.commits
    )
    compacted = total(
        c.files_removed_count + c.files_added_count + c.delete_files_removed_count
        + c.delete_files_added_count + c.metadata_files_count
        for c in f.compactions
    )  # fmt: skip
    return written + compacted + total(known)


def _opened_files(query: QueryRecord) -> int | None:
    counts = (query.files_count, query.delete_files_count, query.metadata_files_count)
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def storage_request_model_s(f: RunFigures) -> float | None:
    """Modelled: requests x the scenario's seconds per request; None if either is not known."""
    price_s, requests = f.run.manifest.request_price_s, storage_requests(f)
    return None if price_s is None or requests is None else price_s * requests


def compaction_money(f: RunFigures) -> float | None:
    """GB-hours x the scenario's price; None if it sets none."""
    price = f.run.manifest.price_per_gb_hour
    return None if price is None else price * gb_hours(f)
