"""When compactions beside the stream took effect."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from bench.results.records import CompactionRecord, ObserveRecord


def landed(records: Sequence[Any]) -> tuple[Any, ...]:
    """The records of a run, with each compaction beside the stream where its effect was first observed.

    The stream writes the record of such a compaction when it waits for its end, which is up to the rule's
    delay later: queries have met its files since. So its time, and the table after it, are those of the first
    observation that began once it had ended, usually that of the next commit; the table before it is that
    of the observation before.
    """
    looks = [one for one in records if isinstance(one, ObserveRecord)]
    began_s = [one.started_s for one in looks if one.started_s is not None]
    if len(began_s) < len(looks):
        return tuple(records)
    return tuple(_landed(one, looks, began_s) if _is_beside(one) else one for one in records)


def _is_beside(record: Any) -> bool:
    return isinstance(record, CompactionRecord) and record.is_shared and not record.is_inline


def _landed(
    compaction: CompactionRecord, looks: Sequence[ObserveRecord], began_s: Sequence[float]
) -> CompactionRecord:
    """As it is if the table was not observed on both sides of its end."""
    if compaction.ended_s is None:
        return compaction
    place = bisect_left(began_s, compaction.ended_s)
    if not 0 < place < len(looks):
        return compaction
    before, after = looks[place - 1], looks[place]
    return compaction.model_copy(update={
        "tick": after.tick, "at_ms": after.at_ms,
        "files_before_count": before.data_files_count, "files_after_count": after.data_files_count,
        "delete_files_before_count": before.delete_files_count,
        "delete_files_after_count": after.delete_files_count, "delete_rows_after": after.delete_rows,
        "equality_files_after_count": after.equality_files_count,
        "rows_before": before.rows, "rows_after": after.rows,
        "live_before_bytes": before.live_bytes, "live_after_bytes": after.live_bytes,
    })  # fmt: skip
