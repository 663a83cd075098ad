"""Roles with a real clock on the fake engine: each step takes the time that it costs."""

from dataclasses import dataclass, replace

from fake_engine import FakeEngine

from bench.engines.contract import CommitConflictError
from bench.replay.clock import LiveClock
from bench.results.values import Cost


class ManualClock(LiveClock):
    """A clock that only sleeping and steps advance."""

    def __init__(self, speed=1.0):
        super().__init__(0.0, speed)
        self.at_s = 0.0

    def now_s(self):
        return self.at_s

    def sleep(self, seconds):
        self.at_s += max(0.0, seconds)


@dataclass
class SlowEngine:
    """A fake engine whose steps advance the clock. The first tries of a commit lose a conflict, as told."""

    clock: ManualClock
    engine: FakeEngine
    conflicts: int = 0

    def __getattr__(self, name):
        return getattr(self.engine, name)

    def refresh(self, at_ms):
        return self.engine._observe()

    def commit(self, batch, at_ms):
        costs = self.engine.costs
        self.clock.at_s += costs.prepare_s + costs.commit_s
        if self.conflicts:
            self.conflicts -= 1
            raise CommitConflictError("commit 1", "missing data files", Cost(1.5, 3.0))
        return self.engine.commit(batch, at_ms)

    def query(self, probe, session="new"):
        outcome = self.engine.query(probe, session)
        self.clock.at_s += outcome.cost.wall_s
        return outcome

    def complete(self, ticket, at_ms):
        outcome = self.engine.complete(ticket, at_ms)
        self.clock.at_s += outcome.cost.wall_s
        return outcome if outcome.error != "made to be vetoed" else replace(outcome, status="conflict")
