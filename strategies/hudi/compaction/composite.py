"""CompositeCompactionStrategy: several strategies, each of which chooses from what the one before kept."""

from collections.abc import Sequence
from dataclasses import dataclass

from strategies.hudi.compaction.strategy import Choice, CompactionStrategy, Settings
from strategies.hudi.operations import Operation


@dataclass(frozen=True, slots=True)
class Composite(CompactionStrategy):
    """Pipes what there is through the strategies; the last one that sorts decides on the order."""

    strategies: tuple[CompactionStrategy, ...]

    def partitions(self, partitions: Sequence[str], settings: Settings) -> Choice[str]:
        kept, missing = partitions, list[str]()
        for strategy in self.strategies:
            choice = strategy.partitions(kept, settings)
            kept, missing = choice.kept, [*missing, *choice.missing]
        return Choice(kept, missing if settings.is_incremental else ())

    def operations(self, operations: Sequence[Operation], settings: Settings) -> Choice[Operation]:
        kept, missing = operations, list[str]()
        for strategy in self.strategies:
            choice = strategy.operations(kept, settings)
            kept, missing = choice.kept, [*missing, *choice.missing]
        return Choice(kept, missing)
