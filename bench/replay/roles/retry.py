"""How often a commit that lost against others is done again."""

from dataclasses import dataclass
from typing import Self

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
