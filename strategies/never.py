"""The baseline: a table that is never compacted."""

from dataclasses import dataclass

from strategies.plan import Plan
from strategies.planner import Planner, PlannerTraits
from strategies.state import TableState


@dataclass(frozen=True, slots=True)
class Never(Planner):
    """Never compact: the baseline for the costs and benefits of all other strategies."""

    def traits(self) -> PlannerTraits:
        return PlannerTraits(reads_state=False, may_plan=False)

    def decide(self, state: TableState) -> Plan | None:
        return None
