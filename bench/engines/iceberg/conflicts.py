"""Which commits Iceberg refuses, because of what others have committed since they were planned.

Iceberg validates each commit against the snapshots since the one that it was planned on, and never tries it
again. So the later commit is the one that loses. MERGE has the default isolation level, serializable.
Source: MergingSnapshotProducer, BaseRewriteFiles and BaseRowDelta of 1.11.0, and SparkPositionDeltaWrite and
SparkWrite of its runtime for Spark 3.5. A table of all pairs is in docs/real-clock.md.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from bench.engines.iceberg.table_keys import COPY_ON_WRITE, MERGE_ON_READ


class Kind(StrEnum):
    """A kind of commit, by how Iceberg validates it."""

    APPEND = "append"
    EQUALITY_DELETES = "equality deletes"  # as Flink upserts
    MERGE_ON_READ = MERGE_ON_READ
    COPY_ON_WRITE = COPY_ON_WRITE
    REWRITE = "rewrite"  # of data files, or of their deletes alone
    RENEWAL = "renewal"  # a rewrite whose files get the sequence number of its commit


_REWRITES = (Kind.REWRITE, Kind.RENEWAL)
_ADDING = frozenset(Kind).difference(_REWRITES)  # operations "append" and "overwrite", which add rows
_MERGES = (Kind.MERGE_ON_READ, Kind.COPY_ON_WRITE)


@dataclass(frozen=True, slots=True)
class Effect:
    """What a commit does to files that were there before, by their paths, or the keys of delete files.

    It removes some, puts position deletes on the data files that are `marked`, and equality deletes that may
    apply to those that are `hit`.
    """

    kind: Kind
    removed: frozenset[str] = frozenset()
    marked: frozenset[str] = frozenset()
    hit: frozenset[str] = frozenset()


def conflict_between(own: Effect, others: Iterable[Effect]) -> str | None:
    """Why a commit fails that was planned before others committed, in Iceberg's words; None if it does not.

    Not covered: position deletes that do not name their data file, which concern each file of a partition,
    snapshots that have been expired since, and the bounds by which equality deletes leave files out.
    """
    if own.kind not in (*_MERGES, *_REWRITES):
        return None
    return next(filter(None, (_conflict_with(own, other) for other in others)), None)


def _conflict_with(own: Effect, other: Effect) -> str | None:
    if own.kind in _MERGES and other.kind in _ADDING:
        return "found conflicting files that can contain matching records"
    gone = sorted((own.removed | own.marked) & other.removed)
    if gone:
        missing = "data files" if own.kind is Kind.MERGE_ON_READ else "required files to delete"
        return f"missing {missing}: {gone[0]}"
    if own.kind is Kind.MERGE_ON_READ and other.marked:
        return "found new conflicting delete files that can apply to matching records"
    if own.kind is Kind.RENEWAL and (changed := sorted(own.removed & (other.marked | other.hit))):
        return f"found new delete for replaced data file: {changed[0]}"
    marked = sorted(own.removed & other.marked)
    return f"found new position delete for replaced data file: {marked[0]}" if marked else None
