"""Triggers: when a rule looks at the table. Any trigger composes with any planner."""

import math
from dataclasses import dataclass
from typing import Protocol

from strategies.state import TableState

# Scenario times are whole milliseconds in practice; a tolerance far below that keeps 0.1 + 0.2
# from missing a boundary at 0.3.
TIME_TOLERANCE_S = 1e-6


@dataclass(frozen=True, slots=True)
class RuleMemory:
    """What a rule remembers between looks: scenario times in seconds, -1 before the first."""

    looked_at_s: float = 0.0
    fired_at_s: float = -1.0
    commits_at_fire_count: int = 0


class Trigger(Protocol):
    """Answers whether a rule should look now. Pure: the same state and memory, the same answer."""

    def due(self, state: TableState, memory: RuleMemory) -> bool: ...


@dataclass(frozen=True, slots=True)
class Every:
    """Fires at `interval_s`, then every `interval_s` of scenario time, never at 0.

    A look that comes late fires once, however many boundaries passed since the look before.
    """

    interval_s: float

    def __post_init__(self) -> None:
        if not self.interval_s > 0:
            raise ValueError(f"interval_s={self.interval_s} must be > 0")

    def due(self, state: TableState, memory: RuleMemory) -> bool:
        return self._boundary(state.observed_at_s) > self._boundary(memory.looked_at_s)

    def _boundary(self, at_s: float) -> int:
        return math.floor((at_s + TIME_TOLERANCE_S) / self.interval_s)


@dataclass(frozen=True, slots=True)
class AfterCommits:
    """Fires once `commits` commits of the stream have landed since it last fired."""

    commits: int

    def __post_init__(self) -> None:
        if self.commits < 1:
            raise ValueError(f"commits={self.commits} must be >= 1")

    def due(self, state: TableState, memory: RuleMemory) -> bool:
        return state.commits_total_count - memory.commits_at_fire_count >= self.commits


@dataclass(frozen=True, slots=True)
class FileCount:
    """Fires while the table holds at least `files` data files smaller than `small_bytes`.

    `small_bytes` None means 75 % of the table's target file size, the lower bound under which
    Iceberg's planner calls a file too small (SizeBasedFileRewritePlanner MIN_FILE_SIZE_DEFAULT_RATIO).
    """

    files: int
    small_bytes: int | None = None

    def __post_init__(self) -> None:
        if self.files < 1:
            raise ValueError(f"files={self.files} must be >= 1")
        if self.small_bytes is not None and self.small_bytes < 1:
            raise ValueError(f"small_bytes={self.small_bytes} must be >= 1")

    def due(self, state: TableState, memory: RuleMemory) -> bool:
        limit_bytes = self.small_bytes or state.target_file_size_bytes * 3 // 4
        return sum(f.size_bytes < limit_bytes for f in state.data_files) >= self.files
