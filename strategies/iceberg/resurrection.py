"""Whether an action would resurrect deleted rows, because it drops a delete file that still applies.

Two actions can: an explicit rewrite that names such a delete, and Iceberg's `remove-dangling-deletes`. That
option considers a delete dangling if no data file of the same partition spec and partition is older. But an
equality delete of an unpartitioned spec applies to the files of every partition. So in a table that was
partitioned later the option drops it while older rows in partitions still need it.

Source: Iceberg RemoveDanglingDeletesSparkAction at 1.11.0.
"""

import math
from collections.abc import Collection, Mapping

from strategies.iceberg.commands import Command
from strategies.iceberg.deletes.index import delete_index
from strategies.iceberg.deletes.reach import DeleteSet
from strategies.iceberg.dropped_deletes import removes_dangling
from strategies.iceberg.files import DeleteKind, IcebergDataFile, IcebergState
from strategies.java_values import parse_boolean
from strategies.plan import Action, Compact, Native, Rewrite, state_as
from strategies.preview import NoPreview, Preview
from strategies.state import TableState


def resurrection(action: Action, preview: Preview | NoPreview, state: TableState) -> str | None:
    """Why executing `action` could resurrect deleted rows, naming the delete file; None if it cannot.

    It errs on the safe side: if it is unknown which files a command rewrites, it assumes that none is
    rewritten and that every delete in question is dropped. Raises StateError if the deletes of the table are
    inconsistent (`index_deletes`), and PlanError if the table is of another format.
    """
    table = state_as(IcebergState, state)
    match action:
        case Rewrite(removed_deletes=removed):
            named = frozenset(action.keys)
            left = [file for file in table.data_files if file.path not in named]
            return _still_applying(frozenset(removed), left, table)
        case Compact(options=options) | Native(Command.REWRITE_DATA_FILES, options=options):
            if removes_dangling(options):
                return _dangling_dropped(preview, options, table)
    return None


def _still_applying(
    dropped: frozenset[str], files: Collection[IcebergDataFile], state: IcebergState
) -> str | None:
    """What is wrong with the first dropped delete, by key, that applies to one of the files; None if none."""
    if not dropped:
        return None
    index = delete_index(state)
    needed = sorted(dropped & DeleteSet(index, files).keys)
    if not needed:
        return None
    path = min(file.path for file in files if needed[0] in DeleteSet(index, [file]).keys)
    return f"dropping delete file {needed[0]} would resurrect rows of {path}, to which it still applies"


def _dangling_dropped(
    preview: Preview | NoPreview, options: Mapping[str, str], state: IcebergState
) -> str | None:
    """What is wrong with the first global delete that the option drops although it still applies.

    Every other delete applies within its own spec and partition only, where an older data file keeps it.
    """
    rewritten = _rewritten(preview, options)
    left = [file for file in state.data_files if file.path not in (rewritten or ())]
    everywhere = [d for d in state.delete_files if d.kind is DeleteKind.EQUALITY and not d.partition]
    for spec_id in sorted({delete.spec_id for delete in everywhere}):
        of_spec = [file for file in left if file.spec_id == spec_id]
        others = [file for file in left if file.spec_id != spec_id]
        # The option keeps a delete that is newer than the oldest remaining file of its spec, the only files
        # it considers. If that file may have been rewritten, any delete may be dropped.
        may_drop_all = rewritten is None or not of_spec
        oldest = math.inf if may_drop_all else min(file.data_sequence_number for file in of_spec)
        dropped = (d for d in everywhere if d.spec_id == spec_id and d.data_sequence_number <= oldest)
        problem = _still_applying(frozenset(delete.key for delete in dropped), others, state)
        if problem is not None:
            return f"remove-dangling-deletes: {problem}; iceberg.remove_dangling_deletes keeps such deletes"
    return None


def _rewritten(preview: Preview | NoPreview, options: Mapping[str, str]) -> frozenset[str] | None:
    """The data files that the command rewrites; None if that is unknown.

    With partial progress some of the commits may fail, and dangling deletes are dropped all the same.
    """
    if parse_boolean(options.get("partial-progress.enabled", "false")) or isinstance(preview, NoPreview):
        return None
    return frozenset(file.path for group in preview.groups for file in group.files)
