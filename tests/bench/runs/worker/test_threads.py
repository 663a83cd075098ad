"""How a run ends roles that are threads, without Spark."""

import threading

import pytest

from bench.errors import EngineError
from bench.runs.worker.live import threads
from bench.runs.worker.live.barrier import Barrier
from bench.runs.worker.live.threads import ThreadsRun


class Context:
    """Cancels jobs; the compactor has ended after so many times."""

    def __init__(self, barrier, times):
        self.barrier, self.times, self.cancelled = barrier, times, []

    def cancelJobGroup(self, group):  # noqa: N802  as Spark calls it
        self.cancelled.append(group)
        if len(self.cancelled) == self.times:
            self.barrier.mark("ended-compactor")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run of which only the barrier and its threads are there."""
    made = object.__new__(ThreadsRun)
    made._barrier, made._threads, made._tails = Barrier(tmp_path), {}, {}
    monkeypatch.setattr(threads, "POLL_S", 0.0)
    return made


def cancelling(monkeypatch, run, times):
    context = Context(run._barrier, times)
    monkeypatch.setattr(threads.SparkContext, "getOrCreate", lambda: context)
    return context


def test_a_compaction_that_is_given_up_is_cancelled_until_its_role_has_ended(run, monkeypatch):
    context = cancelling(monkeypatch, run, times=3)
    run._give_up("compactor", 0.0)
    assert context.cancelled == ["compactor"] * 3
    assert run._barrier.has("give-up-compactor")


def test_a_role_that_does_not_end_fails_the_run(run, monkeypatch):
    cancelling(monkeypatch, run, times=1_000_000)
    monkeypatch.setattr(threads, "_CANCEL_MAX_S", 0.0)
    with pytest.raises(EngineError, match="the compactor failed: it did not end"):
        run._give_up("compactor", 0.0)


def test_a_thread_that_has_failed_says_why(run):
    done = threading.Thread(target=lambda: None)
    done.start()
    done.join()
    run._threads = {"reader": done, "writer": threading.current_thread()}
    assert run._failure("writer") is None
    assert run._failure("reader") == "its thread ended and left no error"
    run._barrier.mark("failed-reader", "no such table")
    assert run._failure("reader") == "no such table"
    run._barrier.clear("failed-reader")
    run._barrier.mark("ended-reader")
    assert run._failure("reader") is None
