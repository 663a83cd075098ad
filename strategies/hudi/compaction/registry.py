"""Hudi's compaction strategies by the names of their classes, one line each."""

from collections.abc import Mapping

from strategies.hudi.compaction.bounded_io import BoundedIO
from strategies.hudi.compaction.bounded_partition_aware import BoundedPartitionAware
from strategies.hudi.compaction.composite import Composite
from strategies.hudi.compaction.day_based import DayBased
from strategies.hudi.compaction.log_file_num_based import LogFileNumBased
from strategies.hudi.compaction.log_file_size_based import LogFileSizeBased
from strategies.hudi.compaction.partition_regex_based import PartitionRegexBased
from strategies.hudi.compaction.strategy import CompactionStrategy
from strategies.hudi.compaction.unbounded import UnBounded
from strategies.hudi.compaction.unbounded_partition_aware import UnBoundedPartitionAware
from strategies.names import near_name

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
