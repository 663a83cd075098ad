"""Hudi's triggers: a compaction is due by the number of delta commits or the time since the last one.

A delta commit is a commit of the stream, its initial load included, or a log compaction. Hudi has no timer:
it evaluates these triggers when a client requests a compaction. Here they are evaluated whenever their rule
is. They only need the timeline, which each commit of Hudi loads anyway.

Source: ScheduleCompactionActionExecutor.needCompact and CompactionUtils of Hudi 1.2.0.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from strategies.hudi.commands import Command
from strategies.hudi.files import Action, HudiState, Instant, last_completed
from strategies.java_values import MAX_INT
from strategies.plan import state_as
from strategies.state import TableState
from strategies.triggers import RuleMemory, Trigger, TriggerTraits

DEFAULT_COMMITS = 5  # hoodie.compact.inline.max.delta.commits
DEFAULT_ELAPSED_MS = 3_600_000  # hoodie.compact.inline.max.delta.seconds


@dataclass(frozen=True, slots=True)
class Since:
    """The delta commits since a compaction, and when it, or else the first delta commit, was requested."""

    commits_count: int
    requested_at_ms: int

    def elapsed_s(self, at_ms: int) -> int:
        """Whole seconds on the clock, as Hudi subtracts them."""
        return at_ms // 1000 - self.requested_at_ms // 1000


def since_compaction(timeline: Sequence[Instant]) -> Since | None:
    """Since the last completed compaction, counting completed delta commits.

    None if the table has neither a compaction nor a delta commit.
    """
    last, commits = last_completed(timeline, Action.COMMIT), delta_commits(timeline)
    if last is None:
        completed = sum(not commit.is_pending for commit in commits)
        return Since(completed, commits[0].requested_at_ms) if commits else None
    later = sum(commit.completed_after(last.requested_at_ms) for commit in commits)
    return Since(later, last.requested_at_ms)


def since_request(timeline: Sequence[Instant]) -> Since | None:
    """Since the last pending or else the last completed compaction, counting all delta commits.

    None if the table has neither a compaction nor a delta commit.
    """
    pending = [instant for instant in timeline if instant.action is Action.COMMIT and instant.is_pending]
    last = pending[-1] if pending else last_completed(timeline, Action.COMMIT)
    commits = delta_commits(timeline)
    if last is None:
        return Since(len(commits), commits[0].requested_at_ms) if commits else None
    later = sum(commit.requested_at_ms > last.requested_at_ms for commit in commits)
    return Since(later, last.requested_at_ms)


def delta_commits(timeline: Sequence[Instant]) -> list[Instant]:
    """Log compactions included."""
    return [instant for instant in timeline if instant.action is Action.DELTA_COMMIT]


class HudiTrigger(Trigger):
    """A trigger for tables that Hudi compacts."""

    __slots__ = ()

    def traits(self) -> TriggerTraits:
        return TriggerTraits(needs=frozenset({Command.COMPACTION}), reads_state=False)


@dataclass(frozen=True, slots=True)
class NumCommits(HudiTrigger):
    """Fires once `commits` delta commits have completed since the last compaction (NUM_COMMITS).

    The initial load and log compactions are delta commits, too. It counts from the request of the last
    completed compaction, so while one is pending, it fires at each evaluation.
    """

    commits: int = DEFAULT_COMMITS

    def __post_init__(self) -> None:
        if not 0 <= self.commits <= MAX_INT:
            raise ValueError(f"commits={self.commits} must be >= 0 and a Java int")

    def due(self, state: TableState, memory: RuleMemory) -> bool:
        since = self._since(state_as(HudiState, state).timeline)
        return since is not None and since.commits_count >= self.commits

    def _since(self, timeline: Sequence[Instant]) -> Since | None:
        return since_compaction(timeline)


@dataclass(frozen=True, slots=True)
class NumCommitsAfterLastRequest(NumCommits):
    """Fires once `commits` delta commits came after the last request (NUM_COMMITS_AFTER_LAST_REQUEST).

    The initial load and log compactions are delta commits, too.
    """

    def _since(self, timeline: Sequence[Instant]) -> Since | None:
        return since_request(timeline)


@dataclass(frozen=True, slots=True)
class TimeElapsed(HudiTrigger):
    """Fires `elapsed_ms` after the last compaction was requested, in whole seconds (TIME_ELAPSED)."""

    elapsed_ms: int = DEFAULT_ELAPSED_MS

    def __post_init__(self) -> None:
        if self.elapsed_ms < 0 or self.elapsed_ms % 1000:
            raise ValueError(f"elapsed_ms={self.elapsed_ms} must be >= 0, in whole seconds")

    def due(self, state: TableState, memory: RuleMemory) -> bool:
        since = since_compaction(state_as(HudiState, state).timeline)
        return since is not None and since.elapsed_s(state.observed_at_ms) >= self.elapsed_ms // 1000


@dataclass(frozen=True, slots=True)
class _NumTimeTrigger(HudiTrigger):
    commits: int = DEFAULT_COMMITS
    elapsed_ms: int = DEFAULT_ELAPSED_MS

    def __post_init__(self) -> None:
        self._triggers()  # each checks its own field

    def _triggers(self) -> tuple[Trigger, Trigger]:
        return NumCommits(self.commits), TimeElapsed(self.elapsed_ms)


@dataclass(frozen=True, slots=True)
class NumOrTime(_NumTimeTrigger):
    """Fires once `commits` delta commits have completed, or `elapsed_ms` have passed (NUM_OR_TIME).

    Both count from the request of the last completed compaction.
    """

    def due(self, state: TableState, memory: RuleMemory) -> bool:
        return any(trigger.due(state, memory) for trigger in self._triggers())


@dataclass(frozen=True, slots=True)
class NumAndTime(_NumTimeTrigger):
    """Fires once `commits` delta commits have completed and `elapsed_ms` have passed (NUM_AND_TIME).

    Both count from the request of the last completed compaction.
    """

    def due(self, state: TableState, memory: RuleMemory) -> bool:
        return all(trigger.due(state, memory) for trigger in self._triggers())
