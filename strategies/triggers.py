"""Triggers: when a rule evaluates the table. Any trigger composes with any planner."""

from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass

from strategies.state import TableState


@dataclass(frozen=True, slots=True)
class RuleMemory:
    """What a rule remembers between evaluations. `note` is the planner's own; see `Answer`."""

    evaluated_at_ms: int = 0
    commits_at_fire_count: int = 0
    note: Hashable = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerTraits:
    """What a trigger declares before it has seen a table.

    `interval_ms` is the time between two firings of a trigger that fires at fixed intervals: a scenario that
    commits less often is refused, and the disk space of its runs is estimated from the intervals. A trigger
    that only makes sense for engines with certain capabilities names them in `needs`. Without `reads_state`
    it uses only the time or what every commit knows, so no reading of the table's files is charged to it.
    """

    interval_ms: int | None = None
    needs: frozenset[str] = frozenset()
    reads_state: bool = True


class Trigger(ABC):
    """Answers whether a rule should evaluate the table now. Pure: the same state and memory, the same answer.

    A class with `due` alone need not inherit from this one.
    """

    __slots__ = ()

    @abstractmethod
    def due(self, state: TableState, memory: RuleMemory) -> bool: ...

    def traits(self) -> TriggerTraits:
        return TriggerTraits()


def trigger_traits(trigger: object) -> TriggerTraits:
    """The defaults if the class does not inherit from `Trigger`."""
    return trigger.traits() if isinstance(trigger, Trigger) else TriggerTraits()


@dataclass(frozen=True, slots=True)
class Every(Trigger):
    """Fires at `interval_ms`, then every `interval_ms` of scenario time, never at 0.

    With `offset_ms`, which must be less than `interval_ms`, it first fires at `offset_ms`. A late evaluation
    fires once, however many intervals have ended since the previous one.
    """

    interval_ms: int
    offset_ms: int | None = None

    def __post_init__(self) -> None:
        if not self.interval_ms > 0:
            raise ValueError(f"interval_ms={self.interval_ms} must be > 0")
        if self.offset_ms is not None and not 0 < self.offset_ms < self.interval_ms:
            raise ValueError(
                f"offset_ms={self.offset_ms} must be > 0 and less than interval_ms={self.interval_ms}"
            )

    def traits(self) -> TriggerTraits:
        return TriggerTraits(interval_ms=self.interval_ms, reads_state=False)

    def due(self, state: TableState, memory: RuleMemory) -> bool:
        return self._boundary(state.observed_at_ms) > self._boundary(memory.evaluated_at_ms)

    def _boundary(self, at_ms: int) -> int:
        return (at_ms - (self.offset_ms or 0)) // self.interval_ms


@dataclass(frozen=True, slots=True)
class At(Trigger):
    """Fires at each of the moments `times_ms` of scenario time, or with the first commit after it.

    Moments that have passed since the previous evaluation fire once.
    """

    times_ms: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.times_ms or min(self.times_ms) <= 0:
            raise ValueError(f"times_ms={list(self.times_ms)} must be one or more times, each > 0")

    def traits(self) -> TriggerTraits:
        return TriggerTraits(reads_state=False)

    def due(self, state: TableState, memory: RuleMemory) -> bool:
        return any(memory.evaluated_at_ms < time_ms <= state.observed_at_ms for time_ms in self.times_ms)


@dataclass(frozen=True, slots=True)
class AfterCommits(Trigger):
    """Fires once `commits` commits of the stream have landed since it last fired."""

    commits: int

    def __post_init__(self) -> None:
        if self.commits < 1:
            raise ValueError(f"commits={self.commits} must be >= 1")

    def traits(self) -> TriggerTraits:
        return TriggerTraits(reads_state=False)

    def due(self, state: TableState, memory: RuleMemory) -> bool:
        return state.commits_total_count - memory.commits_at_fire_count >= self.commits


@dataclass(frozen=True, slots=True)
class FileCount(Trigger):
    """Fires while the table holds at least `files` data files smaller than `small_bytes`.

    `small_bytes` defaults to 75 % of the table's target file size, below which Iceberg's `rewrite_data_files`
    calls a file too small (SizeBasedFileRewritePlanner MIN_FILE_SIZE_DEFAULT_RATIO).
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
