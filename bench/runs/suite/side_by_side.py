"""Long simulations run in processes of their own, as many at a time as there are cores.

A process gives its memory back when its run ends.
"""

import os
import shutil
import subprocess
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from bench.results.folders import RunResult
from bench.results.records import EVENT_TABLES, LOG
from bench.runs.jobs import RunJob
from bench.runs.live_figures import POLL_S, PROGRESS, read_progress
from bench.runs.suite.cases import PlannedRun
from bench.runs.suite.processes import STOP_GRACE_S, worker
from bench.runs.suite.run_files import closed
from bench.runs.suite.watcher import Watcher

# Commits in all runs together, above which processes save time: starting one takes as long as a few thousand.
COMMITS_MIN = 20_000


def are_worth_processes(planned: Sequence[PlannedRun]) -> bool:
    is_simulated = all(run.mode == "simulated" for run in planned)
    return is_simulated and sum(run.scenario.commits_count for run in planned) >= COMMITS_MIN


@dataclass(frozen=True, slots=True)
class _Started:
    run: PlannedRun
    job: RunJob
    process: subprocess.Popen[bytes]
    stack: ExitStack  # ends the process


def run_side_by_side(
    planned: Sequence[PlannedRun], prepared: Callable[[PlannedRun], RunJob], watcher: Watcher
) -> tuple[RunResult, ...]:
    """Execute simulated runs, in the order in which cores become free. An exception ends all processes."""
    waiting, running, results = deque(planned), list[_Started](), list[RunResult]()
    with ExitStack() as all_processes:
        while waiting or running:
            while waiting and len(running) < (os.cpu_count() or 1):
                running.append(_start(waiting.popleft(), prepared, watcher, all_processes))
            over = [started for started in running if _is_over(started, watcher)]
            for started in over:
                running.remove(started)
                results.append(_end(started, watcher))
            if not over:
                time.sleep(POLL_S)
    return tuple(results)


def _start(
    run: PlannedRun, prepared: Callable[[PlannedRun], RunJob], watcher: Watcher, all_processes: ExitStack
) -> _Started:
    job = prepared(run)
    watcher.run_started(run)
    stack = all_processes.enter_context(ExitStack())
    process = stack.enter_context(worker(job, job.run_folder / LOG, run.scenario.secrets))
    return _Started(run, job, process, stack)


def _is_over(started: _Started, watcher: Watcher) -> bool:
    """Whether its records are complete or its worker has ended; passes on its figures."""
    has_ended = started.process.poll() is not None
    figures = read_progress(started.job.work_folder / PROGRESS)
    if figures is not None:
        watcher.run_progressed(started.run, figures)
    return has_ended or (started.job.run_folder / EVENT_TABLES).exists()


def _end(started: _Started, watcher: Watcher) -> RunResult:
    with suppress(subprocess.TimeoutExpired):  # a thread of a user's planner may keep it alive
        started.process.wait(STOP_GRACE_S)
    exit_code = started.process.poll() or 0
    started.stack.close()
    shutil.rmtree(started.job.work_folder, ignore_errors=True)
    result = closed(started.job.run_folder, exit_code)
    watcher.run_ended(started.run, result)
    return result
