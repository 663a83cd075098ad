"""What the strategies by size and by number of log files have in common."""

from abc import abstractmethod
from collections.abc import Sequence

from strategies.hudi.compaction.bounded_io import BoundedIO
from strategies.hudi.compaction.strategy import Choice, Settings
from strategies.hudi.operations import Operation


class Ranked(BoundedIO):
    """The highest rank first, equal ones in the order given; below the threshold none. Bounded by IO."""

    @abstractmethod
    def rank(self, operation: Operation) -> int:
        """By what operations are ranked."""

    @abstractmethod
    def threshold(self, settings: Settings) -> int:
        """The lowest rank to keep."""

    def operations(self, operations: Sequence[Operation], settings: Settings) -> Choice[Operation]:
        lowest = self.threshold(settings)
        ranked = sorted(
            (each for each in operations if self.rank(each) >= lowest), key=self.rank, reverse=True
        )
        bounded = super().operations(ranked, settings)
        below = [each.partition for each in operations if self.rank(each) < lowest]
        return Choice(bounded.kept, [*below, *bounded.missing] if settings.is_incremental else ())
