"""Whether Amoro optimizes a partition, with which type, why, and at what cost.

Source: upstream `CommonPartitionEvaluator` (isNecessary, getOptimizingType, getCost) and
`MetadataBasedEvaluationEvent` at 96a4d78.
"""

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from strategies.amoro.clocks import STREAM_BEGIN_MS, Clocks, OptimizingType
from strategies.amoro.evaluation import FileClass, Partition
from strategies.amoro.options import Settings
from strategies.java_values import MAX_INT, MAX_LONG
from strategies.plan import Reason
from strategies.state import TableState


class Condition(StrEnum):
    """The conditions under which Amoro optimizes a partition, in the order it checks them."""

    FULL = "full_interval"
    ENOUGH_CONTENT = "enough_content"
    SEGMENT = "dup_ratio"
    FRAGMENTS = "fragment_count"
    INTERVAL = "interval"
    COMBINE = "combine_pos"


REASONS: Mapping[Condition, Reason] = {
    Condition.FULL: Reason.INTERVAL,
    Condition.ENOUGH_CONTENT: Reason.SIZE,
    Condition.SEGMENT: Reason.DELETES,
    Condition.FRAGMENTS: Reason.SMALL_FILES,
    Condition.INTERVAL: Reason.INTERVAL,
    Condition.COMBINE: Reason.DELETES,
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A partition to optimize: the type, each condition that fired with its figures, and the cost."""

    partition: Partition
    optimizing_type: OptimizingType
    fired: tuple[tuple[Condition, str], ...]
    cost_bytes: int


def is_worth_a_scan(state: TableState, settings: Settings, clocks: Clocks) -> bool:
    """Whether the totals of the snapshot summary justify an evaluation of the table's files.

    A table of large files without deletes is skipped until the fallback interval has passed since the last
    plan, even one without tasks; for a partition it counts from the last process. Without a fallback interval
    (below 0) it counts as passed, so every table is evaluated.
    """
    if clocks.plan_ms >= settings.fallback_interval_ms:
        return True
    count = len(state.data_files)
    if count == 0 or state.delete_files:
        return count > 0
    return sum(file.size_bytes for file in state.data_files) / count <= settings.min_target_bytes


def decide_partition(partition: Partition, settings: Settings, clocks: Clocks) -> Candidate | None:
    """How a partition is optimized; None if it is left alone.

    If FULL is due, no other condition is checked: a partition with nothing for a FULL to do is left alone
    even where MAJOR or MINOR would have found work.
    """
    if not clocks.is_fallback_reached(settings) and not _passes_gate(partition, settings):
        return None
    if clocks.is_full_due(settings):
        optimizing_type, fired = OptimizingType.FULL, tuple(_full(partition, settings, clocks))
    else:
        major = tuple(_major(partition, settings))
        optimizing_type = OptimizingType.MAJOR if major else OptimizingType.MINOR
        fired = (*major, *_minor(partition, settings, clocks))
    return Candidate(partition, optimizing_type, fired, cost_bytes(partition, settings)) if fired else None


def cost_bytes(partition: Partition, settings: Settings) -> int:
    """Amoro's estimate of what optimizing the partition costs, by which it ranks partitions within a budget.

    Writing a byte costs as much as reading it, a conversion reads a tenth of a file, and every file adds a
    fixed cost for opening it. 40 fragments of 6 KB cost 2 x 240,000 + 40 x 4 MiB. Undersized files and their
    deletes count even if no task takes them.
    """
    rewritten = (FileClass.FRAGMENT, FileClass.SEGMENT, FileClass.UNDERSIZED)
    positions = partition.sums[FileClass.POSITIONS]
    opened_count = (
        partition.counted.files_count + partition.position.files_count + partition.equality.files_count
    )
    return (
        2 * sum(partition.sums[file_class].size_bytes for file_class in rewritten)
        + positions.size_bytes // 10
        + partition.position.size_bytes
        + partition.equality.size_bytes
        + opened_count * settings.open_file_cost_bytes
    )


def _full(partition: Partition, settings: Settings, clocks: Clocks) -> Iterator[tuple[Condition, str]]:
    deletes_count = partition.equality.files_count + partition.position.files_count
    if (
        deletes_count > 0
        or partition.count(FileClass.FRAGMENT) >= 2
        or partition.count(FileClass.UNDERSIZED) >= 2
        or partition.count(FileClass.SEGMENT) > 0
        or partition.count(FileClass.POSITIONS) > 0
    ):
        yield Condition.FULL, f"{_since(clocks.full_ms, 'full')} > {settings.full_interval_ms} ms"


def _major(partition: Partition, settings: Settings) -> Iterator[tuple[Condition, str]]:
    undersized_bytes = partition.sums[FileClass.UNDERSIZED].size_bytes
    smallest_bytes = _smallest_two(s.file.size_bytes for s in partition.files[FileClass.UNDERSIZED])
    if undersized_bytes >= settings.target_bytes and smallest_bytes <= settings.target_bytes:
        yield (
            Condition.ENOUGH_CONTENT,
            f"undersized {undersized_bytes} B >= {settings.target_bytes} B >= least two {smallest_bytes} B",
        )
    segments_count = partition.count(FileClass.SEGMENT)
    if segments_count > 0:
        yield Condition.SEGMENT, f"{segments_count} files with deleted rows > {settings.duplicate_ratio}"


def _minor(partition: Partition, settings: Settings, clocks: Clocks) -> Iterator[tuple[Condition, str]]:
    small = (
        f"{partition.count(FileClass.FRAGMENT)} fragments + {partition.equality.files_count} equality deletes"
    )
    if partition.small_count >= settings.minor_files_count:
        yield Condition.FRAGMENTS, f"{small} >= {settings.minor_files_count}"
    elif partition.small_count > 1 and clocks.is_minor_due(settings):
        since = f"{_since(clocks.minor_ms, 'minor')} > {settings.minor_interval_ms} ms"
        yield Condition.INTERVAL, f"{small} > 1 and {since}"
    combined_count = sum(s.position_count >= 2 for s in partition.files[FileClass.POSITIONS])
    if combined_count > 0:
        yield Condition.COMBINE, f"{combined_count} files with two or more position deletes"


def _passes_gate(partition: Partition, settings: Settings) -> bool:
    """Whether the partition has enough small files to be evaluated before the fallback interval has passed.

    Deletes do not count. The error is the mean squared shortfall of the files from the minimum target size.
    Upstream sums it in a long that saturates, and takes the mean and the squared tolerance as doubles. With a
    negative tolerance upstream does not compute the sum, so the error is 0 and the gate stays closed.
    """
    count = partition.count(FileClass.FRAGMENT) + partition.count(FileClass.UNDERSIZED)
    tolerance_bytes = settings.mse_tolerance_bytes
    if count <= 1 or tolerance_bytes == 0:
        return count > 1
    error = _squared_error(partition, settings.min_target_bytes) if tolerance_bytes > 0 else 0
    return float(error) / count >= float(tolerance_bytes) * float(tolerance_bytes)


def _squared_error(partition: Partition, min_target_bytes: int) -> int:
    sizes = (s.file.size_bytes for files in partition.files.values() for s in files)
    return min(MAX_LONG, sum(max(min_target_bytes - size, 0) ** 2 for size in sizes))


def _smallest_two(sizes: Iterable[int]) -> int:
    """The sum of the two smallest sizes, upstream's `min1` and `min2`.

    Upstream initializes both with `Integer.MAX_VALUE`, so it misjudges targets of 2 GiB and more. So do we.
    """
    return sum(heapq.nsmallest(2, (MAX_INT, MAX_INT, *sizes)))


def _since(elapsed_ms: int, name: str) -> str:
    return f"no {name} yet" if elapsed_ms >= STREAM_BEGIN_MS else f"{elapsed_ms} ms since {name}"
