"""Hudi's compaction strategies: which partitions each looks at, and which operations in what order.

A class has the name of Hudi's own without the suffix CompactionStrategy. Source: the package
org.apache.hudi.table.action.compact.strategy and FileSliceMetricUtils of Hudi 1.2.0.
"""

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from strategies.hudi.dates import day_of
from strategies.hudi.files import FileSlice
from strategies.java_hash_map import grouped
from strategies.options import check_known
from strategies.state import MIB

_Item = TypeVar("_Item")

DEFAULT_TARGET_IO_MIB = 500 * 1024
DEFAULT_TARGET_PARTITIONS = 10


@dataclass(frozen=True, slots=True)
class Settings:
    """The options that strategies choose by.

    `target_io_mib` bounds the operations of one plan. A slice with fewer log bytes or log files than the two
    thresholds is left alone. `target_partitions` is a number of partitions (DayBased) or of days before today
    (BoundedPartitionAware). If the table service `is_incremental`, partitions that are left out are noted for
    the next plan. `today` is in days since 1970-01-01; None if unknown.
    """

    target_io_mib: int = DEFAULT_TARGET_IO_MIB
    log_bytes_min: int = 0
    log_files_min: int = 0
    target_partitions: int = DEFAULT_TARGET_PARTITIONS
    partition_regex: str | None = None
    is_incremental: bool = True
    today: int | None = None


@dataclass(frozen=True, slots=True)
class Operation:
    """The compaction of one file slice, which writes one base file.

    `max_file_bytes` (hoodie.parquet.max.file.size) counts as written if the slice has no base file.
    """

    slice: FileSlice
    max_file_bytes: int

    @property
    def partition(self) -> str:
        return self.slice.group.partition

    @property
    def io_mib(self) -> int:
        """Whole MiB read plus whole MiB written (TOTAL_IO_MB), each rounded down, so less than 1 MiB is 0."""
        base_bytes = self.slice.base_bytes
        written_bytes = base_bytes if base_bytes > 0 else self.max_file_bytes
        return (base_bytes + self.slice.log_bytes) // MIB + written_bytes // MIB


@dataclass(frozen=True, slots=True)
class Choice(Generic[_Item]):
    """What a strategy chooses, in order, and the partitions of what it leaves for the next plan."""

    chosen: Sequence[_Item]
    missing: Sequence[str] = ()


class CompactionStrategy:
    """Chooses everything, in the order given; subclasses override one or both methods.

    Both raise ValueError where Hudi's own class fails. With `reads_dates` it compares the dates of
    partitions, with `uses_today` also with the current day. `reads` are the fields of `Settings` that it
    uses, besides `is_incremental`.
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


class UnBounded(CompactionStrategy):
    """Takes every file slice that has log files."""


class BoundedIO(CompactionStrategy):
    """Keeps operations in the order given until their IO has reached the target; the last may exceed it."""

    reads = frozenset({"target_io_mib"})

    def operations(self, operations: Sequence[Operation], settings: Settings) -> Choice[Operation]:
        remaining_mib, count = settings.target_io_mib, 0
        for operation in operations:
            if remaining_mib <= 0:
                break
            remaining_mib -= operation.io_mib
            count += 1
        left = operations[count:] if settings.is_incremental else ()
        return Choice(operations[:count], [operation.partition for operation in left])


class _Ranked(BoundedIO):
    """Takes the highest ranks first, equal ranks in the order given, and none below the threshold."""

    @abstractmethod
    def rank(self, operation: Operation) -> int: ...

    @abstractmethod
    def threshold(self, settings: Settings) -> int: ...

    def operations(self, operations: Sequence[Operation], settings: Settings) -> Choice[Operation]:
        lowest = self.threshold(settings)
        eligible = [operation for operation in operations if self.rank(operation) >= lowest]
        bounded = super().operations(sorted(eligible, key=self.rank, reverse=True), settings)
        below = [operation.partition for operation in operations if self.rank(operation) < lowest]
        return Choice(bounded.chosen, [*below, *bounded.missing] if settings.is_incremental else ())


class LogFileSizeBased(_Ranked):
    """Hudi's default: most log bytes first, none below hoodie.compaction.logfile.size.threshold."""

    reads = frozenset({"target_io_mib", "log_bytes_min"})

    def rank(self, operation: Operation) -> int:
        return operation.slice.log_bytes

    def threshold(self, settings: Settings) -> int:
        return settings.log_bytes_min


class LogFileNumBased(_Ranked):
    """Most log files first, none below hoodie.compaction.logfile.num.threshold."""

    reads = frozenset({"target_io_mib", "log_files_min"})

    def rank(self, operation: Operation) -> int:
        return len(operation.slice.logs)

    def threshold(self, settings: Settings) -> int:
        return settings.log_files_min


class DayBased(BoundedIO):
    """Keeps the latest `target_partitions`, within the target IO, and does not note older partitions."""

    reads_dates = True
    reads = frozenset({"target_io_mib", "target_partitions"})

    def partitions(self, partitions: Sequence[str], settings: Settings) -> Choice[str]:
        if len(partitions) < 2:  # nothing to compare, so Hudi does not read the date
            return Choice(partitions[: settings.target_partitions])
        return Choice(sorted(partitions, key=day_of, reverse=True)[: settings.target_partitions])


