"""Which file slices a compaction merges, by the rules of Hudi's plan generator.

The order in which Hudi lists partitions, and slices within one, is not defined; here it is that of their
paths and file ids.

Source: BaseHoodieCompactionPlanGenerator of Hudi 1.2.0.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from strategies.hudi.commands import Command
from strategies.hudi.compaction_strategies import CompactionStrategy, Operation, Settings
from strategies.hudi.files import Action, HudiState
from strategies.hudi.incremental import all_partitions, incremental_partitions


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """The operations in the order of choice, and the partitions noted for the next plan; None: no note."""

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
    is_incremental = settings.is_incremental
    candidates = incremental_partitions(state, Action.COMMIT) if is_incremental else all_partitions(state)
    partitions = strategy.partitions(candidates, settings)
    operations = _operations(state, partitions.chosen, max_file_bytes)
    if not operations:
        return CompactionPlan()
    choice = strategy.operations(operations, settings)
    missing = tuple(dict.fromkeys((*choice.missing, *partitions.missing)))
    return CompactionPlan(tuple(choice.chosen), missing if is_incremental else None)


def _operations(state: HudiState, partitions: Sequence[str], max_file_bytes: int) -> list[Operation]:
    """One for each free slice that has log files, partition by partition."""
    by_partition: dict[str, list[Operation]] = {}
    for free in state.free_slices(Command.COMPACTION):
        if free.logs:
            by_partition.setdefault(free.group.partition, []).append(Operation(free, max_file_bytes))
    return [operation for partition in partitions for operation in by_partition.get(partition, ())]
