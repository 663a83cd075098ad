"""What the roles of a replay share: the current tick, the clock, the recorder and the last observation."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from bench.engines.contract import Observation, Version
from bench.replay.clock import Clock
from bench.replay.recorder import Recorder
from bench.replay.shared_cores import SharedCores
from bench.results.records import BaseRecord, ObserveRecord, RoleId
from bench.results.values import NO_COST, Cost, Span

PARTITIONS_MAX = 100  # that a record names


Fields = dict[str, Any]  # of a record
NewRecord = tuple[type[BaseRecord], Fields]


@dataclass(slots=True)
class ReplayTimes:
    """How the seconds of a replay were spent."""

    loop_s: float = 0.0
    measured_s: float = 0.0
    observe_s: float = 0.0

    @property
    def own_s(self) -> float:
        """Seconds of this project's own code: neither measured steps nor reading the table's state."""
        return max(0.0, self.loop_s - self.measured_s - self.observe_s)


class StepLog:
    """Writes a record of each step on one table.

    `observed` is the table as last observed. `unbooked` is the cost of that reading until it is charged to a
    rule that needs it. With a real clock `cores` are those on which steps run at the same time, and scenario
    time passes `speed` times as fast as theirs. The `observer` is the role that reads the table after a step.
    """

    def __init__(
        self,
        table_id: str,
        recorder: Recorder,
        clock: Clock,
        cores: SharedCores | None = None,
        observer: RoleId = "reader",
        speed: float = 1.0,
    ) -> None:
        self.table_id, self.recorder, self.clock, self.cores = table_id, recorder, clock, cores
        self._observer, self._speed = observer, speed
        self.tick = 0
        self.at_ms = 0
        self.observed: Observation | None = None
        self.unbooked = NO_COST
        self.times = ReplayTimes()

    @property
    def now_s(self) -> float:
        """Seconds since the replay began."""
        return self.clock.now_s()

    def at(self, tick: int, at_ms: int) -> None:
        """Begin a tick: the following steps belong to it."""
        self.tick, self.at_ms = tick, at_ms

    def second_of(self, at_ms: float) -> float:
        """The second of the cores at a moment of scenario time."""
        return at_ms / 1000 / self._speed

    def moment_of(self, second: float) -> float:
        """The moment of scenario time, in milliseconds, at a second of the cores."""
        return second * 1000 * self._speed

    def catch_up(self) -> None:
        """Let the background run until the tick that has just begun."""
        if self.cores is not None:
            self.cores.advance(self.second_of(self.at_ms))

    @property
    def late_s(self) -> float:
        """How many seconds ago the tick was due."""
        return 0.0 if self.cores is None else self.cores.now_s - self.second_of(self.at_ms)

    def run(self, cost: Cost) -> Cost:
        """Run a step that others wait for; returns its cost with the time that it took beside others."""
        if self.cores is None or not cost.wall_s:
            return cost
        return replace(cost, wall_s=self.cores.run(cost.wall_s, cost.mean_cores))

    def beside(self, cost: Cost) -> Cost:
        """The cost of a step that nobody waits for, likewise."""
        if self.cores is None or not cost.wall_s:
            return cost
        return replace(cost, wall_s=self.cores.beside(cost.wall_s, cost.mean_cores))

    def took(self, seconds: float) -> None:
        """Account for a measured step."""
        self.times.measured_s += seconds
        self.clock.advance(seconds)

    def fields(
        self,
        role: RoleId,
        observed: Observation | None,
        started_s: float,
        cost: Cost,
        *,
        staged_s: float = 0.0,
    ) -> Fields:
        """The common fields of a step that has just ended.

        `started_s` is when its last phase began; `staged_s` of its wall time were spent in an earlier phase.
        """
        return {
            "tick": self.tick,
            "at_ms": self.at_ms,
            "table_id": self.table_id,
            "role": role,
            "version": observed.version if observed else None,
            "span": Span(started_s, started_s + max(0.0, cost.wall_s - staged_s)),
            "cost": cost,
        }

    def saw(
        self, observed: Observation, after: Literal["initial", "commit", "compaction", "maintenance"]
    ) -> None:
        """Record the table after a step. It has just been read."""
        read_s = observed.cost.wall_s
        self.observed = observed
        self.times.observe_s += read_s
        started_s = max(0.0, self.now_s - read_s)
        fields = self.fields(self._observer, observed, started_s, observed.cost)
        self.recorder.write(ObserveRecord, {**fields, **of_table(observed), "after": after})


def of_table(observed: Observation) -> Fields:
    """The part of the record of an observation that says what the table is like."""
    return {"table": observed.table.without_partitions_above(PARTITIONS_MAX)}


def version_ids(versions: Iterable[Version]) -> list[str]:
    """The ids of versions; versions without an id only wrote metadata."""
    return [version.id for version in versions if version.id is not None]
