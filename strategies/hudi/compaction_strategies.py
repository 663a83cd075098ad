"""Hudi's compaction strategies: which partitions each looks at, and which operations in what order.

A class has the name of Hudi's own without the suffix CompactionStrategy. Source: the package
org.apache.hudi.table.action.compact.strategy of Hudi 1.2.0.
"""

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Generic, TypeVar

from strategies.hudi.dates import day_of
from strategies.hudi.operations import Operation
from strategies.java_hash_map import grouped
from strategies.names import near_name

_Item = TypeVar("_Item")

DEFAULT_TARGET_IO_MIB = 500 * 1024
DEFAULT_TARGET_PARTITIONS = 10


@dataclass(frozen=True, slots=True)
class Settings:
    """The options that strategies choose by.

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


class UnBounded(CompactionStrategy):
    """Takes every file slice that has log files."""


class BoundedIO(CompactionStrategy):
    """Keeps operations in the order given until their IO has reached the target; the last may exceed it."""

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


class _Ranked(BoundedIO):
    """Takes the highest ranks first, equal ones in the order given, and none below the threshold."""

    @abstractmethod
    def rank(self, operation: Operation) -> int:
        """The figure that operations are ranked by."""

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


class LogFileSizeBased(_Ranked):
    """Hudi's default. Takes slices with the most log bytes first.

    It leaves alone those with less than hoodie.compaction.logfile.size.threshold.
    """

    reads = frozenset({"target_io_mib", "log_bytes_min"})

    def rank(self, operation: Operation) -> int:
        return operation.log_bytes

    def threshold(self, settings: Settings) -> int:
        return settings.log_bytes_min


class LogFileNumBased(_Ranked):
    """Takes slices with the most log files first.

    It leaves alone those with fewer than hoodie.compaction.logfile.num.threshold.
    """

    reads = frozenset({"target_io_mib", "log_files_min"})

    def rank(self, operation: Operation) -> int:
        return operation.log_files_count

    def threshold(self, settings: Settings) -> int:
        return settings.log_files_min


class DayBased(BoundedIO):
    """Keeps the latest `target_partitions`, within the target IO.

    Older partitions are not noted for the next plan.
    """

    reads_dates = True
    reads = frozenset({"target_io_mib", "target_partitions"})

    def partitions(self, partitions: Sequence[str], settings: Settings) -> Choice[str]:
        if len(partitions) < 2:  # nothing to compare, so Hudi does not read the date
            return Choice(partitions[: settings.target_partitions])
        return Choice(sorted(partitions, key=day_of, reverse=True)[: settings.target_partitions])


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


class PartitionRegexBased(CompactionStrategy):
    """Keeps partitions in whose path the expression occurs anywhere."""

    reads = frozenset({"partition_regex"})

    def partitions(self, partitions: Sequence[str], settings: Settings) -> Choice[str]:
        if settings.partition_regex is None:
            raise ValueError("PartitionRegexBased needs hoodie.compaction.partition.path.regex")
        found = re.compile(settings.partition_regex).search
        return Choice([path for path in partitions if found(path)])


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


_PACKAGE = "org.apache.hudi.table.action.compact.strategy."
_SUFFIX = "CompactionStrategy"
STRATEGIES: Mapping[str, type[CompactionStrategy]] = {
    each.__name__: each
    for each in (
        BoundedIO, BoundedPartitionAware, DayBased, LogFileNumBased, LogFileSizeBased, PartitionRegexBased,
        UnBounded, UnBoundedPartitionAware,
    )
}  # fmt: skip


def strategy_of(names: str) -> CompactionStrategy:
    """The strategy of these names, which are separated by commas; several are a Composite, in that order.

    Raises ValueError for a name that is none of `STRATEGIES`.
    """
    strategies = tuple(STRATEGIES[name]() for name in names_of(names))
    return strategies[0] if len(strategies) == 1 else Composite(strategies)


def reads_dates(names: str) -> bool:
    """Whether one of the strategies compares the dates of partitions. Raises as `strategy_of` does."""
    return any(STRATEGIES[name].reads_dates for name in names_of(names))


def uses_today(names: str) -> bool:
    """Whether one of the strategies compares dates with today. Raises as `strategy_of` does."""
    return any(STRATEGIES[name].uses_today for name in names_of(names))


def reads(names: str) -> frozenset[str]:
    """The fields of `Settings` that one of the strategies goes by. Raises as `strategy_of` does."""
    return frozenset[str]().union(*(STRATEGIES[name].reads for name in names_of(names)))


def class_names(names: str) -> str:
    """Hudi's own classes, as the value of hoodie.compaction.strategy. Raises as `strategy_of` does."""
    return ",".join(f"{_PACKAGE}{name}{_SUFFIX}" for name in names_of(names))


def names_of(names: str) -> list[str]:
    """Names without package and suffix, with which they may be given. Raises as `strategy_of` does."""
    found = [name.strip().removeprefix(_PACKAGE).removesuffix(_SUFFIX) for name in names.split(",")]
    for name in found:
        if name not in STRATEGIES:
            near = near_name(name, STRATEGIES)
            hint = f"; did you mean {near!r}?" if near else ""
            raise ValueError(f"strategy {name!r} is not one of {', '.join(STRATEGIES)}{hint}")
    return found
