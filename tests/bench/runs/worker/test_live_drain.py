"""What happens to compactors that still run when the stream has ended."""

import subprocess
import sys
from contextlib import closing

import psutil
import pytest
from records import compaction
from replay import KeptRecords
from scenario_builder import load

from bench.results.records import CompactionRecord
from bench.runs.worker.live.barrier import Barrier
from bench.runs.worker.live.processes import end
from bench.runs.worker.live.role import Begun
from bench.runs.worker.live.run import LiveRun

SLEEPS = [sys.executable, "-c", "import time; sum(range(4_000_000)); time.sleep(600)"]


class Draining(LiveRun):
    """The end of a run: its compactors are processes that work for a moment and then sleep."""

    def __init__(self, scenario, folder):
        self._scenario, self._barrier, self._recorder = scenario, Barrier(folder), KeptRecords()
        self._compactors = "compactor-1", "compactor-2"
        self._tails, self._compacted_s, self._given_up, self._tick = {}, {}, set(), 0
        self._processes = {role: psutil.Popen(SLEEPS, stdin=subprocess.DEVNULL) for role in self._compactors}

    def begins(self, role, at_s):
        record = compaction(role=role, status="unfinished")
        begun = Begun(record=record, began_s=at_s, cpu_s=0.0)
        self._barrier.mark(f"begun-{role}", begun.model_dump_json())

    def drain(self):
        self._drain(start_s=0.0)
        return self._recorder.of(CompactionRecord)

    def close(self):
        for process in self._processes.values():
            end(process)

    @property
    def running(self):
        return [role for role, process in self._processes.items() if process.poll() is None]


@pytest.fixture
def draining(tmp_path):
    with closing(Draining(load(tmp_path, clock="real", drain="1s"), tmp_path / "roles")) as run:
        yield run


def test_each_compactor_that_takes_too_long_is_ended_and_what_it_has_begun_is_recorded(draining):
    draining.begins("compactor-1", 2.0)
    draining.begins("compactor-2", 3.0)
    unfinished = draining.drain()
    assert [(c.role, c.status, c.span.started_s) for c in unfinished] == [
        ("compactor-1", "unfinished", 2.0), ("compactor-2", "unfinished", 3.0),
    ]  # fmt: skip
    assert all(c.cost.cpu_s > 0 for c in unfinished)
    assert draining.running == []


def test_a_compactor_that_has_ended_is_left_alone(draining):
    draining.begins("compactor-2", 3.0)
    draining._barrier.mark("ended-compactor-1")
    assert [c.role for c in draining.drain()] == ["compactor-2"]
    assert draining.running == ["compactor-1"]


def test_a_compaction_that_is_recorded_is_not_unfinished(draining):
    draining.begins("compactor-1", 2.0)
    draining.begins("compactor-2", 3.0)
    draining._write(compaction(role="compactor-1", started_s=2.5, ended_s=4.0))
    assert [(c.role, c.status) for c in draining.drain()] == [
        ("compactor-1", "ok"), ("compactor-2", "unfinished"),
    ]  # fmt: skip
