"""The clock that times a run: seconds since its replay began."""

import time
from typing import Protocol


class Clock(Protocol):
    """Measures the seconds since the replay began."""

    def now_s(self) -> float: ...

    def advance(self, seconds: float) -> None:
        """Account for a step that has just taken so many seconds."""


class SystemClock:
    """Real time."""

    def __init__(self) -> None:
        self._began_s = time.perf_counter()

    def now_s(self) -> float:
        return time.perf_counter() - self._began_s

    def advance(self, seconds: float) -> None:
        """Does nothing: the step itself took the time."""


class ModelledClock:
    """Modelled time of a simulated run: it advances by the modelled duration of each step."""

    def __init__(self) -> None:
        self._now_s = 0.0

    def now_s(self) -> float:
        return self._now_s

    def advance(self, seconds: float) -> None:
        self._now_s += seconds
