"""A commit that loses against others is done again."""

from dataclasses import dataclass, field

from bench.engines.contract import CommitConflictError
from bench.replay.step_log import Fields
from bench.scenario.schema import WriterRole

_BACKOFF_MAX_S = 60.0


@dataclass(slots=True)
class Tries:
    """The tries of one batch that have lost so far; `role` says how many there may be."""

    role: WriterRole
    conflicts: list[str] = field(default_factory=list)
    wasted_cpu_s: float = 0.0

    def lost(self, conflict: CommitConflictError) -> float:
        """Count a conflict; how many seconds to wait before the next try.

        That is twice as long each time, but never longer than a minute. Raises the conflict if retries are
        spent.
        """
        self.conflicts.append(conflict.reason)
        self.wasted_cpu_s += conflict.cost.cpu_s
        count = len(self.conflicts)
        if count > self.role.retries:
            raise conflict
        return min(self.role.backoff_ms / 1000 * 2.0 ** (count - 1), _BACKOFF_MAX_S)

    def fields(self) -> Fields:
        """What the record of the commit says of them."""
        return {"conflicts": self.conflicts, "wasted_cpu_s": self.wasted_cpu_s}
