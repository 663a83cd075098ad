"""Planners that run Hudi's table services: they decide when, Hudi decides which file slices."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from strategies.hudi.clustering_plan import CLUSTERING_OPTIONS, SORT_COLUMNS, clustering_texts
from strategies.hudi.commands import Command
from strategies.hudi.compaction_plan import COMPACTION_OPTIONS, compaction_texts
from strategies.hudi.compaction_strategies import strategy_of, uses_today
from strategies.hudi.log_compaction_plan import LOG_COMPACTION_OPTIONS, log_compaction_texts
from strategies.java_values import MAX_INT
from strategies.options import OptionValue
from strategies.plan import Capability, Native, Plan, Reason
from strategies.planner import Planner, PlannerTraits
from strategies.state import TableState

DEFAULT_STRATEGY = "LogFileSizeBased"


@dataclass(frozen=True, slots=True)
class Compaction(Planner):
    """Merge the log files of file slices into new base files.

    `strategy` names the class that chooses the slices, without the suffix CompactionStrategy: BoundedIO,
    BoundedPartitionAware, DayBased, LogFileNumBased, LogFileSizeBased, PartitionRegexBased, UnBounded or
    UnBoundedPartitionAware. Several, separated by commas, choose one after the other (Composite). BoundedIO
    takes the slices in the order in which Hudi lists them, which is not specified: previews and simulations
    list them by path.

    `options` have Hudi's names. Unless hoodie.table.services.incremental.enabled is false, Hudi looks only at
    partitions written since the last compaction. A partition that a strategy by date or by regular expression
    left out is not looked at again until it is written to.
    """

    strategy: str = DEFAULT_STRATEGY
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    known_options: ClassVar[Mapping[str, str]] = COMPACTION_OPTIONS

    def __post_init__(self) -> None:
        strategy_of(self.strategy)
        compaction_texts(self.options)

    def traits(self) -> PlannerTraits:
        return _traits(Command.COMPACTION, Capability.DELAYED_COMMIT)

    def decide(self, state: TableState) -> Plan | None:
        arguments, today = {"strategy": self.strategy}, state.calendar_day
        if today is not None and uses_today(self.strategy):
            arguments["today"] = today.isoformat()
        action = Native(Command.COMPACTION, arguments, compaction_texts(self.options))
        return Plan((action,), Reason.SCHEDULED, kind="compaction")


@dataclass(frozen=True, slots=True)
class LogCompaction(Planner):
    """Merge the log files of each file slice that has enough of them into one larger log file.

    This costs less than a compaction. The merged files stay in the slice until a compaction: readers still
    list them, and skip their content. Hudi plans nothing until as many delta commits as a slice needs log
    files, five by default, have completed since the last compaction and since the last log compaction.

    Do not delay a log compaction past the next compaction: a compaction that is planned while it is pending
    takes its slices too, and Hudi then refuses the log compaction, whose plan stays pending. `options` have
    Hudi's names.
    """

    options: Mapping[str, OptionValue] = field(default_factory=dict)
    known_options: ClassVar[Mapping[str, str]] = LOG_COMPACTION_OPTIONS

    def __post_init__(self) -> None:
        log_compaction_texts(self.options)

    def traits(self) -> PlannerTraits:
        return _traits(Command.LOG_COMPACTION, Capability.DELAYED_COMMIT)

    def decide(self, state: TableState) -> Plan | None:
        action = Native(Command.LOG_COMPACTION, {}, log_compaction_texts(self.options))
        return Plan((action,), Reason.SCHEDULED, kind="log compaction")


@dataclass(frozen=True, slots=True)
class Clustering(Planner):
    """Merge small base files, and the log files of their slices, into larger files of new file groups.

    This is Hudi's equivalent of rewriting small files in other formats. A table with a bucket index cannot be
    clustered, since the number of its file groups is fixed. `options` have Hudi's names.
    """

    options: Mapping[str, OptionValue] = field(default_factory=dict)
    known_options: ClassVar[Mapping[str, str]] = CLUSTERING_OPTIONS

    def __post_init__(self) -> None:
        clustering_texts(self.options)

    def traits(self) -> PlannerTraits:
        names = str(self.options.get(SORT_COLUMNS, "")).split(",")
        columns = tuple(name.strip() for name in names if name.strip())
        return _traits(Command.CLUSTERING, Capability.DELAYED_COMMIT, columns=columns)

    def decide(self, state: TableState) -> Plan | None:
        action = Native(Command.CLUSTERING, {}, clustering_texts(self.options))
        return Plan((action,), Reason.SCHEDULED, kind="clustering")


@dataclass(frozen=True, slots=True)
class Archive(Planner):
    """Once the timeline has more than `max_commits` commits, leave `min_commits` and archive the others.

    Hudi's own defaults are 30 and 20 (hoodie.keep.max.commits, hoodie.keep.min.commits), after each commit.
    Cleaning has to retain fewer than `min_commits`.
    """

    min_commits: int = 20
    max_commits: int = 30

    def __post_init__(self) -> None:
        if not 2 <= self.min_commits < self.max_commits <= MAX_INT:
            raise ValueError(
                f"min_commits={self.min_commits} must be >= 2 and less than max_commits={self.max_commits}, "
                "a Java int"
            )

    def traits(self) -> PlannerTraits:
        return _traits(Command.ARCHIVE)

    def decide(self, state: TableState) -> Plan | None:
        arguments = {"min_commits": str(self.min_commits), "max_commits": str(self.max_commits)}
        return Plan((Native(Command.ARCHIVE, arguments),), Reason.RETENTION)


@dataclass(frozen=True, slots=True)
class Clean(Planner):
    """Delete what was replaced before the last `retain_commits` commits (KEEP_LATEST_COMMITS).

    Earlier states of the table can no longer be read afterwards. By default Hudi cleans after each commit and
    retains 10 (hoodie.clean.commits.retained).
    """

    retain_commits: int = 10

    def __post_init__(self) -> None:
        if not 1 <= self.retain_commits <= MAX_INT:
            raise ValueError(f"retain_commits={self.retain_commits} must be >= 1 and a Java int")

    def traits(self) -> PlannerTraits:
        return _traits(Command.CLEAN)

    def decide(self, state: TableState) -> Plan | None:
        arguments = {"retain_commits": str(self.retain_commits)}
        return Plan((Native(Command.CLEAN, arguments),), Reason.RETENTION)


def _traits(*needs: str, columns: tuple[str, ...] = ()) -> PlannerTraits:
    return PlannerTraits(needs=frozenset(needs), columns=columns, reads_state=False)
