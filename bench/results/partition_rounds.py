"""Which partitions the compactions of a run took, which they left waiting, and what that does to readers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from bench.results.folders import RunResult
from bench.results.records import CompactionRecord, ObserveRecord


@dataclass(frozen=True, slots=True)
class Round:
    """A compaction, also one with nothing to do.

    Of the partitions that had delete or log files before it some were `taken`, all others `left`.
    """

    at_ms: int
    taken: frozenset[str]
    left: frozenset[str]


def rounds(run: RunResult) -> tuple[Round, ...]:
    """The compactions of a run in order, without those that failed or whose partitions are not recorded."""
    return tuple(_rounds(run))


def _rounds(run: RunResult) -> Iterator[Round]:
    waiting: frozenset[str] = frozenset()
    for record in run.records:
        if isinstance(record, ObserveRecord):
            waiting = frozenset(record.delete_bytes or ())
        elif isinstance(record, CompactionRecord) and _is_counted(record):
            taken = frozenset(record.partitions or ())
            yield Round(record.at_ms, taken, waiting - taken)


def _is_counted(record: CompactionRecord) -> bool:
    return record.status in ("ok", "noop") and record.partitions is not None


def never_taken(done: Sequence[Round]) -> frozenset[str]:
    """The partitions that the last round left and no round has taken."""
    return done[-1].left.difference(*(each.taken for each in done)) if done else frozenset()


def rounds_to_drain(done: Sequence[Round]) -> int | None:
    """After how many rounds all partitions that waited at the first one had been taken; None if not all."""
    if not done:
        return None
    waiting = done[0].taken | done[0].left
    for count, each in enumerate(done, 1):
        waiting -= each.taken
        if not waiting:
            return count
    return None


def longest_wait(done: Sequence[Round]) -> int:
    """The most rounds in succession that left a partition waiting."""
    waits: dict[str, int] = {}
    longest = 0
    for each in done:
        waits = {name: waits.get(name, 0) + 1 for name in each.left}
        longest = max(longest, *waits.values(), 0)
    return longest


def rounds_alike(one: Sequence[Round], other: Sequence[Round]) -> tuple[int, int]:
    """In how many rounds at the same times both took the same partitions, and the number of such times."""
    others = {each.at_ms: each.taken for each in other}
    common = [(each.taken, others[each.at_ms]) for each in one if each.at_ms in others]
    return sum(mine == theirs for mine, theirs in common), len(common)


def read_amplification(run: RunResult) -> Mapping[str, float]:
    """By partition the mean over commits of (data + delete and log bytes) / data bytes.

    What a reader of the whole partition reads for each byte that it would read of a table just compacted. The
    initial load does not count. A partition is named if it had data files and, at some time, delete or log
    files.
    """
    seen = [
        (record.data_bytes_beside, record.delete_bytes or {})
        for record in run.of(ObserveRecord)
        if record.after == "commit" and record.data_bytes_beside is not None
    ]
    names = {name for data, _ in seen for name, size_bytes in data.items() if size_bytes}
    return {
        name: fmean(1 + deletes[name] / data[name] if data.get(name) else 1.0 for data, deletes in seen)
        for name in sorted(names)
    }


def waiting_bytes_mean(run: RunResult) -> float | None:
    """The mean over commits of all delete and log bytes, as compactions of their ticks find them."""
    seen = [
        sum(record.delete_bytes.values())
        for record in run.of(ObserveRecord)
        if record.after == "commit" and record.delete_bytes is not None
    ]
    return fmean(seen) if seen else None
