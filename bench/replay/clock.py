"""The clock a run is timed by: seconds since its replay began."""

import time
from typing import Protocol


class Clock(Protocol):
    """Tells the seconds since the replay began."""

    def now_s(self) -> float: ...

    def advance(self, seconds: float) -> None:
        """A step that costs so many seconds has been carried out."""


class SystemClock:
    """Real time. It moves by itself."""

    def __init__(self) -> None:
        self._began_s = time.perf_counter()

    def now_s(self) -> float:
        return time.perf_counter() - self._began_s

    def advance(self, seconds: float) -> None:
        """Nothing: the step has taken its time."""


class ModelledClock:
    """Modelled time, of a simulated run: it moves by what each step is modelled to take."""

    def __init__(self) -> None:
        self._now_s = 0.0

    def now_s(self) -> float:
        return self._now_s

    def advance(self, seconds: float) -> None:
        self._now_s += seconds
