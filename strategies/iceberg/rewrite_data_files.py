"""Which files Iceberg's `rewrite_data_files` rewrites, and in which groups.

Partitions come in the order of the state's data files; in Iceberg they come in that of a hash map. The order
matters only if `max-files-to-rewrite` limits the plan.

Source: Iceberg BinPackRewriteFilePlanner and SizeBasedFileRewritePlanner at 1.11.0.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from strategies.iceberg.deletes.index import delete_index
from strategies.iceberg.files import IcebergDataFile, IcebergState
from strategies.iceberg.packing import pack
from strategies.iceberg.rewrite_options import JobOrder, RewriteOptions
from strategies.iceberg.scan_tasks import FileScan, lookback_of, scan_task_groups
from strategies.partitions import fields_of, is_null
from strategies.preview import DeleteGroup, Preview, RewriteGroup, ScanTaskGroup, equal_shares
from strategies.series import Run, files_of, runs_of

Group = TypeVar("Group", RewriteGroup, DeleteGroup)
_Group = tuple[str, Sequence[FileScan]]  # partition and files


def plan_rewrite(state: IcebergState, options: RewriteOptions) -> Preview:
    """The groups that a rewrite with `options` would form in the table's current state."""
    planned = [
        (partition, group)
        for partition, scans in _by_partition(state).items()
        for group in _groups(scans, options)
    ]
    limited = planned if options.max_files is None else _first_files(planned, options.max_files)
    lookback = lookback_of(state.properties)
    groups = [rewrite_group(partition, group, options, lookback) for partition, group in limited]
    excluded_count = len(planned) - len(groups)
    return Preview(tuple(ordered(groups, options.job_order)), excluded_groups_count=excluded_count)


def _by_partition(state: IcebergState) -> dict[str, list[FileScan]]:
    """Files with deletes are taken one by one, by iteration: after it a table finds them by their paths."""
    deletes = delete_index(state)
    buckets: dict[str, list[FileScan]] = defaultdict(list)
    names: dict[tuple[int, str], str] = {}
    files: Iterable[Run[IcebergDataFile]]
    files = runs_of(state.data_files) if deletes.is_empty else state.data_files
    for run in files:
        file = run.first
        place = file.spec_id, file.partition
        if place not in names:
            names[place] = bucket_of(file, state.spec_id)
        buckets[names[place]].append(FileScan(run, deletes.applying_to(file)))
    return buckets


def bucket_of(file: IcebergDataFile, spec_id: int) -> str:
    """The partition that a file is planned in, where `spec_id` is the table's current spec.

    Iceberg plans all files of other specs together, under an empty partition tuple. The values of an empty
    tuple are nulls too, so files whose partition values are all null land in the same bucket.
    """
    is_all_null = all(map(is_null, fields_of(file.partition).values()))
    return "" if file.spec_id != spec_id or is_all_null else file.partition


def _groups(scans: Iterable[FileScan], options: RewriteOptions) -> Iterator[list[FileScan]]:
    """The groups worth a rewrite, packed next-fit from the files worth one."""
    chosen = (scan for scan in scans if options.rewrite_all or _is_file_due(scan, options))
    packed = pack(
        chosen, _bytes_of, options.max_file_group_bytes, lookback=1, max_items=options.max_file_group_files
    )
    return (group for group in packed if options.rewrite_all or _is_group_due(group, options))


def _bytes_of(scan: FileScan) -> int:
    return scan.file.size_bytes


def _is_file_due(scan: FileScan, options: RewriteOptions) -> bool:
    """Source: `filterFiles`."""
    return not options.is_right_size(scan.file.size_bytes) or _is_due_for_deletes(scan, options)


def _is_group_due(group: Sequence[FileScan], options: RewriteOptions) -> bool:
    has_due_deletes = any(_is_due_for_deletes(scan, options) for scan in group)
    return has_due_deletes or options.is_group_due(_files_count(group), _input_bytes(group))


def _files_count(group: Sequence[FileScan]) -> int:
    return sum(scan.count for scan in group)


def _input_bytes(group: Sequence[FileScan]) -> int:
    return sum(scan.count * scan.file.size_bytes for scan in group)


def _is_due_for_deletes(scan: FileScan, options: RewriteOptions) -> bool:
    deletes = scan.deletes
    return options.too_many_deletes(deletes.files_count) or options.too_high_delete_ratio(
        deletes.file_scoped_rows, scan.file.rows
    )


def _first_files(groups: Iterable[_Group], max_files: int) -> Iterator[_Group]:
    """The first `max_files` files in their groups; the last group may be truncated."""
    for partition, group in groups:
        if max_files <= 0:
            return
        yield partition, _first(group, max_files)
        max_files -= _files_count(group)


def _first(group: Sequence[FileScan], max_files: int) -> list[FileScan]:
    chosen = []
    for scan in group:
        if max_files > 0:
            chosen.append(scan.slice(0, min(max_files, scan.count)))
        max_files -= scan.count
    return chosen


def rewrite_group(
    partition: str, group: Sequence[FileScan], options: RewriteOptions, lookback: int
) -> RewriteGroup:
    """A sort shuffles its rows, so its tasks read equal shares.

    `shuffle-partitions-per-file` does not change the number of tasks: the shuffle partitions of a file are
    coalesced (OrderAwareCoalesce) before it is written.
    """
    input_bytes = _input_bytes(group)
    outputs_count = options.expected_output_files(input_bytes)
    if options.is_shuffled:
        rows = sum(scan.count * scan.file.rows for scan in group)
        tasks = equal_shares(input_bytes, rows, outputs_count)
    else:
        tasks = scan_task_groups(group, options.split_bytes(input_bytes), lookback)
    return group_of_tasks(partition, group, tasks, outputs_count, options.max_output_file_bytes)


def group_of_tasks(
    partition: str, scans: Sequence[FileScan], tasks: tuple[ScanTaskGroup, ...], outputs_count: int,
    max_output_file_bytes: int,
) -> RewriteGroup:  # fmt: skip
    """The group of these files; `outputs_count` is the planner's estimate."""
    return RewriteGroup(
        partition=partition,
        files=files_of([scan.run for scan in scans]),
        delete_files_count=sum(scan.count * scan.deletes.files_count for scan in scans),
        delete_bytes=sum(scan.count * scan.deletes.size_bytes for scan in scans),
        max_output_file_bytes=max_output_file_bytes,
        expected_output_files=outputs_count,
        tasks=tasks,
        delete_rows=sum(scan.count * scan.deletes.rows for scan in scans),
    )


def ordered(groups: list[Group], order: JobOrder) -> list[Group]:
    """The groups in the order they run: by bytes or number of files, ties in planning order."""
    match order:
        case JobOrder.NONE:
            return groups
        case JobOrder.BYTES_ASC | JobOrder.BYTES_DESC:
            return sorted(groups, key=lambda g: g.input_bytes, reverse=order is JobOrder.BYTES_DESC)
        case JobOrder.FILES_ASC | JobOrder.FILES_DESC:
            return sorted(groups, key=lambda g: len(g.files), reverse=order is JobOrder.FILES_DESC)
