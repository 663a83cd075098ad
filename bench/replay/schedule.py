"""Who acts when. Roles say what they wait for; a schedule decides when each of them goes on.

A role (writer, reader, compactor, maintainer) is a generator, as processes are in SimPy. It yields

- `Until`: it has nothing to do before that moment;
- `Step`: work on the table, whose result it is sent back.

So a role does not know whether its steps take scenario time, or who else is at work meanwhile. That is what
schedules differ in:

- `Turns`: a step takes no scenario time, and roles act one after the other in the order of `Turn`. Each step
  is timed in real seconds with the machine to itself.
- Two more are foreseen and not built. *Overlapped*, for simulations: a step takes the time that it is
  modelled to take, cores are shared, and what is due next comes from a heap of time, priority and serial
  number. *Live*: each role is a process of its own, and scenario time is real time.
"""

import heapq
import itertools
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Generic, Protocol, TypeVar

_Result = TypeVar("_Result")


class Turn(IntEnum):
    """The order in which roles act at one moment of scenario time."""

    COMMIT = 0  # the writer
    READ = 1  # the reader, as the commit leaves the table
    COMPACT = 2
    MAINTAIN = 3
    SETTLE = 4  # the reader, as the moment leaves the table
    DRAIN = 5  # the compactor, after the last commit: what is still pending


@dataclass(frozen=True, slots=True)
class Until:
    """A role waits until scenario time `at_ms`, and there for its turn."""

    at_ms: int
    turn: Turn


@dataclass(frozen=True, slots=True)
class Step(Generic[_Result]):
    """Work that a role wants done; the schedule sends it the result."""

    do: Callable[[], _Result]


Role = Generator[Until | Step[Any], Any, None]


def perform(do: Callable[[], _Result]) -> Generator[Step[_Result], _Result, _Result]:
    """Yield a step; its result. `result = yield from perform(...)` keeps the type of the result."""
    return (yield Step(do))


class Schedule(Protocol):
    """Lets roles act until all of them have ended."""

    def run(self, roles: Iterable[Role]) -> None:
        """Raises what a step raises, and lets no role act after that."""


class Turns:
    """One role at a time, ordered by scenario time, turn and, among equals, by who began to wait first."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, Turn, int, Role]] = []
        self._serial_numbers = itertools.count()

    def run(self, roles: Iterable[Role]) -> None:
        for role in roles:
            self._go_on(role)
        while self._waiting:
            *_, role = heapq.heappop(self._waiting)
            self._go_on(role)

    def _go_on(self, role: Role) -> None:
        """Let a role act until it waits, or has ended."""
        wish = next(role, None)
        while isinstance(wish, Step):
            try:
                wish = role.send(wish.do())
            except StopIteration:
                return
        if wish is not None:
            heapq.heappush(self._waiting, (wish.at_ms, wish.turn, next(self._serial_numbers), role))
