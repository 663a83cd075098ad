"""The planner that compacts: it decides when, Hudi's own strategies decide which file slices."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from strategies.hudi.commands import Command
from strategies.hudi.compaction_options import COMPACTION_OPTIONS, compaction_texts
from strategies.hudi.compaction_strategies import strategy_of, uses_today
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
    take that of their paths.

    `options` have Hudi's names. Unless hoodie.table.services.incremental.enabled is false, Hudi looks only at
    partitions written since the last compaction, and does not come back to those that a strategy by date or
    by regular expression has left out until they are written to again.
    """

    strategy: str = DEFAULT_STRATEGY
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    known_options: ClassVar[Mapping[str, str]] = COMPACTION_OPTIONS

    def __post_init__(self) -> None:
        strategy_of(self.strategy)
        compaction_texts(self.options)

    def traits(self) -> PlannerTraits:
        return PlannerTraits(
            needs=frozenset({Command.COMPACTION, Capability.DELAYED_COMMIT}), reads_state=False
        )

    def decide(self, state: TableState) -> Plan | None:
        arguments, today = {"strategy": self.strategy}, state.calendar_day
        if today is not None and uses_today(self.strategy):
            arguments["today"] = today.isoformat()
        action = Native(Command.COMPACTION, arguments, compaction_texts(self.options))
        return Plan((action,), Reason.SCHEDULED, kind="compaction")
