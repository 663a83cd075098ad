"""UnBoundedPartitionAwareCompactionStrategy: what BoundedPartitionAware leaves out."""

from collections.abc import Sequence

from strategies.hudi.compaction.bounded_partition_aware import BoundedPartitionAware, latest_first
from strategies.hudi.compaction.strategy import Choice, CompactionStrategy, Settings
from strategies.hudi.operations import Operation


class UnBoundedPartitionAware(CompactionStrategy):
    """Keeps partitions of earlier days, so that it never meets BoundedPartitionAware in one of them."""

    reads_dates = uses_today = True
    reads = frozenset({"target_partitions"})

    def partitions(self, partitions: Sequence[str], settings: Settings) -> Choice[str]:
        recent = frozenset(BoundedPartitionAware().partitions(partitions, settings).kept)
        return Choice([path for path in latest_first(partitions) if path not in recent])

    def operations(self, operations: Sequence[Operation], settings: Settings) -> Choice[Operation]:
        recent = BoundedPartitionAware().operations(operations, settings).kept
        return Choice([operation for operation in operations if operation not in recent])
