"""The schedule of roles that take turns.

A role (writer, reader, compactor, maintainer) is a generator, as processes are in SimPy. It yields the moment
that it waits for (`Until`), and works on the table before it yields the next one. With a virtual clock that
takes no scenario time. With a real one (`Scenario.has_real_clock`) steps take time on the cores of the
`StepLog`, and a compactor has two turns: one that begins a compaction, and one at its end that commits. Each
step is timed with the machine to itself.

The roles at real time are others (`bench.replay.roles.live`), since those that take turns share the tick of a
`StepLog`, query around compactions, and compact within commits.
"""

import heapq
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum


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


Role = Iterator[Until]


def take_turns(roles: Iterable[Role]) -> None:
    """Let roles act until all have ended, one at a time.

    They are ordered by scenario time, turn and, if both are equal, who began to wait first. An error of a
    role is passed on, and no role acts after it.
    """
    waiting: list[tuple[int, Turn, int, Role]] = []
    serial_numbers = itertools.count()

    def act(role: Role) -> None:
        if until := next(role, None):
            heapq.heappush(waiting, (until.at_ms, until.turn, next(serial_numbers), role))

    for role in roles:
        act(role)
    while waiting:
        *_, role = heapq.heappop(waiting)
        act(role)
