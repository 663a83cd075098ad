"""DayBasedCompactionStrategy: the partitions of the latest days, within the target IO."""

from collections.abc import Sequence

from strategies.hudi.compaction.bounded_io import BoundedIO
from strategies.hudi.compaction.strategy import Choice, Settings
from strategies.hudi.dates import day_of


class DayBased(BoundedIO):
    """Keeps so many partitions, the latest first; what is older is not noted for the next plan."""

    reads_dates = True
    reads = frozenset({"target_io_mib", "target_partitions"})

    def partitions(self, partitions: Sequence[str], settings: Settings) -> Choice[str]:
        if len(partitions) < 2:  # nothing to compare, so Hudi does not read the date
            return Choice(partitions[: settings.target_partitions])
        return Choice(sorted(partitions, key=day_of, reverse=True)[: settings.target_partitions])
