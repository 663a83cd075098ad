"""Which delete files Iceberg's `rewrite_position_delete_files` rewrites, and in which groups.

Files are selected and grouped by their size alone, so a file of the right size is kept however few of its
rows are still needed. In a table of format version 3 the command converts position deletes to deletion
vectors; if only vectors are left, it does nothing.

Source: Iceberg BinPackRewritePositionDeletePlanner and RewritePositionDeleteFilesSparkAction at 1.11.0.
"""

from strategies.grouping import by_key
from strategies.iceberg.files import DeleteKind, IcebergDeleteFile, IcebergState
from strategies.iceberg.packing import pack
from strategies.iceberg.rewrite_data_files import ordered
from strategies.iceberg.rewrite_options import RewriteOptions
from strategies.partitions import fields_of, is_null
from strategies.preview import DeleteGroup, Preview
from strategies.state import MIB

TARGET_FILE_SIZE = "write.delete.target-file-size-bytes"
DEFAULT_TARGET_BYTES = 64 * MIB  # DELETE_TARGET_FILE_SIZE_BYTES_DEFAULT of Iceberg's TableProperties

_Partition = frozenset[tuple[str, str]]  # field and value


def plan_delete_rewrite(state: IcebergState, options: RewriteOptions) -> Preview:
    """The groups that a rewrite with `options` would form; those on deletes and numbers of files are ignored.

    Partitions come in the order of the state's delete files; in Iceberg they come in that of a hash map.
    """
    kinds = {delete.kind for delete in state.delete_files}
    if DeleteKind.POSITION not in kinds:
        return Preview(())
    positional = (delete for delete in state.delete_files if delete.kind is not DeleteKind.EQUALITY)
    by_partition = by_key(positional, _bucket)
    groups = [group for deletes in by_partition.values() for group in _groups(deletes, options)]
    return Preview((), tuple(ordered(groups, options.job_order)))


def _bucket(delete: IcebergDeleteFile) -> _Partition:
    """The partition that a file is planned in: its non-null values, whatever its partition spec."""
    return frozenset(
        (name, value) for name, value in fields_of(delete.partition).items() if not is_null(value)
    )


def _groups(deletes: list[IcebergDeleteFile], options: RewriteOptions) -> list[DeleteGroup]:
    chosen = (d for d in deletes if options.rewrite_all or not options.is_right_size(d.size_bytes))
    packed = pack(
        chosen, _bytes_of, options.max_file_group_bytes, lookback=1, max_items=options.max_file_group_files
    )
    groups = (DeleteGroup(files[0].partition, tuple(files)) for files in packed)
    return [
        group
        for group in groups
        if options.rewrite_all or options.is_group_due(len(group.files), group.input_bytes)
    ]


def _bytes_of(delete: IcebergDeleteFile) -> int:
    return delete.size_bytes
