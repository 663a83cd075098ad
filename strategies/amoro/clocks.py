"""Amoro's clocks of a table, derived from its compaction history.

Amoro stores these times; here they follow from the compactions in the table state. The clock of an optimizing
type starts when a process of that type is planned, whatever its outcome, and covers the whole table: a failed
MINOR restarts the minor clock, a MAJOR or FULL does not. A plan without tasks restarts no clock, but counts
as the last plan, whose time the planner keeps in its note (`strategies.amoro.note`).

The history holds the last 1000 compactions. That is enough for an interval below 1000 x `min-plan-interval`
(16.7 hours at its default), within which fewer than 1000 compactions can follow the last one of a type. A
longer interval fires early, but only after 1000 compactions of other types.

Source: upstream `CommonPartitionEvaluator`, `MetadataBasedEvaluationEvent`, `SchedulingPolicy.fillSkipSet`
and `DefaultTableRuntime.completeProcess` at 96a4d78.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from strategies.amoro.options import Settings
from strategies.state import CompactionSeen, TableState

# 2026-01-01T00:00:00Z in milliseconds since 1970, where scenario time begins. Equal to
# `workloads.orders.EPOCH_MS`, which strategies must not import.
STREAM_BEGIN_MS = 1_767_225_600_000


class OptimizingType(StrEnum):
    """Upstream's `OptimizingType`, weakest first."""

    MINOR = "minor"
    MAJOR = "major"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Clocks:
    """Milliseconds since the last process of each type.

    A type without any process counts from 1970, as in Amoro, whose times start at 0. So on a new table an
    interval of weeks has already passed.
    """

    minor_ms: int = STREAM_BEGIN_MS
    major_ms: int = STREAM_BEGIN_MS
    full_ms: int = STREAM_BEGIN_MS
    tried_ms: int = STREAM_BEGIN_MS  # since the last plan that the planner noted, with or without tasks

    @property
    def plan_ms(self) -> int:
        """Since the last plan, with or without tasks (`lastPlanTime`)."""
        return min(self.any_ms, self.tried_ms)

    @property
    def any_ms(self) -> int:
        return min(self.minor_ms, self.major_ms, self.full_ms)

    def is_minor_due(self, settings: Settings) -> bool:
        """Whether more than the interval has passed since the last MINOR; a negative interval is off."""
        return 0 <= settings.minor_interval_ms < self.minor_ms

    def is_full_due(self, settings: Settings) -> bool:
        """Whether more than the interval has passed since the last FULL; a negative interval is off."""
        return 0 <= settings.full_interval_ms < self.full_ms

    def is_fallback_reached(self, settings: Settings) -> bool:
        return self.any_ms >= settings.fallback_interval_ms

    def may_plan(self, settings: Settings) -> bool:
        return self.plan_ms >= settings.min_plan_interval_ms


def read_clocks(state: TableState, tried_at_ms: int | None = None) -> Clocks:
    """The clocks when the state was observed; `tried_at_ms` is when the planner last tried to plan."""
    planned_ms = state.derived(_planned_ms, state.compactions)
    last_ms = (*planned_ms, -STREAM_BEGIN_MS if tried_at_ms is None else tried_at_ms)
    return Clocks(*(state.observed_at_ms - at_ms for at_ms in last_ms))


def _planned_ms(compactions: Iterable[CompactionSeen]) -> tuple[int, ...]:
    """When the last process of each type was planned."""
    planned_ms = dict.fromkeys(map(str, OptimizingType), -STREAM_BEGIN_MS)
    for seen in compactions:
        kind = seen.kind
        if kind in planned_ms:
            at_ms = seen.at_ms if seen.scheduled_at_ms is None else seen.scheduled_at_ms
            if at_ms > planned_ms[kind]:
                planned_ms[kind] = at_ms
    return tuple(planned_ms.values())
