"""Roles yield what they wait for; a schedule decides when each of them continues.

A role (writer, reader, compactor, maintainer) is a generator, as processes are in SimPy. It yields

- `Until`: it has nothing to do before that moment;
- `Step`: work on the table. The schedule sends back its result.

- `Turns`: roles act one after the other, ordered by scenario time and, at one moment, by `Turn`. With a
  virtual clock a step takes no scenario time. With a real one (`Scenario.has_real_clock`) steps take time on
  the cores of the `StepLog`, and a compactor has two turns: one that begins a compaction, and one at its end
  that commits. Each step is timed with the machine to itself.
- `Live`: a role is alone in its process or thread, and scenario time is real time. The roles are others
  (`bench.replay.roles.live`), since those that take turns share the tick of a `StepLog`, query around
  compactions, and compact within commits.
"""

import heapq
import itertools
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Generic, TypeVar

_Result = TypeVar("_Result")


class Turn(IntEnum):
    """The order in which roles act at one moment of scenario time."""

    FINISH = 0  # the compactor, with a real clock: what has ended since the last commit
    SETTLE_LATE = 1  # the reader, with a real clock: before the next commit
    COMMIT = 2  # the writer
    READ = 3  # the reader, after the commit
    COMPACT = 4
    MAINTAIN = 5
    SETTLE = 6  # the reader, at the end of the moment
    DRAIN = 7  # the compactor, after the last commit: plans that are still pending


@dataclass(frozen=True, slots=True)
class Until:
    """A role waits for its turn at scenario time `at_ms`."""

    at_ms: int
    turn: Turn


@dataclass(frozen=True, slots=True)
class Step(Generic[_Result]):
    """Work on the table; the schedule sends the role its result."""

    do: Callable[[], _Result]


Role = Generator[Until | Step[Any], Any, None]


def perform(do: Callable[[], _Result]) -> Generator[Step[_Result], _Result, _Result]:
    """Yield a step. `result = yield from perform(...)` has the type that `do` returns."""
    return (yield Step(do))


class Live:
    """One role at real time: `wait_until` sleeps until a moment of scenario time, if it has not passed."""

    def __init__(self, wait_until: Callable[[int], None]) -> None:
        self._wait_until = wait_until

    def run(self, role: Role) -> None:
        """Let the role act until it has ended. An error of a step is passed on."""
        yielded = next(role, None)
        while yielded is not None:
            if isinstance(yielded, Step):
                yielded = _sent(role, yielded.do())
            else:
                self._wait_until(yielded.at_ms)
                yielded = next(role, None)


def _sent(role: Role, result: Any) -> Until | Step[Any] | None:
    """What a role yields next; None once it has ended."""
    try:
        return role.send(result)
    except StopIteration:
        return None


class Turns:
    """One role at a time, ordered by scenario time, turn and, if both are equal, who began to wait first."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, Turn, int, Role]] = []
        self._serial_numbers = itertools.count()

    def run(self, roles: Iterable[Role]) -> None:
        """Let roles act until all have ended. An error of a step is passed on, and no role acts after it."""
        for role in roles:
            self._continue(role)
        while self._waiting:
            *_, role = heapq.heappop(self._waiting)
            self._continue(role)

    def _continue(self, role: Role) -> None:
        """Let a role act until it waits or has ended."""
        yielded = next(role, None)
        while isinstance(yielded, Step):
            yielded = _sent(role, yielded.do())
        if yielded is not None:
            place = (yielded.at_ms, yielded.turn, next(self._serial_numbers))
            heapq.heappush(self._waiting, (*place, role))
