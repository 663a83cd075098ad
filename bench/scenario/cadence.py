"""The ticks at which probes run: one in each window of `probe_every`, the same for every strategy."""

import hashlib
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Phase = Literal["random", "fixed"]
SIDE_WINDOWS = 5  # windows of `probe_every` in one of `side_probe_every`
SIDE_EXECUTIONS_MIN = 4  # in short scenarios fewer windows, so that this many executions remain


@dataclass(frozen=True, slots=True)
class Cadence:
    """The ticks at which probes run. A window includes its end and not its start; the last may be shorter.

    In phase "random" the tick is drawn from the seed; otherwise a strategy whose interval equals the window
    would always be queried in the same state. The draws form a Latin square: among n successive windows of n
    ticks every phase occurs once, in random order, and so it does for one window in n successive repetitions.
    Independent draws would be worse: a dozen from five phases miss one in a third of all cases. If all
    repetitions used the same ticks, confidence intervals would not cover the error from drawing few ticks.
    In phase "fixed" the tick is the window's last.

    Secondary probes run at some of the same ticks: in one window of `probe_every` per `side_probe_every`,
    drawn in the same way.
    """

    seed: int
    commits_count: int
    commit_interval_ms: int
    probe_every_ms: int
    side_probe_every_ms: int
    phase: Phase
    repetition: int = 1

    @property
    def ticks(self) -> tuple[int, ...]:
        """Of the primary probe."""
        windows_count = math.ceil(self.commits_count / self._ticks)
        return tuple(self._tick_of(window) for window in range(windows_count))

    def is_probed(self, tick: int) -> bool:
        """Whether the primary probe runs at a tick, counted from 1."""
        return 1 <= tick <= self.commits_count and tick == self._tick_of(self._window(tick))

    def is_side_probed(self, tick: int) -> bool:
        """Whether the secondary probes run at a tick."""
        if not self.is_probed(tick):
            return False
        window, length = self._window(tick), self.side_probe_every_ms // self.probe_every_ms
        side_window, windows_count = window // length, math.ceil(self.commits_count / self._ticks)
        first, end = side_window * length, min((side_window + 1) * length, windows_count)
        return window == self._pick("side", side_window, first, end)

    @property
    def _ticks(self) -> int:
        return self.probe_every_ms // self.commit_interval_ms

    def _window(self, tick: int) -> int:
        return (tick - 1) // self._ticks

    def _tick_of(self, window: int) -> int:
        first = window * self._ticks + 1
        return self._pick("probe", window, first, min(first + self._ticks, self.commits_count + 1))

    def _pick(self, stream: str, window: int, first: int, end: int) -> int:
        """Draw one of `first` to `end` - 1 for a window."""
        count = end - first
        if self.phase == "fixed" or count == 1:  # without the draw of a single place
            return end - 1
        block, place = divmod(window, count)
        order = _shuffled(count, f"{self.seed}/{stream}-phase/{block}")
        return first + order[(place + self.repetition - 1) % count]


@lru_cache(maxsize=16)
def _shuffled(count: int, key: str) -> tuple[int, ...]:
    """The numbers 0 to `count` - 1 in a pseudorandom order seeded by `key`, the same on every machine."""
    return tuple(sorted(range(count), key=lambda number: hashlib.sha256(f"{key}/{number}".encode()).digest()))


def default_side_probe_every_ms(probe_every_ms: int, duration_ms: int) -> int:
    """`SIDE_WINDOWS` times `probe_every`, or less so that at least `SIDE_EXECUTIONS_MIN` executions remain.

    The three secondary probes are less important than the primary one, but would take most of a run's time.
    """
    windows_count = math.ceil(duration_ms / probe_every_ms)
    return probe_every_ms * max(1, min(SIDE_WINDOWS, windows_count // SIDE_EXECUTIONS_MIN))
