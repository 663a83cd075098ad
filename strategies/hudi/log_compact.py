"""The planner that merges log files into larger ones, which costs less than a compaction."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from strategies.hudi.commands import Command
from strategies.hudi.log_compaction_plan import LOG_COMPACTION_OPTIONS, log_compaction_texts
from strategies.options import OptionValue
from strategies.plan import Capability, Native, Plan, Reason
from strategies.planner import Planner, PlannerTraits
from strategies.state import TableState


@dataclass(frozen=True, slots=True)
class LogCompaction(Planner):
    """Merge the log files of each file slice that has enough of them into one.

    The merged files stay in the slice until a compaction: readers still list them, and skip what is in them.
    Hudi plans nothing until as many delta commits as a slice needs log files, five by default, have completed
    since the last compaction and since the last log compaction. A compaction that is planned while a log
    compaction is pending takes its slices too, and Hudi then refuses the log compaction, whose plan stays
    pending: do not delay one past the next compaction. `options` have Hudi's names.
    """

    options: Mapping[str, OptionValue] = field(default_factory=dict)
    known_options: ClassVar[Mapping[str, str]] = LOG_COMPACTION_OPTIONS

    def __post_init__(self) -> None:
        log_compaction_texts(self.options)

    def traits(self) -> PlannerTraits:
        return PlannerTraits(
            needs=frozenset({Command.LOG_COMPACTION, Capability.DELAYED_COMMIT}), reads_state=False
        )

    def decide(self, state: TableState) -> Plan | None:
        action = Native(Command.LOG_COMPACTION, {}, log_compaction_texts(self.options))
        return Plan((action,), Reason.SCHEDULED, kind="log compaction")
