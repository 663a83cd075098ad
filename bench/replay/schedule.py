"""Roles yield what they wait for; a schedule decides when each of them continues.

A role (writer, reader, compactor, maintainer) is a generator, as processes are in SimPy. It yields

- `Until`: it has nothing to do before that moment;
- `Step`: work on the table. The schedule sends back its result.

- `Turns`: roles act one after the other, ordered by scenario time and, at one moment, by `Turn`. With a
  virtual clock a step takes no scenario time. With a real one (`Scenario.has_real_clock`) steps take time on
  the cores of the `StepLog`, and a compactor has two turns: one that begins a compaction, and one at its end
  that commits. Each step is timed with the machine to itself.
- Another is planned. *Live*: each role is a process of its own, and scenario time is real time.

Today's roles rely on turns. They share the tick of a `StepLog`, which the writer sets; a compactor completes,
queries, evaluates and executes within one `Step`; and the writer calls the compactor for inline rules. For
a live schedule, each role needs a log of its own, and a step for each of these parts.
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
            try:
                yielded = role.send(yielded.do())
            except StopIteration:
                return
        if yielded is not None:
            place = (yielded.at_ms, yielded.turn, next(self._serial_numbers))
            heapq.heappush(self._waiting, (*place, role))
