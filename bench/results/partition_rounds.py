"""Which partitions the compactions of a run took, how long others waited, and what that costs readers."""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from bench.results.arithmetic import all_known
from bench.results.folders import RunResult
from bench.results.records import CompactionRecord, ObserveRecord
from bench.results.table_content import as_left
from bench.results.tables import Records, is_none


@dataclass(frozen=True, slots=True)
class Round:
    """A compaction, including one that had nothing to do.

    `taken` are the partitions it compacted, `left` the other partitions that had delete or log files before.
    """

    taken: frozenset[str]
    left: frozenset[str]


def is_known(run: RunResult) -> bool:
    """Whether the run recorded which partitions wait and are compacted: there may be too many to name."""
    committed = run.of(CompactionRecord).having(status="ok").column("partitions")
    waiting = run.of(ObserveRecord).column("delete_bytes_by_partition")
    return not is_none(committed).any() and not is_none(waiting).any()


def rounds(run: RunResult) -> Iterator[Round]:
    """The compactions of a run in order, without failed ones and ones that do not name their partitions."""
    observed, counted = run.of(ObserveRecord), _counted(run)
    waiting = [frozenset(sizes or ()) for sizes in observed.column("delete_bytes_by_partition").tolist()]
    places = np.searchsorted(observed.serials, counted.serials)
    for place, partitions in zip(places.tolist(), counted.column("partitions").tolist(), strict=True):
        taken = frozenset(partitions)
        yield Round(taken, waiting[place - 1] - taken if place else frozenset())


def _counted(run: RunResult) -> Records[CompactionRecord]:
    compactions = run.of(CompactionRecord)
    status = compactions.column("status")
    is_done = (status == "ok") | (status == "noop")
    return compactions.where(is_done & ~is_none(compactions.column("partitions")))


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
    for _, at_ms, planned_at_ms, partitions in heapq.merge(_waits(run), _compacted(run)):
        if partitions is None:
            return None
        if planned_at_ms is None:
            ended = (since_ms[name] for name in since_ms.keys() - partitions)
            longest = max(longest, *(Wait(at_ms - began_ms) for began_ms in ended), Wait())
            since_ms = {name: since_ms.get(name, at_ms) for name in partitions}
        else:
            for name in since_ms.keys() & partitions:
                longest = max(longest, Wait(at_ms - since_ms[name]))
                since_ms[name] = planned_at_ms
    end_ms = run.manifest.duration_ms
    return max(longest, *(Wait(end_ms - began_ms, True) for began_ms in since_ms.values()), Wait())


_Event = tuple[int, int, int | None, frozenset[str] | None]


def _waits(run: RunResult) -> Iterator[_Event]:
    """Serial number and time of each observation, None, and the partitions that wait."""
    observed = run.of(ObserveRecord)
    sizes = observed.column("delete_bytes_by_partition").tolist()
    waiting = (None if of_partition is None else frozenset(of_partition) for of_partition in sizes)
    times_ms = observed.column("at_ms").tolist()
    return zip(observed.serials.tolist(), times_ms, [None] * len(sizes), waiting, strict=True)


def _compacted(run: RunResult) -> Iterator[_Event]:
    """Serial number and time of each counted compaction, when it was planned, and its partitions."""
    counted = _counted(run)
    times_ms = (counted.column(name).tolist() for name in ("at_ms", "scheduled_at_ms"))
    partitions = map(frozenset, counted.column("partitions").tolist())
    return zip(counted.serials.tolist(), *times_ms, partitions, strict=True)


def read_bytes(run: RunResult) -> Mapping[str, float]:
    """The bytes of data, delete and log files of each partition, mean over time since its first file.

    A query of a whole partition reads them. Empty if they are not recorded.
    """
    left = as_left(run)
    data_bytes = all_known(left.column("data_bytes_by_partition").tolist())
    delete_bytes = all_known(left.column("delete_bytes_by_partition").tolist())
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
    waiting = (run.of(ObserveRecord).column("delete_bytes_by_partition").tolist() for run in runs.values())
    waited = {name for of_run in waiting for sizes in of_run for name in sizes or ()}
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
    known = all_known(as_left(run).column("delete_bytes_by_partition").tolist())
    return fmean(sum(sizes.values()) for sizes in known) if known else None
