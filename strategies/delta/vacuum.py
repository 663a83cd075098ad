"""The planner that runs VACUUM."""

from dataclasses import dataclass
from typing import ClassVar

from strategies.delta.commands import Command
from strategies.plan import Native, Plan, Reason
from strategies.state import TableState


@dataclass(frozen=True, slots=True)
class Vacuum:
    """Run VACUUM, which deletes files that left the table more than `retain_ms` of scenario time ago.

    Older versions can no longer be read afterwards. Delta's default is 7 days
    (delta.deletedFileRetentionDuration), which is longer than most scenarios.
    """

    retain_ms: int = 7 * 86_400_000
    reads_state: ClassVar[bool] = False
    needs: ClassVar[frozenset[str]] = frozenset({Command.VACUUM})

    def __post_init__(self) -> None:
        if not self.retain_ms >= 0:
            raise ValueError(f"retain_ms={self.retain_ms} must be >= 0")

    def decide(self, state: TableState) -> Plan | None:
        keep_from_ms = state.observed_at_ms - self.retain_ms
        if keep_from_ms <= 0:
            return None
        return Plan((Native(Command.VACUUM, {"older_than_at_ms": str(keep_from_ms)}),), Reason.RETENTION)
