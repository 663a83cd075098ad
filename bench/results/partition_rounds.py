"""Which partitions the compactions of a run took, how long others waited, and what that costs readers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from bench.results.arithmetic import all_known
from bench.results.folders import RunResult
from bench.results.records import CompactionRecord, ObserveRecord
from bench.results.table_content import as_left


@dataclass(frozen=True, slots=True)
class Round:
    """A compaction, including one that had nothing to do.

    `taken` are the partitions it compacted, `left` the other partitions that had delete or log files before.
    """

    taken: frozenset[str]
    left: frozenset[str]


def is_known(run: RunResult) -> bool:
    """Whether the run recorded which partitions wait and are compacted: there may be too many to name."""
    return all(
        record.table.delete_bytes_by_partition is not None for record in run.of(ObserveRecord)
    ) and all(record.partitions is not None for record in run.of(CompactionRecord) if record.status == "ok")


def rounds(run: RunResult) -> Iterator[Round]:
    """The compactions of a run in order, without failed ones and ones that do not name their partitions."""
    waiting: frozenset[str] = frozenset()
    for record in run.records:
        if isinstance(record, ObserveRecord):
            waiting = frozenset(record.table.delete_bytes_by_partition or ())
        elif isinstance(record, CompactionRecord) and _is_counted(record):
            taken = frozenset(record.partitions or ())
            yield Round(taken, waiting - taken)


def _is_counted(record: CompactionRecord) -> bool:
    return record.status in ("ok", "noop") and record.partitions is not None


def never_taken(done: Sequence[Round]) -> frozenset[str]:
    """The partitions that the last round left and no round took."""
    return done[-1].left.difference(*(round_.taken for round_ in done)) if done else frozenset()


@dataclass(frozen=True, slots=True, order=True)
class Wait:
    """How long, in scenario milliseconds, a partition had delete or log files before it was compacted.

    `is_open` if it still had them at the end of the run, so that the wait is at least that long.
    """

    wait_ms: int = 0
    is_open: bool = False


def longest_wait(run: RunResult) -> Wait | None:
    """The longest wait of a partition; None if waiting partitions are not recorded.

    The next wait of a compacted partition begins when the compaction was planned, not when it ended: files
    added in between have waited since.
    """
    since_ms: dict[str, int] = {}
    longest = Wait()
    for record in run.records:
        if isinstance(record, ObserveRecord):
            waiting = record.table.delete_bytes_by_partition
            if waiting is None:
                return None
            ended = (since_ms[name] for name in since_ms.keys() - waiting.keys())
            longest = max(longest, *(Wait(record.at_ms - began_ms) for began_ms in ended), Wait())
            since_ms = {name: since_ms.get(name, record.at_ms) for name in waiting}
        elif isinstance(record, CompactionRecord) and _is_counted(record):
            for name in since_ms.keys() & set(record.partitions or ()):
                longest = max(longest, Wait(record.at_ms - since_ms[name]))
                since_ms[name] = record.scheduled_at_ms
    end_ms = run.manifest.duration_ms
    return max(longest, *(Wait(end_ms - began_ms, True) for began_ms in since_ms.values()), Wait())


def read_bytes(run: RunResult) -> Mapping[str, float]:
    """The bytes of data, delete and log files of each partition, mean over time since its first file.

    A query of a whole partition reads them. Empty if they are not recorded.
    """
    left = as_left(run)
    data_bytes = all_known(record.table.data_bytes_by_partition for record in left)
    delete_bytes = all_known(record.table.delete_bytes_by_partition for record in left)
    if data_bytes is None or delete_bytes is None:
        return {}
    sizes: dict[str, list[int]] = {}
    for data, deletes in zip(data_bytes, delete_bytes, strict=True):
        for name in data.keys() | deletes.keys():
            sizes.setdefault(name, []).append(data.get(name, 0) + deletes.get(name, 0))
    return {name: fmean(sizes[name]) for name in sorted(sizes)}


def read_amplification(runs: Mapping[str, RunResult]) -> Mapping[str, Mapping[str, float]]:
    """By strategy and partition: `read_bytes` / the least `read_bytes` of the partition under any strategy.

    Only of partitions that had delete or log files under any of the strategies.
    """
    read = {label: read_bytes(run) for label, run in runs.items()}
    observed = (record.table for run in runs.values() for record in run.of(ObserveRecord))
    waited = {name for table in observed for name in table.delete_bytes_by_partition or ()}
    least = {
        name: min(sizes[name] for sizes in read.values() if name in sizes)
        for name in sorted(waited)
        if any(name in sizes for sizes in read.values())
    }
    return {
        label: {name: sizes[name] / least[name] for name in least if name in sizes and least[name]}
        for label, sizes in read.items()
    }


def waiting_bytes_mean(run: RunResult) -> float | None:
    """Bytes of all delete and log files, mean over time; None if some are not recorded."""
    known = all_known(record.table.delete_bytes_by_partition for record in as_left(run))
    return fmean(sum(sizes.values()) for sizes in known) if known else None
