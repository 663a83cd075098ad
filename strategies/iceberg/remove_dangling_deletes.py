"""Removal of dangling deletes: delete files that no longer apply to any data file."""

from collections.abc import Iterable
from dataclasses import dataclass

from strategies.iceberg.deletes.index import delete_index
from strategies.iceberg.deletes.reach import DeleteSet
from strategies.iceberg.files import IcebergDataFile, IcebergState
from strategies.plan import Capability, Plan, Reason, Rewrite, state_as
from strategies.planner import Planner, PlannerTraits
from strategies.state import TableState


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
    busy = frozenset[str]().union(*(pending.paths for pending in state.pending))
    return tuple(sorted(frozenset(delete.key for delete in state.delete_files) - needed - busy))
