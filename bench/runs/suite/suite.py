"""Makes the runs of a suite: one after the other, or long simulations side by side."""

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Literal

from bench.errors import EngineError
from bench.replay.recorder import utc_now
from bench.results.folders import RunResult
from bench.results.records import LOG
from bench.runs.jobs import RunJob, SentScenario
from bench.runs.live_figures import LiveProgress
from bench.runs.suite.cases import PlannedRun
from bench.runs.suite.change_log import ensure_log
from bench.runs.suite.dropping import TABLES, drop_left_by, left_by
from bench.runs.suite.processes import STOP_GRACE_S, worker
from bench.runs.suite.results_folder import WORK, fresh
from bench.runs.suite.run_files import closed, follow
from bench.runs.suite.side_by_side import are_worth_processes, run_side_by_side
from bench.runs.suite.watcher import Watcher
from bench.runs.worker.run import execute
from bench.scenario.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Options:
    out: Path
    verify: Literal["end", "each", "off"] = "end"
    keep_tables: bool = False
    command: str = ""  # to repeat the suite
    coefficients: Path | None = None  # of simulated runs; None for the format's own


def run_suite(planned: Sequence[PlannedRun], options: Options, watcher: Watcher) -> tuple[RunResult, ...]:
    """Execute the runs and return their closing records. `out` must be locked.

    Simulated runs are executed in this process, unless they are so long that processes side by side save
    time. Real runs have a worker process each. A run that fails is recorded, and the next one starts. Raises
    EngineError or ScenarioError if a change log cannot be written or read.
    """
    suite_id, load_1min = _stamp(), round(os.getloadavg()[0], 2)  # before the suite's own load
    results: list[RunResult] = []
    logs: dict[str, Path] = {}

    def prepared(run: PlannedRun) -> RunJob:
        name = run.scenario.name
        if run.mode == "real" and name not in logs:
            logs[name] = ensure_log(run.scenario, options.out, watcher)
        job = _job(run, options, suite_id, logs.get(name))
        return job.model_copy(update={"load_before_suite": load_1min}) if run is planned[0] else job

    if are_worth_processes(planned):
        results += run_side_by_side(planned, prepared, watcher)
    else:
        for run in planned:
            results.append(_run(run, prepared(run), watcher))
            drop_left(results[-1:], [run.scenario], options.out, watcher)
    return tuple(results)


def drop_left(runs: Iterable[RunResult], scenarios: Sequence[Scenario], out: Path, watcher: Watcher) -> None:
    """Drop tables and staged files of runs whose worker died.

    If that fails, `watcher` is warned and the suite goes on.
    """
    by_name = {scenario.name: scenario for scenario in scenarios}
    for run in runs:
        left = left_by(run.folder, kept_too=False)
        if not left:
            continue
        watcher.dropping(run.folder.name, left)
        scenario, work_folder = by_name[run.manifest.scenario], out / WORK / f"drop-{run.folder.name}"
        try:
            drop_left_by(run, scenario, work_folder, kept_too=False)
        except EngineError as error:
            watcher.warned(str(error))


def _job(run: PlannedRun, options: Options, suite_id: str, log_folder: Path | None) -> RunJob:
    """The job of a run, whose folders are created here."""
    scenario = run.scenario
    # Runs may start in the same second, and folder names do not have all characters of labels.
    run_id = f"{_stamp()}-{run.folder_name}-{token_hex(2)}"
    folder = fresh(options.out / scenario.name / run_id)
    keep_tables = options.keep_tables and run.mode == "real"
    work_folder = fresh(folder / TABLES if keep_tables else options.out / WORK / run_id)
    return RunJob(
        scenario=SentScenario.of(scenario),
        work_folder=work_folder,
        run_folder=folder,
        run_id=run_id,
        suite_id=suite_id,
        mode=run.mode,
        strategy=run.spec.label,
        strategy_index=run.case.index,
        repetition=run.repetition,
        position=run.position,
        log_folder=log_folder,
        coefficients=options.coefficients,
        verify=options.verify,
        command=options.command,
        keep_tables=keep_tables,
    )


def _run(run: PlannedRun, job: RunJob, watcher: Watcher) -> RunResult:
    watcher.run_started(run)
    exit_code = (_simulate if run.mode == "simulated" else _in_worker)(run, job, watcher)
    if not job.keep_tables:
        shutil.rmtree(job.work_folder, ignore_errors=True)
    result = closed(job.run_folder, exit_code)
    watcher.run_ended(run, result)
    return result


def _simulate(run: PlannedRun, job: RunJob, watcher: Watcher) -> int:
    return 0 if execute(job, run.scenario, LiveProgress(partial(watcher.run_progressed, run)).add) else 1


def _in_worker(run: PlannedRun, job: RunJob, watcher: Watcher) -> int:
    """Returns the exit code of the worker process."""
    folder = job.run_folder
    with worker(job, folder / LOG, run.scenario.secrets) as process:
        if not follow(process, job, partial(watcher.run_progressed, run)):
            # A thread of a user's planner may keep it alive. Spark ended before the last record.
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STOP_GRACE_S)
        return process.poll() or 0


def _stamp() -> str:
    return re.sub(r"[-:]|\.\d+", "", utc_now())
