"""How often a commit that lost against others is done again."""

from dataclasses import dataclass, field
from typing import Self

from bench.engines.contract import CommitConflictError
from bench.replay.step_log import Fields
from bench.scenario.schema import WriterRole

_BACKOFF_MAX_S = 60.0


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a commit that conflicts is done again, and how long it waits: twice as long each time.

    It never waits for longer than a minute.
    """

    retries: int
    backoff_s: float

    @classmethod
    def of(cls, keys: WriterRole) -> Self:
        return cls(keys.retries, keys.backoff_ms / 1000)

    def wait_s(self, conflicts_count: int) -> float:
        return min(self.backoff_s * 2.0 ** (conflicts_count - 1), _BACKOFF_MAX_S)


@dataclass(slots=True)
class Tries:
    """The tries of one batch that have lost so far."""

    retry: Retry
    conflicts: list[str] = field(default_factory=list)
    wasted_cpu_s: float = 0.0

    def lost(self, conflict: CommitConflictError) -> float:
        """Count a conflict; how long to wait before the next try. Raises it if retries are spent."""
        self.conflicts.append(conflict.reason)
        self.wasted_cpu_s += conflict.cost.cpu_s
        if len(self.conflicts) > self.retry.retries:
            raise conflict
        return self.retry.wait_s(len(self.conflicts))

    def fields(self) -> Fields:
        """What the record of the commit says of them."""
        return {"conflicts": self.conflicts, "wasted_cpu_s": self.wasted_cpu_s}
