"""The planner's note: what Amoro's server keeps of a table between refreshes.

A refresh evaluates a table that is idle and whose snapshot has not been judged. If it finds partitions to
optimize, the table becomes pending, and no later refresh evaluates it until a plan has been tried, which
`min-plan-interval` may delay. If it finds none, or if the plan has no task, the snapshot is judged: the table
is not evaluated again until it has a new snapshot, whatever interval ends in the meantime. A successful
process judges the snapshot it was planned on, so its own commit is evaluated. A failed process judges none,
and the same snapshot is evaluated again.

Source: upstream `TableRuntimeRefreshExecutor`, `SchedulingPolicy` (isTablePending), `OptimizingQueue`
(triggerAsyncPlanning, planInternal) and `DefaultTableRuntime` (setPendingInput, optimizingNotNecessary,
completeEmptyProcess, beginProcess, completeProcess) at 96a4d78.
"""

from dataclasses import dataclass, replace

from strategies.amoro.clocks import OptimizingType
from strategies.state import TableState

_KINDS = frozenset(kind.value for kind in OptimizingType)
_SUCCESSFUL = ("ok", "noop")  # a process without anything to commit succeeds too


@dataclass(frozen=True, slots=True)
class AmoroNote:
    """A table between two evaluations; the defaults are for a table that Amoro has not seen before.

    `judged_version` is not evaluated again (`lastOptimizedSnapshotId`), and a process of unknown outcome was
    planned on `planned_version`. `planned_at_ms` is when a plan was last tried, with or without tasks
    (`lastPlanTime`). `pending_partitions` limits the plan of a pending table; None: no limit.
    """

    judged_version: str | None = None
    is_pending: bool = False
    pending_partitions: tuple[str, ...] | None = None
    planned_at_ms: int | None = None
    planned_version: str | None = None

    def has_judged(self, version: str | None) -> bool:
        return version is not None and version == self.judged_version

    def pending(self, partitions: tuple[str, ...] | None) -> "AmoroNote":
        return replace(self, is_pending=True, pending_partitions=partitions)

    def judged(self, version: str | None) -> "AmoroNote":
        """After an evaluation that found nothing to optimize."""
        return replace(self, judged_version=version)

    def planned(self, version: str | None, at_ms: int) -> "AmoroNote":
        return AmoroNote(self.judged_version, planned_at_ms=at_ms, planned_version=version)

    def planned_nothing(self, version: str | None, at_ms: int) -> "AmoroNote":
        return AmoroNote(version, planned_at_ms=at_ms)


def recall(state: TableState) -> AmoroNote:
    """The note of a state, updated by the outcome of the process that was planned last."""
    note = state.note if isinstance(state.note, AmoroNote) else AmoroNote()
    if note.planned_version is None:
        return note
    outcomes = [
        seen.status
        for seen in state.compactions
        if seen.scheduled_at_ms == note.planned_at_ms and seen.kind in _KINDS
    ]
    if not outcomes:
        return note
    judged = note.planned_version if outcomes[-1] in _SUCCESSFUL else note.judged_version
    return replace(note, judged_version=judged, planned_version=None)
