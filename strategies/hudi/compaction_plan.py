"""Which file slices a compaction merges, by the rules of Hudi's plan generator.

The order in which Hudi lists partitions, and slices within one, is not defined; here it is that of their
paths and file ids.

Source: BaseHoodieCompactionPlanGenerator of Hudi 1.2.0.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from strategies.hudi.commands import Command
from strategies.hudi.compaction_strategies import CompactionStrategy, Settings
from strategies.hudi.files import Action, HudiState
from strategies.hudi.incremental import all_partitions, incremental_partitions
from strategies.hudi.operations import Operation


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """The operations in the order in which they were chosen, and what the plan notes for the next one.

    `missing_partitions` is None if nothing is noted.
    """

    operations: tuple[Operation, ...] = ()
    missing_partitions: tuple[str, ...] | None = None

    @property
    def io_mib(self) -> int:
        """What Hudi expects to read and write."""
        return sum(operation.io_mib for operation in self.operations)


def plan_compaction(
    state: HudiState, strategy: CompactionStrategy, settings: Settings, max_file_bytes: int
) -> CompactionPlan:
    """What Hudi would plan for the table; without operations it schedules nothing.

    `max_file_bytes` is hoodie.parquet.max.file.size. Raises ValueError where the strategy's class fails.
    """
    partitions = strategy.partitions(_candidates(state, settings), settings)
    operations = _operations(state, partitions.kept, max_file_bytes)
    if not operations:
        return CompactionPlan()
    chosen = strategy.operations(operations, settings)
    missing = tuple(dict.fromkeys((*chosen.missing, *partitions.missing)))
    return CompactionPlan(tuple(chosen.kept), missing if settings.is_incremental else None)


def _candidates(state: HudiState, settings: Settings) -> list[str]:
    if settings.is_incremental:
        return incremental_partitions(state, Action.COMMIT)
    return all_partitions(state)


def _operations(state: HudiState, partitions: Sequence[str], max_file_bytes: int) -> list[Operation]:
    """An operation for each free slice that has log files, partition by partition."""
    by_partition: dict[str, list[Operation]] = {}
    for free in state.free_slices(Command.COMPACTION):
        if free.logs:
            by_partition.setdefault(free.group.partition, []).append(Operation(free, max_file_bytes))
    return [operation for partition in partitions for operation in by_partition.get(partition, ())]
