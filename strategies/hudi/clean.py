"""The planner that cleans: it deletes files that no retained commit needs."""

from dataclasses import dataclass

from strategies.hudi.commands import Command
from strategies.java_values import MAX_INT
from strategies.plan import Native, Plan, Reason
from strategies.planner import Planner, PlannerTraits
from strategies.state import TableState


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
        return PlannerTraits(needs=frozenset({Command.CLEAN}), reads_state=False)

    def decide(self, state: TableState) -> Plan | None:
        arguments = {"retain_commits": str(self.retain_commits)}
        return Plan((Native(Command.CLEAN, arguments),), Reason.RETENTION)
