"""Amoro's clocks of one table, read from its history (reference 2.1 and 2.2).

Amoro keeps the times itself; here they follow from the compactions seen. The clock of a type is the plan
time of its last process whatever became of it, for the whole table: a failed MINOR restarts the minor
clock, a MAJOR or FULL does not. A plan without tasks moves none of them, and counts for the time of the last
plan, which the planner notes (`strategies.amoro.note`).

The history holds the last 1000 compactions. That is enough for an interval below 1000 x
`min-plan-interval`, 16.7 hours at its default: before that no 1000 compactions of ours can have pushed the
last one of a type out. A longer interval fires early after 1000 compactions of other types, not before.

Source: upstream `CommonPartitionEvaluator`, `MetadataBasedEvaluationEvent`, `SchedulingPolicy.fillSkipSet`
and `DefaultTableRuntime.completeProcess` at 96a4d78.
"""

from dataclasses import dataclass
from enum import StrEnum

from strategies.amoro.options import Settings
from strategies.state import TableState

# 2026-01-01T00:00:00Z in milliseconds since 1970, where scenario time begins: `workloads.orders.EPOCH_MS`,
# which strategies must not import.
STREAM_BEGIN_MS = 1_767_225_600_000


class OptimizingType(StrEnum):
    """Upstream's `OptimizingType`, the weakest first."""

    MINOR = "minor"
    MAJOR = "major"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Clocks:
    """Milliseconds since the last process of a type.

    Where there was none it is the time since 1970, as in Amoro, whose times begin at 0: an interval of weeks
    is over on a new table, one of a hundred years is not.
    """

    minor_ms: int = STREAM_BEGIN_MS
    major_ms: int = STREAM_BEGIN_MS
    full_ms: int = STREAM_BEGIN_MS
    tried_ms: int = STREAM_BEGIN_MS  # since the last plan that the planner noted, with or without tasks

    @property
    def plan_ms(self) -> int:
        """Since the last plan, be it one without tasks (`lastPlanTime`)."""
        return min(self.any_ms, self.tried_ms)

    @property
    def any_ms(self) -> int:
        """Since the last process of any type."""
        return min(self.minor_ms, self.major_ms, self.full_ms)

    def is_minor_due(self, settings: Settings) -> bool:
        """Strictly longer ago than the interval; never where that is below 0."""
        return 0 <= settings.minor_interval_ms < self.minor_ms

    def is_full_due(self, settings: Settings) -> bool:
        """As for MINOR. It is true from the moment the interval is set (2.4 f)."""
        return 0 <= settings.full_interval_ms < self.full_ms

    def is_fallback_reached(self, settings: Settings) -> bool:
        """Whether the fallback interval has passed; here at least as long ago as that is enough."""
        return self.any_ms >= settings.fallback_interval_ms

    def may_plan(self, settings: Settings) -> bool:
        """Whether the last plan is at least `min-plan-interval` ago."""
        return self.plan_ms >= settings.min_plan_interval_ms


def read_clocks(state: TableState, tried_at_ms: int | None = None) -> Clocks:
    """The clocks when the state was observed; `tried_at_ms` is when the planner last tried a plan."""
    planned_ms = dict.fromkeys(OptimizingType, -STREAM_BEGIN_MS)
    for seen in state.compactions:
        if seen.kind in planned_ms:
            at_ms = seen.at_ms if seen.scheduled_at_ms is None else seen.scheduled_at_ms
            own = OptimizingType(seen.kind)
            planned_ms[own] = max(planned_ms[own], at_ms)
    last_ms = (*planned_ms.values(), -STREAM_BEGIN_MS if tried_at_ms is None else tried_at_ms)
    return Clocks(*(state.observed_at_ms - at_ms for at_ms in last_ms))
