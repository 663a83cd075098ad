"""Whether an action would bring deleted rows back, because it drops a delete file that still applies.

Two can: an explicit rewrite that names such a delete, and Iceberg's `remove-dangling-deletes`. That option
takes a delete for dangling where no data file of its own partition spec and partition is older, although an
equality delete written without partitions applies to files of any: in a table partitioned later it is
dropped while older rows of the partitions still need it.

Source: Iceberg RemoveDanglingDeletesSparkAction at 1.11.0.
"""

import math
from collections.abc import Collection, Mapping

from strategies.iceberg.commands import Command
from strategies.iceberg.deletes.index import delete_index
from strategies.iceberg.deletes.reach import DeleteSet
from strategies.iceberg.files import DeleteKind, IcebergDataFile, IcebergState, iceberg_state
from strategies.java_values import parse_boolean
from strategies.plan import Action, Compact, Native, Rewrite
from strategies.preview import NoPreview, Preview
from strategies.state import TableState


def resurrection(action: Action, preview: Preview | NoPreview, state: TableState) -> str | None:
    """Why carrying out `action` could bring deleted rows back, naming the delete file; None where it cannot.

    It errs on the safe side: where it is not known which files a command rewrites, it assumes that none is
    rewritten and that every delete in question is dropped. Raises StateError where the deletes of the table
    themselves cannot be understood (`index_deletes`), and PlanError where it is of another format.
    """
    table = iceberg_state(state)
    match action:
        case Rewrite(removed_deletes=removed):
            named = frozenset(action.keys)
            left = [file for file in table.data_files if file.path not in named]
            return _still_applying(frozenset(removed), left, table)
        case Compact(options=options) | Native(Command.REWRITE_DATA_FILES, options=options):
            if parse_boolean(options.get("remove-dangling-deletes", "false")):
                return _dangling_dropped(preview, options, table)
    return None


def _still_applying(
    dropped: frozenset[str], files: Collection[IcebergDataFile], state: IcebergState
) -> str | None:
    """The first of the deletes dropped, by key, that applies to one of the files."""
    if not dropped:
        return None
    index = delete_index(state)
    revived = sorted(dropped & DeleteSet(index, files).keys)
    if not revived:
        return None
    path = min(file.path for file in files if revived[0] in DeleteSet(index, [file]).keys)
    return f"dropping delete file {revived[0]} would bring back rows of {path}, to which it still applies"


def _dangling_dropped(
    preview: Preview | NoPreview, options: Mapping[str, str], state: IcebergState
) -> str | None:
    """The first delete without partition that the option drops after the rewrite, and that still applies.

    All others apply within their own spec and partition alone, where a file they apply to keeps them.
    """
    rewritten = _rewritten(preview, options)
    left = [file for file in state.data_files if file.path not in (rewritten or ())]
    everywhere = [d for d in state.delete_files if d.kind is DeleteKind.EQUALITY and not d.partition]
    for spec_id in sorted({delete.spec_id for delete in everywhere}):
        own = [file for file in left if file.spec_id == spec_id]
        others = [file for file in left if file.spec_id != spec_id]
        may_go = rewritten is None or not own
        oldest = math.inf if may_go else min(file.data_sequence_number for file in own)
        deletes = (d for d in everywhere if d.spec_id == spec_id and d.data_sequence_number <= oldest)
        told = _still_applying(frozenset(delete.key for delete in deletes), others, state)
        if told is not None:
            return (
                f"remove-dangling-deletes: {told}; iceberg.remove_dangling_deletes leaves such deletes alone"
            )
    return None


def _rewritten(preview: Preview | NoPreview, options: Mapping[str, str]) -> frozenset[str] | None:
    """The data files the command rewrites; None where that is not known.

    In a rewrite of several commits some may fail, and deletes are dropped all the same.
    """
    if parse_boolean(options.get("partial-progress.enabled", "false")) or isinstance(preview, NoPreview):
        return None
    return frozenset(file.path for group in preview.groups for file in group.files)
