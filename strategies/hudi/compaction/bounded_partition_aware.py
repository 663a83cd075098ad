"""BoundedPartitionAwareCompactionStrategy: the partitions of the last days, and any of the future."""

from collections.abc import Sequence

from strategies.hudi.compaction.day_based import DayBased
from strategies.hudi.compaction.strategy import Choice, Settings
from strategies.hudi.dates import day_of
from strategies.hudi.operations import Operation
from strategies.java_hash_map import grouped


class BoundedPartitionAware(DayBased):
    """Keeps partitions from `target_partitions` days before today on, the latest first, whatever their IO.

    Hudi compares its own clock's today with the dates of the partitions, that day included.
    """

    uses_today = True
    reads = frozenset({"target_partitions"})

    def partitions(self, partitions: Sequence[str], settings: Settings) -> Choice[str]:
        """Dashes become slashes, as in Hudi: a partition `2026-01-01` is kept by a name that no file has."""
        earliest = _earliest_day(settings)
        return Choice([path for path in latest_first(partitions) if day_of(path) >= earliest])

    def operations(self, operations: Sequence[Operation], settings: Settings) -> Choice[Operation]:
        """The latest day first; partitions of one day in the order of a Java map of their paths."""
        earliest = _earliest_day(settings)
        groups = grouped(operation.partition for operation in operations)
        kept = sorted((path for path in groups if day_of(path) >= earliest), key=day_of, reverse=True)
        return Choice([each for path in kept for each in operations if each.partition == path])


def latest_first(partitions: Sequence[str]) -> list[str]:
    """Paths in descending order of their text with dashes for slashes, and then slashes for dashes."""
    dashed = sorted((path.replace("/", "-") for path in partitions), reverse=True)
    return [path.replace("-", "/") for path in dashed]


def _earliest_day(settings: Settings) -> int:
    if settings.today is None:
        raise ValueError("the day of the table state is not known, and the strategy chooses by it")
    return settings.today - settings.target_partitions
