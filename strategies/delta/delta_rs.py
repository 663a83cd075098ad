"""The planner that runs the compaction of delta-rs, which needs no Spark."""

from dataclasses import dataclass

from strategies.delta.commands import Command
from strategies.plan import Native, Plan, Reason
from strategies.planner import Planner, PlannerTraits
from strategies.state import TableState


@dataclass(frozen=True, slots=True)
class DeltaRs(Planner):
    """Run `optimize.compact` of delta-rs in the process of the benchmark, without Spark.

    Its rules are its own: it merges files that are next to each other in the log, excludes only files above
    `target_size_bytes` (None: the table's target file size), and does not look at deleted rows.
    """

    target_size_bytes: int | None = None

    def __post_init__(self) -> None:
        if self.target_size_bytes is not None and self.target_size_bytes < 1:
            raise ValueError(f"target_size_bytes={self.target_size_bytes} must be >= 1")

    def traits(self) -> PlannerTraits:
        return PlannerTraits(needs=frozenset({Command.DELTA_RS}), reads_state=False)

    def decide(self, state: TableState) -> Plan | None:
        target_bytes = self.target_size_bytes or state.target_file_size_bytes
        return Plan((Native(Command.DELTA_RS, {"target_size": str(target_bytes)}),), Reason.SCHEDULED)
