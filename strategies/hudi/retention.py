"""Planners that limit what a table retains: cleaning deletes files, archiving moves old instants."""

from dataclasses import dataclass

from strategies.hudi.commands import Command
from strategies.java_values import MAX_INT
from strategies.plan import Native, Plan, Reason
from strategies.planner import Planner, PlannerTraits
from strategies.state import TableState


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
        return PlannerTraits(needs=frozenset({Command.ARCHIVE}), reads_state=False)

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
        return PlannerTraits(needs=frozenset({Command.CLEAN}), reads_state=False)

    def decide(self, state: TableState) -> Plan | None:
        arguments = {"retain_commits": str(self.retain_commits)}
        return Plan((Native(Command.CLEAN, arguments),), Reason.RETENTION)
