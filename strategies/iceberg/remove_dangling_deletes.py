"""Dropping delete files that delete nothing any more, exactly those."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from strategies.iceberg.deletes.index import index_deletes
from strategies.iceberg.deletes.reach import DeleteSet
from strategies.plan import Capability, Plan, Reason, Rewrite
from strategies.state import DataFile, TableState, key_of


@dataclass(frozen=True, slots=True)
class RemoveDanglingDeletes:
    """Drop the delete files that apply to no live data file; no data file is touched.

    `rewrite_data_files` with `remove-dangling-deletes` leaves them in tables without partitions, and where a
    table was partitioned later it also drops deletes that still apply.
    """

    needs: ClassVar[frozenset[str]] = frozenset({Capability.REWRITE, Capability.CONVERT})

    def decide(self, state: TableState) -> Plan | None:
        dangling = unneeded_deletes(state, state.data_files)
        if not dangling:
            return None
        detail = f"{len(dangling)} of {len(state.delete_files)} delete files apply to no data file"
        return Plan((Rewrite((), state.target_file_size_bytes, dangling),), Reason.DELETES, detail)


def unneeded_deletes(state: TableState, files: Iterable[DataFile]) -> tuple[str, ...]:
    """The delete files that apply to none of the data files and are in no pending plan, keys in order.

    Raises ValueError as `index_deletes` does.
    """
    needed = DeleteSet(index_deletes(state.delete_files), files).keys
    busy = frozenset[str]().union(*(pending.paths for pending in state.pending))
    return tuple(sorted(frozenset(map(key_of, state.delete_files)) - needed - busy))
