"""The planner that compacts by hand, as was done before Delta 1.2 had OPTIMIZE."""

from dataclasses import dataclass

from strategies.delta.commands import Command
from strategies.delta.files import delta_state
from strategies.plan import Native, Plan, Reason
from strategies.state import TableState


@dataclass(frozen=True, slots=True)
class Repartition:
    """Read partitions, repartition their rows, and overwrite them with `dataChange` set to false.

    Every partition with more than `files` files is rewritten into so many files, whatever their sizes.
    """

    files: int = 1

    needs = frozenset({Command.REPARTITION})

    def __post_init__(self) -> None:
        if self.files < 1:
            raise ValueError(f"files={self.files} must be >= 1")

    def decide(self, state: TableState) -> Plan | None:
        partitions = delta_state(state).partitions
        due = [name for name, stats in partitions.items() if stats.files_count > self.files]
        actions = tuple(
            Native(Command.REPARTITION, {"partition": partition, "files": str(self.files)})
            for partition in due
        )
        return Plan(actions, Reason.SMALL_FILES) if actions else None
