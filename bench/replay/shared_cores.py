"""Cores on which steps run at the same time.

A step that is alone takes its modelled seconds and uses cpu/wall cores on average. While the running steps
together want more cores than there are, each gets an equal share, but none more than it can use: max-min
fairness, as a scheduler of processes does (Bertsekas and Gallager, Data Networks, 1992, section 6.5.2). Jobs
of one core on one core are the queue M/G/1-PS, against which tests compare it.
"""

import math
from dataclasses import dataclass

_DONE_S = 1e-9


@dataclass(slots=True)
class _Job:
    remaining_s: float  # alone
    cores: float


class SharedCores:
    """`count` cores, from second 0 on. Steps either run to their end, or in the background."""

    def __init__(self, count: float = math.inf) -> None:
        self.now_s = 0.0
        self._count = count
        self._running: dict[int, _Job] = {}
        self._ended_s: dict[int, float] = {}
        self._next = 0

    def begin(self, alone_s: float, cores: float) -> int:
        """Start a step in the background; the number identifies it.

        One that wants more cores than there are takes longer, also alone.
        """
        self._next += 1
        if alone_s <= 0:
            self._ended_s[self._next] = self.now_s
        else:
            slower = max(1.0, cores / self._count)
            self._running[self._next] = _Job(alone_s * slower, cores / slower)
        return self._next

    def ended_s(self, step: int) -> float | None:
        """When a step ended; None while it runs."""
        return self._ended_s.get(step)

    def run(self, alone_s: float, cores: float) -> float:
        """Run a step to its end, while those in the background go on: how many seconds it took."""
        began_s, step = self.now_s, self.begin(alone_s, cores)
        while step in self._running:
            self._go_on(math.inf)
        return self.now_s - began_s

    def beside(self, alone_s: float, cores: float) -> float:
        """How long a step would take if it began now; nothing is run."""
        return self._trial().run(alone_s, cores)

    def ends_during(self, alone_s: float, cores: float) -> dict[int, float]:
        """The steps in the background that would end while a step runs that begins now, and when."""
        trial = self._trial()
        trial.run(alone_s, cores)
        return {step: trial._ended_s[step] for step in self._running if step in trial._ended_s}

    def _trial(self) -> "SharedCores":
        trial = SharedCores(self._count)
        trial.now_s = self.now_s
        trial._running = {number: _Job(one.remaining_s, one.cores) for number, one in self._running.items()}
        trial._next = self._next
        return trial

    def advance(self, until_s: float) -> None:
        """Let the background run until then, or until all of it has ended if that is infinite."""
        while self._running and self.now_s < until_s:
            self._go_on(until_s)
        if math.isfinite(until_s):
            self.now_s = max(self.now_s, until_s)

    def _go_on(self, until_s: float) -> None:
        """Until the next step ends, or until a time."""
        speeds = self._speeds()
        step_s = min(until_s - self.now_s, *(one.remaining_s / speeds[n] for n, one in self._running.items()))
        self.now_s += step_s
        for number, one in list(self._running.items()):
            one.remaining_s -= step_s * speeds[number]
            if one.remaining_s <= _DONE_S * max(1.0, self.now_s):
                del self._running[number]
                self._ended_s[number] = self.now_s

    def _speeds(self) -> dict[int, float]:
        """By step, its speed relative to that alone (0..1)."""
        left, speeds = self._count, dict[int, float]()
        waiting = sorted(self._running.items(), key=lambda item: item[1].cores)
        for place, (number, one) in enumerate(waiting):
            share = min(one.cores, left / (len(waiting) - place))
            speeds[number] = share / one.cores if one.cores else 1.0
            left -= share
        return speeds