class BoundedPartitionAware(DayBased):
    """Keeps partitions from `target_partitions` days before today on, the latest first, whatever their IO."""

    uses_today = True
    reads = frozenset({"target_partitions"})

    def partitions(self, partitions: Sequence[str], settings: Settings) -> Choice[str]:
        """Dashes become slashes, as in Hudi, so partition `2026-01-01` gets a name that no file has."""
        earliest = _earliest_day(settings)
        return Choice([path for path in latest_first(partitions) if day_of(path) >= earliest])

    def operations(self, operations: Sequence[Operation], settings: Settings) -> Choice[Operation]:
        """The latest day first; partitions of one day in the order of a Java map of their paths."""
        earliest = _earliest_day(settings)
        groups = grouped(operation.partition for operation in operations)
        recent = sorted((path for path in groups if day_of(path) >= earliest), key=day_of, reverse=True)
        return Choice(
            [operation for path in recent for operation in operations if operation.partition == path]
        )


def latest_first(partitions: Sequence[str]) -> list[str]:
    """Paths in descending order of their text with dashes for slashes, and then slashes for dashes."""
    dashed = sorted((path.replace("/", "-") for path in partitions), reverse=True)
    return [path.replace("-", "/") for path in dashed]


def _earliest_day(settings: Settings) -> int:
    if settings.today is None:
        raise ValueError("the day of the table state is not known, and the strategy chooses by it")
    return settings.today - settings.target_partitions


class UnBoundedPartitionAware(CompactionStrategy):
    """Keeps the partitions that BoundedPartitionAware leaves out."""

    reads_dates = uses_today = True
    reads = frozenset({"target_partitions"})

    def partitions(self, partitions: Sequence[str], settings: Settings) -> Choice[str]:
        recent = frozenset(BoundedPartitionAware().partitions(partitions, settings).chosen)
        return Choice([path for path in latest_first(partitions) if path not in recent])

    def operations(self, operations: Sequence[Operation], settings: Settings) -> Choice[Operation]:
        recent = BoundedPartitionAware().operations(operations, settings).chosen
        return Choice([operation for operation in operations if operation not in recent])


class PartitionRegexBased(CompactionStrategy):
    """Keeps partitions in whose path the expression occurs anywhere."""

    reads = frozenset({"partition_regex"})

    def partitions(self, partitions: Sequence[str], settings: Settings) -> Choice[str]:
        if settings.partition_regex is None:
            raise ValueError("PartitionRegexBased needs hoodie.compaction.partition.path.regex")
        matches = re.compile(settings.partition_regex).search
        return Choice([path for path in partitions if matches(path)])


@dataclass(frozen=True, slots=True)
class Composite(CompactionStrategy):
    """Applies the strategies one after the other; the last one that sorts decides on the order."""

    strategies: tuple[CompactionStrategy, ...]

    def partitions(self, partitions: Sequence[str], settings: Settings) -> Choice[str]:
        chosen, missing = partitions, list[str]()
        for strategy in self.strategies:
            choice = strategy.partitions(chosen, settings)
            chosen, missing = choice.chosen, [*missing, *choice.missing]
        return Choice(chosen, missing if settings.is_incremental else ())

    def operations(self, operations: Sequence[Operation], settings: Settings) -> Choice[Operation]:
        chosen, missing = operations, list[str]()
        for strategy in self.strategies:
            choice = strategy.operations(chosen, settings)
            chosen, missing = choice.chosen, [*missing, *choice.missing]
        return Choice(chosen, missing)


_PACKAGE = "org.apache.hudi.table.action.compact.strategy."
_SUFFIX = "CompactionStrategy"
STRATEGIES: Mapping[str, type[CompactionStrategy]] = {
    strategy.__name__: strategy
    for strategy in (
        BoundedIO, BoundedPartitionAware, DayBased, LogFileNumBased, LogFileSizeBased, PartitionRegexBased,
        UnBounded, UnBoundedPartitionAware,
    )
}  # fmt: skip


def strategy_of(names: str) -> CompactionStrategy:
    """The strategy of these names, separated by commas; several are a Composite, in that order.

    Raises ValueError, as do the functions below, for a name that is not in `STRATEGIES`.
    """
    strategies = tuple(STRATEGIES[name]() for name in names_of(names))
    return strategies[0] if len(strategies) == 1 else Composite(strategies)


def reads_dates(names: str) -> bool:
    return any(STRATEGIES[name].reads_dates for name in names_of(names))


def uses_today(names: str) -> bool:
    return any(STRATEGIES[name].uses_today for name in names_of(names))


def reads(names: str) -> frozenset[str]:
    """The fields of `Settings` that at least one of the strategies uses."""
    return frozenset[str]().union(*(STRATEGIES[name].reads for name in names_of(names)))


def class_names(names: str) -> str:
    """Hudi's own classes, as the value of hoodie.compaction.strategy."""
    return ",".join(f"{_PACKAGE}{name}{_SUFFIX}" for name in names_of(names))


def names_of(names: str) -> list[str]:
    """Short names; package and suffix may be given."""
    short = [name.strip().removeprefix(_PACKAGE).removesuffix(_SUFFIX) for name in names.split(",")]
    check_known(short, STRATEGIES, "strategy")
    return short
