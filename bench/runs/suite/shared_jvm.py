"""Quick suites: all runs of a scenario, in one variant, in one worker and one JVM, which warms up once.

A later run meets a warmer JVM than an earlier one, and whatever the earlier one left behind (garbage, cached
classes). Such figures give a first impression while one tries things out: they are marked wherever they are
shown, are not pooled with others, and cannot be published.
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
    """Make the runs of one scenario in one worker; returns those that were made.

    The first run that finishes has warmed the JVM up, and the log of the first has what the JVM prints. If
    the worker dies, the run in progress has failed, and those after it are not made. Raises EngineError for
    a run that could not start.
    """
    (first, first_job), *others = runs
    log = first_job.run_folder / LOG
    for _, job in others:
        (job.run_folder / LOG).write_text(
            f"the output of the JVM, which runs share, is in {log}\n", encoding="utf-8"
        )
    work = QuickJob(work_folder=first_job.work_folder, runs=tuple(job for _, job in runs))
    results: list[RunResult] = []
    try:
        with worker(work, log, first.source.scenario.secrets) as process:
            for run, job in runs:
                watcher.run_started(run)
                if follow(process, job.run_folder, partial(watcher.run_progressed, run)):
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
