"""When concurrent compactions took effect."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from bench.results.records import CompactionRecord, ObserveRecord


def landed(records: Sequence[Any]) -> tuple[Any, ...]:
    """The records of a run, with concurrent compactions dated to when their effect was observed.

    Such a compaction is recorded when the replay waits for its end, up to the rule's delay later, although
    queries have read its files since. So its time and the table after it are taken from the first observation
    that began after its end, usually at the next commit, and the table before it from the observation before.
    """
    observed = [record for record in records if isinstance(record, ObserveRecord)]
    starts_s = [record.span.started_s for record in observed if record.span is not None]
    if len(starts_s) < len(observed):
        return tuple(records)
    return tuple(
        _landed(record, observed, starts_s)
        if isinstance(record, CompactionRecord) and record.is_beside_stream
        else record
        for record in records
    )


def _landed(
    compaction: CompactionRecord, observed: Sequence[ObserveRecord], starts_s: Sequence[float]
) -> CompactionRecord:
    """The compaction unchanged if the table was not observed on both sides of its end."""
    if compaction.span is None:
        return compaction
    place = bisect_left(starts_s, compaction.span.ended_s)
    if not 0 < place < len(observed):
        return compaction
    before, after = observed[place - 1], observed[place]
    return compaction.model_copy(
        update={
            "tick": after.tick,
            "at_ms": after.at_ms,
            "before": before.table.live,
            "after": after.table.live,
        }
    )
