"""Quick suites: all runs of a scenario, in one variant, share a worker and a JVM, which warms up once.

A later run has a warmer JVM than an earlier one, with its garbage and cached classes. Such figures are a
first impression: they are marked wherever they are shown, not pooled with others, and cannot be published.
"""

import shutil
from collections.abc import Sequence
from functools import partial

from bench.results.folders import RunResult
from bench.results.records import LOG
from bench.runs.jobs import QuickJob, RunJob
from bench.runs.suite.cases import PlannedRun
from bench.runs.suite.processes import worker
from bench.runs.suite.run_files import closed, follow
from bench.runs.suite.watcher import Watcher


def run_in_one_jvm(runs: Sequence[tuple[PlannedRun, RunJob]], watcher: Watcher) -> tuple[RunResult, ...]:
    """Make the runs of one scenario in one worker; returns the runs that started.

    The log of the first run has the output of the JVM. If the worker dies, the run in progress fails, and
    later runs do not start. Raises EngineError if the first run could not start.
    """
    (first, first_job), *others = runs
    log = first_job.run_folder / LOG
    for _, job in others:
        (job.run_folder / LOG).write_text(
            f"the output of the JVM, which the runs share, is in {log}\n", encoding="utf-8"
        )
    work = QuickJob(work_folder=first_job.work_folder, runs=tuple(job for _, job in runs))
    results: list[RunResult] = []
    try:
        with worker(work, log, first.scenario.secrets) as process:
            for run, job in runs:
                watcher.run_started(run)
                if follow(process, job, partial(watcher.run_progressed, run)):
                    break
                results.append(closed(job.run_folder, 0))
                watcher.run_ended(run, results[-1])
    finally:
        for _, job in runs[len(results) + 1 :]:
            shutil.rmtree(job.run_folder, ignore_errors=True)
    if len(results) < len(runs):
        run, job = runs[len(results)]
        results.append(closed(job.run_folder, process.returncode, log))
        watcher.run_ended(run, results[-1])
    return tuple(results)
