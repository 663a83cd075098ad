"""The clock that times a run, real or modelled."""

import time
from collections.abc import Callable
from typing import Protocol

from bench.results.values import NO_COST, Cost

Elapsed = Callable[[], Cost]

_ASKS_EACH_S = 0.2


class Clock(Protocol):
    """Measures the seconds since the replay began."""

    def now_s(self) -> float: ...

    def advance(self, seconds: float) -> None:
        """Account for a step that took this time."""

    def stopwatch(self) -> Elapsed:
        """A function that returns the wall time and CPU of this process since now."""


class SystemClock:
    """Real time."""

    _cpu_s = staticmethod(time.process_time)  # so far

    def __init__(self) -> None:
        self._began_s = time.perf_counter()

    def now_s(self) -> float:
        return time.perf_counter() - self._began_s

    def advance(self, seconds: float) -> None:
        """Does nothing: real time has passed already."""

    def stopwatch(self) -> Elapsed:
        wall_s, cpu_s = time.perf_counter(), self._cpu_s()
        return lambda: Cost(time.perf_counter() - wall_s, self._cpu_s() - cpu_s)


class LiveClock(SystemClock):
    """Real time since `began_s` of the monotonic clock, which all processes of a machine share.

    Scenario time passes `speed` times as fast. CPU is that of the calling thread, since other roles may be
    threads of this process.
    """

    _cpu_s = staticmethod(time.thread_time)

    def __init__(self, began_s: float, speed: float) -> None:
        self._began_s, self._speed = began_s, speed

    def now_s(self) -> float:
        return time.monotonic() - self._began_s

    def scenario_ms(self) -> int:
        """Scenario time now, in milliseconds."""
        return int(self.now_s() * 1000 * self._speed)

    def late_s(self, at_ms: int) -> float:
        """How many real seconds have passed since scenario time `at_ms`; 0 before it."""
        return max(0.0, self.now_s() - at_ms / 1000 / self._speed)

    def wait_until(self, at_ms: int) -> None:
        """Sleep until scenario time `at_ms`; returns at once if it has passed."""
        self.sleep(at_ms / 1000 / self._speed - self.now_s())

    def wait_unless(self, is_over: Callable[[], bool], at_ms: int) -> None:
        """Sleep until scenario time `at_ms`, or until `is_over`, which is asked five times a second."""
        while not is_over() and (left_s := at_ms / 1000 / self._speed - self.now_s()) > 0:
            self.sleep(min(left_s, _ASKS_EACH_S))

    def sleep(self, seconds: float) -> None:
        if seconds > 0:
            time.sleep(seconds)


class ModelledClock:
    """Modelled time of a simulated run: it advances by the modelled duration of each step."""

    def __init__(self) -> None:
        self._now_s = 0.0

    def now_s(self) -> float:
        return self._now_s

    def advance(self, seconds: float) -> None:
        self._now_s += seconds

    def stopwatch(self) -> Elapsed:
        """Always no cost: the real time of this process is not part of the model."""
        return lambda: NO_COST
