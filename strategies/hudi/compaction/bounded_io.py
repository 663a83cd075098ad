"""BoundedIOCompactionStrategy: as many file slices, in the order given, as the target IO allows."""

from collections.abc import Sequence

from strategies.hudi.compaction.strategy import Choice, CompactionStrategy, Settings
from strategies.hudi.operations import Operation


class BoundedIO(CompactionStrategy):
    """Keeps operations until their IO has reached the target; the last one may exceed it."""

    reads = frozenset({"target_io_mib"})

    def operations(self, operations: Sequence[Operation], settings: Settings) -> Choice[Operation]:
        remaining_mib, kept = settings.target_io_mib, 0
        for operation in operations:
            if remaining_mib <= 0:
                break
            remaining_mib -= operation.io_mib
            kept += 1
        left = operations[kept:] if settings.is_incremental else ()
        return Choice(operations[:kept], [operation.partition for operation in left])
