"""Which files Iceberg's `rewrite_data_files` rewrites, and in which groups.

The order of partitions is that of the state's data files; Iceberg's is that of a hash map. It matters
only where `max-files-to-rewrite` cuts the plan off. Which deletes apply is told by `DeleteIndex`.

Source: Iceberg BinPackRewriteFilePlanner and SizeBasedFileRewritePlanner at 1.11.0.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from strategies.iceberg.deletes.index import delete_index
from strategies.iceberg.files import IcebergDataFile, IcebergState
from strategies.iceberg.packing import pack
from strategies.iceberg.partitions import fields_of, is_null
from strategies.iceberg.rewrite_options import JobOrder, RewriteOptions
from strategies.iceberg.scan_tasks import FileScan, equal_shares, lookback_of, scan_task_groups
from strategies.preview import DeleteGroup, Preview, RewriteGroup

Group = TypeVar("Group", RewriteGroup, DeleteGroup)
_Group = tuple[str, Sequence[FileScan]]  # partition and files


def plan_rewrite(state: IcebergState, options: RewriteOptions) -> Preview:
    """The groups a rewrite with `options` would make of the table as it stands."""
    planned = [
        (partition, group)
        for partition, scans in _by_partition(state).items()
        for group in _groups(scans, options)
    ]
    kept = planned if options.max_files is None else _first_files(planned, options.max_files)
    lookback = lookback_of(state.properties)
    groups = [rewrite_group(partition, group, options, lookback) for partition, group in kept]
    return Preview(tuple(ordered(groups, options.job_order)), planned_groups_count=len(planned))


def _by_partition(state: IcebergState) -> dict[str, list[FileScan]]:
    """Files by partition; those of another spec than the current one are one bucket without partition.

    So are those whose partition values are all null: an empty partition tuple has nulls too.
    """
    deletes = delete_index(state)
    found: dict[str, list[FileScan]] = defaultdict(list)
    for file in state.data_files:
        found[bucket_of(file, state.spec_id)].append(FileScan(file, deletes.applying_to(file)))
    return found


def bucket_of(file: IcebergDataFile, spec_id: int) -> str:
    """The partition a file is planned in, `spec_id` being the table's current spec."""
    is_all_null = all(map(is_null, fields_of(file.partition).values()))
    return "" if file.spec_id != spec_id or is_all_null else file.partition


def _groups(scans: Iterable[FileScan], options: RewriteOptions) -> Iterator[list[FileScan]]:
    """Next-fit groups of the files worth a rewrite; the groups worth one."""
    chosen = (scan for scan in scans if options.rewrite_all or _is_file_due(scan, options))
    packed = pack(
        chosen, _bytes_of, options.max_file_group_bytes, lookback=1, max_items=options.max_file_group_files
    )
    return (group for group in packed if options.rewrite_all or _is_group_due(group, options))


def _bytes_of(scan: FileScan) -> int:
    return scan.file.size_bytes


def _is_file_due(scan: FileScan, options: RewriteOptions) -> bool:
    """`filterFiles`."""
    return not options.is_right_size(scan.file.size_bytes) or _is_due_for_deletes(scan, options)


def _is_group_due(group: Sequence[FileScan], options: RewriteOptions) -> bool:
    """`filterFileGroups`: whether the rewrite gains something, by the group's size or any file's deletes."""
    input_bytes = sum(map(_bytes_of, group))
    return (
        options.enough_input_files(len(group))
        or options.enough_content(len(group), input_bytes)
        or options.too_much_content(input_bytes)
        or any(_is_due_for_deletes(scan, options) for scan in group)
    )


def _is_due_for_deletes(scan: FileScan, options: RewriteOptions) -> bool:
    deletes = scan.deletes
    return options.too_many_deletes(deletes.files_count) or options.too_high_delete_ratio(
        deletes.file_scoped_rows, scan.file.rows
    )


def _first_files(groups: Iterable[_Group], max_files: int) -> Iterator[_Group]:
    """The first `max_files` files, in their groups; the last group may lose its end."""
    for partition, group in groups:
        if max_files <= 0:
            return
        yield partition, group[:max_files]
        max_files -= len(group)


def rewrite_group(
    partition: str, group: Sequence[FileScan], options: RewriteOptions, lookback: int
) -> RewriteGroup:
    """The group with its figures, which are of the files left in it.

    A sort shuffles, so its tasks are equal shares. `shuffle-partitions-per-file` does not add to them:
    the shuffled partitions of a file are joined again (OrderAwareCoalesce) before it is written.
    """
    input_bytes = sum(map(_bytes_of, group))
    outputs = options.expected_output_files(input_bytes)
    split_bytes = options.split_bytes(input_bytes)
    rows = sum(scan.file.rows for scan in group)
    return RewriteGroup(
        partition=partition,
        files=tuple(scan.file for scan in group),
        input_bytes=input_bytes,
        delete_files_count=sum(scan.deletes.files_count for scan in group),
        delete_bytes=sum(scan.deletes.size_bytes for scan in group),
        split_bytes=split_bytes,
        max_output_file_bytes=options.max_output_file_bytes,
        expected_output_files=outputs,
        tasks=equal_shares(input_bytes, rows, outputs)
        if options.is_shuffled
        else scan_task_groups(group, split_bytes, lookback),
    )


def ordered(groups: list[Group], order: JobOrder) -> list[Group]:
    """Groups by bytes or by files; of equals the one planned first."""
    match order:
        case JobOrder.NONE:
            return groups
        case JobOrder.BYTES_ASC | JobOrder.BYTES_DESC:
            return sorted(groups, key=lambda g: g.input_bytes, reverse=order is JobOrder.BYTES_DESC)
        case JobOrder.FILES_ASC | JobOrder.FILES_DESC:
            return sorted(groups, key=lambda g: len(g.files), reverse=order is JobOrder.FILES_DESC)
