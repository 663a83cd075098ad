"""Triggers: when a rule evaluates the table. Any trigger composes with any planner."""

from dataclasses import dataclass
from typing import Protocol

from strategies.state import TableState


@dataclass(frozen=True, slots=True)
class RuleMemory:
    """What a rule remembers between evaluations: scenario milliseconds; None where it never fired.

    `note` is the planner's own (see `strategies.strategy.Planner`); it changes only when the rule fires.
    """

    evaluated_at_ms: int = 0
    fired_at_ms: int | None = None
    commits_at_fire_count: int = 0
    note: object | None = None


class Trigger(Protocol):
    """Answers whether a rule should evaluate the table now. Pure: the same state and memory, the same answer.

    A trigger that fires at fixed intervals has them in a field or attribute `interval_ms`: a scenario
    that commits less often is refused then, and its disk space is estimated from them. One that only makes
    sense of tables with some capability names it in `needs`, as planners do. One without an interval that
    goes by what every commit knows, and not by the files of the table, says `reads_state = False`.
    """

    def due(self, state: TableState, memory: RuleMemory) -> bool: ...


def interval_ms_of(trigger: Trigger) -> int | None:
    """Scenario milliseconds between two firings of a trigger; None where it keeps no fixed interval."""
    interval_ms = getattr(trigger, "interval_ms", None)
    return interval_ms if isinstance(interval_ms, int) and interval_ms > 0 else None


def reads_state_of(trigger: Trigger) -> bool:
    """Whether a trigger looks at the table: one without an interval does, unless it says that it does not."""
    return interval_ms_of(trigger) is None and getattr(trigger, "reads_state", True)


def needs_of(trigger: Trigger) -> frozenset[str]:
    """The capabilities that a trigger declares."""
    return frozenset(getattr(trigger, "needs", ()))


@dataclass(frozen=True, slots=True)
class Every:
    """Fires at `interval_ms`, then every `interval_ms` of scenario time, never at 0.

    With `offset_ms`, which must be less than `interval_ms`, it fires at `offset_ms` first, and from then on
    every `interval_ms`. An evaluation that comes late fires once, however many boundaries passed since the
    one before.
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

    def due(self, state: TableState, memory: RuleMemory) -> bool:
        return self._boundary(state.observed_at_ms) > self._boundary(memory.evaluated_at_ms)

    def _boundary(self, at_ms: int) -> int:
        return (at_ms - (self.offset_ms or 0)) // self.interval_ms


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

    `small_bytes` None means 75 % of the table's target file size, below which `rewrite_data_files` calls a
    file too small (SizeBasedFileRewritePlanner MIN_FILE_SIZE_DEFAULT_RATIO).
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
