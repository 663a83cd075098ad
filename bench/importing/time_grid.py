"""The ticks of a scenario for a table whose commits came at any time."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from statistics import median

from workloads.history import ticks_of
from workloads.history_file import TableHistory

_SECOND_MS, _MINUTE_MS, _HOUR_MS = 1_000, 60_000, 3_600_000
_INTERVALS_MS = (
    *(_SECOND_MS * seconds for seconds in (1, 5, 10, 30)),
    *(_MINUTE_MS * minutes for minutes in (1, 2, 5, 10, 15, 30)),
    *(_HOUR_MS * hours for hours in (1, 2, 6, 12, 24)),
)
_TICKS_MAX = 100_000  # a simulation takes about a minute for so many
_LONG_MS = 10 * _MINUTE_MS
_LATE_TICKS_MAX = 2  # of 99 of 100 commits
_PROBES = 100
_POLICY_INTERVALS_MS = (
    *(_MINUTE_MS * minutes for minutes in (5, 10, 20, 30)),
    *(_HOUR_MS * hours for hours in (1, 2, 4, 6, 12, 24, 48, 168, 720)),
)
_COMMITS_BETWEEN = 1.8  # two compactions: about two, as gaps vary
_COMPACTIONS_MIN = 5  # in the whole history


@dataclass(frozen=True, slots=True)
class TimeGrid:
    """`late_max_ms` is by how much the latest commit is replayed after its own time.

    `gap_ms` is the median time between two commits.
    """

    interval_ms: int
    ticks_count: int
    late_max_ms: int
    gap_ms: int = 0

    @property
    def duration_ms(self) -> int:
        return self.interval_ms * self.ticks_count

    @property
    def probe_every_ms(self) -> int:
        return self.interval_ms * max(1, self.ticks_count // _PROBES)

    @property
    def policy_intervals_ms(self) -> tuple[int, ...]:
        """Up to three intervals for compactions: short, medium and long for so many commits.

        In the short one about two commits come, and in the history at least five of the long one. If it is
        too short for that, there is one interval, of about two commits.
        """
        least_ms = max(2 * self.interval_ms, _COMMITS_BETWEEN * self.gap_ms)
        fitting = [
            interval_ms
            for interval_ms in _POLICY_INTERVALS_MS
            if least_ms <= interval_ms <= self.duration_ms // _COMPACTIONS_MIN
        ] or [self.interval_ms * ceil(least_ms / self.interval_ms)]
        return tuple(dict.fromkeys((fitting[0], fitting[len(fitting) // 2], fitting[-1])))


def replay_grid(history: TableHistory) -> TimeGrid:
    """The ticks at which the commits of the stream are replayed."""
    return time_grid([commit.at_ms for commit in history.stream], history.facts.from_ms)


def time_grid(times_ms: Sequence[int], from_ms: int) -> TimeGrid:
    """The longest interval in which hardly any two commits meet, for commits at these times since `from_ms`.

    It is at most `_LONG_MS` unless there were too many ticks, so that policies may be evaluated more often.
    """
    grids = [_grid(times_ms, from_ms, interval_ms) for interval_ms in _INTERVALS_MS]
    possible = [(grid, is_close) for grid, is_close in grids if grid.ticks_count <= _TICKS_MAX] or grids[-1:]
    close = [grid for grid, is_close in possible if is_close and grid.interval_ms <= _LONG_MS]
    return close[-1] if close else possible[0][0]


def _grid(times_ms: Sequence[int], from_ms: int, interval_ms: int) -> tuple[TimeGrid, bool]:
    """The grid, and whether commits are close to their own times."""
    ticks = list(ticks_of(times_ms, from_ms, interval_ms))
    late_ms = sorted(
        tick * interval_ms - (at_ms - from_ms) for tick, at_ms in zip(ticks, times_ms, strict=True)
    )
    is_close = late_ms[len(late_ms) * 99 // 100] <= _LATE_TICKS_MAX * interval_ms
    gaps_ms = [later - earlier for earlier, later in pairwise(times_ms)]
    return TimeGrid(interval_ms, ticks[-1], late_ms[-1], round(median(gaps_ms or [0]))), is_close
