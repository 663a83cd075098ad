"""Planners that convert or drop delete files; no data file is rewritten."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from strategies.grouping import by_key
from strategies.iceberg.deletes.index import DeleteIndex, delete_index, index_deletes
from strategies.iceberg.deletes.reach import DeleteSet
from strategies.iceberg.files import IcebergDataFile, IcebergState
from strategies.plan import Capability, FileGroup, Plan, Reason, Rewrite, state_as
from strategies.planner import Planner, PlannerTraits
from strategies.state import TableState


@dataclass(frozen=True, slots=True)
class ConvertDeletes(Planner):
    """Convert the deletes of data files with `min_delete_files` or more to one file-scoped delete file each.

    A reader then opens one small delete file per data file instead of every equality delete written since. An
    old delete file can be dropped only when no data file needs it any more, so data files that share a delete
    file with a converted file are converted too, however few deletes they have. Nothing is planned while
    another plan is pending.
    """

    min_delete_files: int = 1

    def __post_init__(self) -> None:
        if self.min_delete_files < 1:
            raise ValueError(f"min_delete_files={self.min_delete_files} must be >= 1")

    def traits(self) -> PlannerTraits:
        return PlannerTraits(needs=frozenset({Capability.REWRITE, Capability.CONVERT}))

    def decide(self, state: TableState) -> Plan | None:
        table = state_as(IcebergState, state)
        if table.pending:
            return None
        index = delete_index(table)
        due = [file for file in table.data_files if self._is_due(file, index)]
        converted = _with_files_sharing_deletes(due, table, index)
        paths = frozenset(file.path for file in converted)
        removed = unneeded_deletes(table, (file for file in table.data_files if file.path not in paths))
        if not (converted or removed):
            return None
        action = Rewrite(convert_groups(converted), state.target_file_size_bytes, removed)
        detail = f"{len(due)} data files with {self.min_delete_files} or more delete files"
        return Plan((action,), Reason.DELETES, detail, "conversion")

    def _is_due(self, file: IcebergDataFile, index: DeleteIndex) -> bool:
        return index.applying_to(file).files_count >= self.min_delete_files and not is_converted(file, index)


def is_converted(file: IcebergDataFile, index: DeleteIndex) -> bool:
    """Whether the only delete file that applies is scoped to this data file already."""
    if index.applying_to(file).files_count != 1 or index.equality_of(file).files_count:
        return False
    return all(delete.referenced_data_file for delete in DeleteSet(index, [file]).position_files)


def _with_files_sharing_deletes(
    due: Collection[IcebergDataFile], state: IcebergState, index: DeleteIndex
) -> Collection[IcebergDataFile]:
    """The files due, and transitively all files that share a delete file with a file in the result."""
    chosen = {file.path: file for file in due}
    while True:
        rest = [file for file in state.data_files if file.path not in chosen]
        keys = DeleteSet(index, chosen.values()).keys & DeleteSet(index, rest).keys
        # A vector is never shared. It is indexed all the same, because it replaces the position deletes of
        # its data file, which would otherwise seem to apply; the condition below discounts it.
        deletes = (delete for delete in state.delete_files if delete.key in keys)
        shared = index_deletes((*index.vectors.values(), *deletes))
        more = [f for f in rest if shared.applying_to(f).files_count > (f.path in index.vectors)]
        if not more:
            return chosen.values()
        chosen |= {file.path: file for file in more}


def convert_groups(files: Collection[IcebergDataFile]) -> tuple[FileGroup, ...]:
    by_partition = by_key(files, lambda file: (file.partition, file.spec_id))
    return tuple(
        FileGroup((), partition, tuple(sorted(file.path for file in same)))
        for (partition, _), same in sorted(by_partition.items())
    )


@dataclass(frozen=True, slots=True)
class RemoveDanglingDeletes(Planner):
    """Drop exactly the delete files that apply to no live data file; no data file is rewritten.

    `rewrite_data_files` with `remove-dangling-deletes` does nothing in unpartitioned tables. In tables that
    were partitioned later it also drops deletes that still apply.
    """

    def traits(self) -> PlannerTraits:
        return PlannerTraits(needs=frozenset({Capability.REWRITE, Capability.CONVERT}))

    def decide(self, state: TableState) -> Plan | None:
        table = state_as(IcebergState, state)
        dangling = unneeded_deletes(table, table.data_files)
        if not dangling:
            return None
        detail = f"{len(dangling)} of {len(state.delete_files)} delete files apply to no data file"
        return Plan((Rewrite((), state.target_file_size_bytes, dangling),), Reason.DELETES, detail)


def unneeded_deletes(state: IcebergState, files: Iterable[IcebergDataFile]) -> tuple[str, ...]:
    """The sorted keys of the delete files that apply to none of `files` and are in no pending plan.

    Raises StateError as `index_deletes` does.
    """
    needed = DeleteSet(delete_index(state), files).keys
    return tuple(sorted(frozenset(delete.key for delete in state.delete_files) - needed - state.busy))
