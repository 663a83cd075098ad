"""The progress of a change log, from the worker that writes it to the watcher of the suite."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from scenario_builder import load

from bench.runs.jobs import LogJob, LogProgress, SentScenario
from bench.runs.suite import change_log
from bench.runs.worker import main


class Watcher:
    def __init__(self):
        self.seen = []

    def log_started(self, scenario):
        self.seen.append("started")

    def log_progressed(self, scenario, done, total):
        self.seen.append((done, total))

    def log_ended(self, scenario, commits_count):
        self.seen.append(f"ended with {commits_count}")


@pytest.fixture
def write_log(tmp_path, monkeypatch):
    """Does the worker's job with an imitation of the log; returns what it told after each step."""
    told = []
    log = SimpleNamespace(folder=tmp_path / "cached", commits=[None] * 10)

    def ensure_change_log(session, cache, workload, seed, commits, interval, progress, *, cached):
        if not cached:
            session()
            told.append(read())
            for done in range(1, commits + 1):
                progress(done, commits)
                told.append(read())
        return log

    def read():
        return LogProgress.model_validate_json((tmp_path / "progress.json").read_text())

    def call(cached):
        scenario = load(tmp_path)
        job = LogJob(
            scenario=SentScenario.of(scenario), work_folder=tmp_path, cache_folder=tmp_path,
            progress_file=tmp_path / "progress.json",
        )  # fmt: skip
        monkeypatch.setattr(main, "ensure_change_log", lambda *a: ensure_change_log(*a, cached=cached))
        monkeypatch.setattr(main, "start_session", lambda *a: None)
        monkeypatch.setattr(main, "stop_session", lambda spark: None)
        main.write_log(job, scenario)
        told.append(read())
        return told

    return call


def test_a_log_that_is_written_says_so_before_spark_starts(write_log):
    first, *written, last = write_log(cached=False)
    assert (first.done, first.total, first.folder) == (0, 10, None)
    assert [(one.done, one.total) for one in written] == [(done, 10) for done in range(1, 11)]
    assert (last.commits_count, last.folder is not None) == (10, True)


def test_a_cached_log_says_how_many_commits_it_has(write_log):
    (last,) = write_log(cached=True)
    assert (last.total, last.commits_count) == (0, 10)


@pytest.mark.parametrize(
    ("steps", "seen"),
    [
        ([], []),
        ([(0, 10), (4, 10)], [(0, 10), (4, 10)]),  # the last commits fall between two looks
    ],
)
def test_the_watcher_is_told_of_the_end_whatever_it_saw(tmp_path, monkeypatch, steps, seen):
    folder = tmp_path / "cached"

    @contextmanager
    def fake_worker(job, log, secrets):
        log.write_text("")
        left = [LogProgress(done=done, total=total) for done, total in steps]

        def poll():
            if left:
                job.progress_file.write_text(left.pop(0).model_dump_json())
                return None
            job.progress_file.write_text(LogProgress(folder=folder, commits_count=10).model_dump_json())
            return 0

        yield SimpleNamespace(poll=poll)

    monkeypatch.setenv("COMPACTBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(change_log, "worker", fake_worker)
    monkeypatch.setattr(change_log, "POLL_S", 0)
    watcher = Watcher()
    assert change_log.ensure_log(load(tmp_path), tmp_path / "out", watcher) == folder
    assert watcher.seen == ["started", *seen, "ended with 10"]
