"""Which files Iceberg's `rewrite_data_files` rewrites, and in which groups.

The order of partitions is that of the state's data files; Iceberg's is that of a hash map. It matters
only where `max-files-to-rewrite` cuts the plan off. Which deletes apply is told by `DeleteIndex`.

Source: Iceberg BinPackRewriteFilePlanner and SizeBasedFileRewritePlanner at 1.11.0.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from strategies.iceberg.deletes.index import index_deletes
from strategies.iceberg.rewrite_options import JobOrder, RewriteOptions
from strategies.iceberg.scan_tasks import Candidate, equal_shares, lookback_of, scan_task_groups
from strategies.packing import pack
from strategies.preview import DeleteGroup, Preview, RewriteGroup
from strategies.state import DataFile, TableState

Group = TypeVar("Group", RewriteGroup, DeleteGroup)
_Group = tuple[str, Sequence[Candidate]]  # partition and files


def plan_rewrite(state: TableState, options: RewriteOptions) -> Preview:
    """The groups a rewrite with `options` would make of the table as it stands."""
    planned = [
        (partition, group)
        for partition, candidates in _by_partition(state).items()
        for group in _groups(candidates, options)
    ]
    kept = planned if options.max_files is None else _first_files(planned, options.max_files)
    lookback = lookback_of(state.properties)
    groups = [rewrite_group(partition, group, options, lookback) for partition, group in kept]
    return Preview(tuple(ordered(groups, options.job_order)), planned_groups_count=len(planned))


def _by_partition(state: TableState) -> dict[str, list[Candidate]]:
    """Files by partition; those of another spec than the current one are one bucket without partition.

    So are those whose partition values are all null: an empty partition tuple has nulls too.
    """
    deletes = index_deletes(state.delete_files)
    found: dict[str, list[Candidate]] = defaultdict(list)
    for file in state.data_files:
        found[bucket_of(file, state.spec_id)].append(Candidate(file, deletes.applying_to(file)))
    return found


def bucket_of(file: DataFile, spec_id: int) -> str:
    """The partition a file is planned in, `spec_id` being the table's current spec."""
    is_all_null = all(pair.endswith("=null") for pair in file.partition.split("/"))
    return "" if file.spec_id != spec_id or is_all_null else file.partition


def _groups(candidates: Iterable[Candidate], options: RewriteOptions) -> Iterator[list[Candidate]]:
    """Next-fit groups of the files worth a rewrite; the groups worth one."""
    chosen = (c for c in candidates if options.rewrite_all or _is_file_due(c, options))
    packed = pack(
        chosen, _bytes_of, options.max_file_group_bytes, lookback=1, max_items=options.max_file_group_files
    )
    return (group for group in packed if options.rewrite_all or _is_group_due(group, options))


def _bytes_of(candidate: Candidate) -> int:
    return candidate.file.size_bytes


def _is_file_due(candidate: Candidate, options: RewriteOptions) -> bool:
    return not options.is_right_size(candidate.file.size_bytes) or _has_many_deletes(candidate, options)


def _is_group_due(group: Sequence[Candidate], options: RewriteOptions) -> bool:
    """Whether the rewrite gains something, by the size of the group or by the deletes of any file."""
    is_worth_it = options.is_worth_it(len(group), sum(map(_bytes_of, group)))
    return is_worth_it or any(_has_many_deletes(c, options) for c in group)


def _has_many_deletes(candidate: Candidate, options: RewriteOptions) -> bool:
    """Enough delete files of any kind, or enough rows deleted by delete files that name this file."""
    deletes, rows = candidate.deletes, candidate.file.rows
    if options.delete_file_threshold is not None and deletes.files_count >= options.delete_file_threshold:
        return True
    return rows > 0 and deletes.file_scoped_rows / rows >= options.delete_ratio_threshold


def _first_files(groups: Iterable[_Group], max_files: int) -> Iterator[_Group]:
    """The first `max_files` files, in their groups; the last group may lose its end."""
    for partition, group in groups:
        if max_files <= 0:
            return
        yield partition, group[:max_files]
        max_files -= len(group)


def rewrite_group(
    partition: str, group: Sequence[Candidate], options: RewriteOptions, lookback: int
) -> RewriteGroup:
    """The group with its figures, which are of the files left in it.

    A sort shuffles, so its tasks are equal shares. `shuffle-partitions-per-file` does not add to them:
    the shuffled partitions of a file are joined again (OrderAwareCoalesce) before it is written.
    """
    input_bytes = sum(map(_bytes_of, group))
    outputs = options.expected_output_files(input_bytes)
    split_bytes = options.split_bytes(input_bytes)
    rows = sum(c.file.rows for c in group)
    return RewriteGroup(
        partition=partition,
        files=tuple(c.file for c in group),
        input_bytes=input_bytes,
        delete_files_count=sum(c.deletes.files_count for c in group),
        delete_bytes=sum(c.deletes.size_bytes for c in group),
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
