"""The planner that merges small base files into larger ones of new file groups."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from strategies.hudi.clustering_plan import CLUSTERING_OPTIONS, SORT_COLUMNS, clustering_texts
from strategies.hudi.commands import Command
from strategies.options import OptionValue
from strategies.plan import Capability, Native, Plan, Reason
from strategies.planner import Planner, PlannerTraits
from strategies.state import TableState


@dataclass(frozen=True, slots=True)
class Clustering(Planner):
    """Merge small base files, and the log files of their slices, into larger files of new file groups.

    It is what rewriting small files is in other formats. A table with a bucket index cannot be clustered,
    since the number of its file groups is fixed. `options` have Hudi's names.
    """

    options: Mapping[str, OptionValue] = field(default_factory=dict)
    known_options: ClassVar[Mapping[str, str]] = CLUSTERING_OPTIONS

    def __post_init__(self) -> None:
        clustering_texts(self.options)

    def traits(self) -> PlannerTraits:
        named = str(self.options.get(SORT_COLUMNS, "")).split(",")
        columns = tuple(column.strip() for column in named if column.strip())
        needs = frozenset({Command.CLUSTERING, Capability.DELAYED_COMMIT})
        return PlannerTraits(needs=needs, columns=columns, reads_state=False)

    def decide(self, state: TableState) -> Plan | None:
        action = Native(Command.CLUSTERING, {}, clustering_texts(self.options))
        return Plan((action,), Reason.SCHEDULED, kind="clustering")
