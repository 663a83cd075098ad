"""Planners and a trigger as a user writes them, named as own_planners:CLASS."""

from dataclasses import dataclass

from strategies.plan import Compact, FileGroup, Plan, Reason, Rewrite
from strategies.planner import Planner, PlannerTraits
from strategies.triggers import Trigger, TriggerTraits

_TRAITS = {
    "version": PlannerTraits(max_format_version=1),
    "columns": PlannerTraits(columns=("zz",)),
    "needs": PlannerTraits(needs=frozenset({"nope"})),
    "whole": PlannerTraits(needs=frozenset({"iceberg.rewrite_data_files"})),
}


@dataclass(frozen=True)
class Pulse(Trigger):
    """Fires at every evaluation; says that it does so at an interval."""

    interval_ms: int

    def traits(self):
        return TriggerTraits(interval_ms=self.interval_ms)

    def due(self, state, memory):
        return True


@dataclass(frozen=True)
class Pair:
    """Rewrites the first two files of a partition."""

    target_bytes: int
    partition: str = "city=Oslo"

    def decide(self, state):
        paths = sorted(file.path for file in state.data_files if file.partition == self.partition)[:2]
        group = FileGroup(tuple(paths), self.partition)
        return Plan((Rewrite((group,), self.target_bytes),), Reason.OTHER, "the first two")


@dataclass(frozen=True)
class OnePartition:
    """Compacts one partition by the format's own command."""

    name: str
    min_input_files: str

    def decide(self, state):
        return Plan((Compact((self.name,), {"min-input-files": self.min_input_files}),), Reason.OTHER)


@dataclass(frozen=True)
class Invents:
    """Plans a file that does not exist."""

    def decide(self, state):
        return Plan((Rewrite((FileGroup(("nowhere",)),), 1),), Reason.OTHER)


@dataclass(frozen=True)
class Fails:
    """Raises an error."""

    def decide(self, state):
        return 1 / 0


@dataclass(frozen=True)
class Narrow(Planner):
    """Does not support the table of the tests, by one of its traits."""

    trait: str

    def traits(self):
        return _TRAITS[self.trait]

    def decide(self, state):
        return None
