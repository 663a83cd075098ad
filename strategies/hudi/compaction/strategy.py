"""What every compaction strategy of Hudi answers: which partitions, and which operations in what order.

Source: CompactionStrategy of Hudi 1.2.0. The other modules of this package follow the class of their name.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Generic, TypeVar

from strategies.hudi.operations import Operation

_Item = TypeVar("_Item")

DEFAULT_TARGET_IO_MIB = 500 * 1024
DEFAULT_TARGET_PARTITIONS = 10


@dataclass(frozen=True, slots=True)
class Settings:
    """What strategies are told.

    `target_io_mib` bounds the operations of one plan. A slice with fewer log bytes or log files than the two
    thresholds is left alone. `target_partitions` is a number of partitions (day-based) or of days before
    today (partition-aware). If the table service `is_incremental`, partitions that were left out are noted
    for the next plan. `today` is in days since 1970-01-01; None if it is not known.
    """

    target_io_mib: int = DEFAULT_TARGET_IO_MIB
    log_bytes_min: int = 0
    log_files_min: int = 0
    target_partitions: int = DEFAULT_TARGET_PARTITIONS
    partition_regex: str | None = None
    is_incremental: bool = True
    today: int | None = None


@dataclass(frozen=True, slots=True)
class Choice(Generic[_Item]):
    """What a strategy keeps, in order, and the partitions of what it leaves for the next plan."""

    kept: Sequence[_Item]
    missing: Sequence[str] = field(default=())


class CompactionStrategy:
    """Keeps everything, in the order given; subclasses override what they choose by.

    Either method raises ValueError where Hudi's own class fails. One that `reads_dates` compares the dates of
    partitions, one that `uses_today` also with the day of the clock. `reads` are the fields of `Settings`
    that it goes by, besides `is_incremental`.
    """

    reads_dates: ClassVar[bool] = False
    uses_today: ClassVar[bool] = False
    reads: ClassVar[frozenset[str]] = frozenset()

    def partitions(self, partitions: Sequence[str], settings: Settings) -> Choice[str]:
        """The partitions in which to look for file slices (filterPartitionPaths)."""
        return Choice(partitions)

    def operations(self, operations: Sequence[Operation], settings: Settings) -> Choice[Operation]:
        """The operations to plan (orderAndFilter)."""
        return Choice(operations)
