"""The change log of a scenario: found in the cache, or written by a worker."""

import shutil
import time
from pathlib import Path

from pydantic import ValidationError

from bench.engines import runtime
from bench.errors import EngineError, ScenarioError
from bench.results.records import LOG
from bench.runs.jobs import LogJob, LogProgress, SentScenario
from bench.runs.live_figures import POLL_S
from bench.runs.suite.processes import worker
from bench.runs.suite.results_folder import WORK, fresh
from bench.runs.suite.run_files import last_message
from bench.runs.suite.watcher import Watcher
from bench.scenario.scenario import Scenario
from workloads.change_log import ChangeLog, ChangeLogError, find_change_log


def log_cache() -> Path:
    return runtime.cache_folder() / "change_logs"


def cached_log(scenario: Scenario) -> ChangeLog | None:
    """The change log of a scenario; None if it has to be written. Raises ScenarioError if it is damaged."""
    workload, seed = scenario.workload, scenario.seed
    count, interval_ms = scenario.commits_count, scenario.commit_interval_ms
    try:
        return find_change_log(log_cache(), workload, seed, count, interval_ms)
    except ChangeLogError as error:
        raise ScenarioError(str(error), code="change-log-damaged") from error


def ensure_log(scenario: Scenario, out: Path, watcher: Watcher) -> Path:
    """The folder of the scenario's change log, written by a worker if it is not in the cache."""
    existing = cached_log(scenario)
    if existing is None:
        return _write_log(scenario, out, watcher)
    watcher.log_ended(scenario.name, len(existing.commits))
    return existing.folder


def _write_log(scenario: Scenario, out: Path, watcher: Watcher) -> Path:
    folder = fresh(out / WORK / f"log-{scenario.name}")
    job = LogJob(
        scenario=SentScenario.of(scenario),
        work_folder=folder,
        cache_folder=log_cache(),
        progress_file=folder / "progress.json",
    )
    log_file = folder / LOG
    progress = LogProgress()
    secrets = scenario.secrets
    watcher.log_started(scenario.name)
    with worker(job, log_file, secrets) as process:
        while process.poll() is None:
            time.sleep(POLL_S)
            progress = _log_progress(job.progress_file, progress)
            if progress.total:
                watcher.log_progressed(scenario.name, progress.done, progress.total)
        progress = _log_progress(job.progress_file, progress)
    last_output = last_message(log_file)
    shutil.rmtree(folder, ignore_errors=True)
    if progress.damaged:
        raise ScenarioError(progress.damaged, code="change-log-damaged")
    if progress.folder is None:
        cause = secrets.scrub(progress.failed) if progress.failed else last_output
        raise EngineError(
            f"cannot write the change log: {cause}", code="change-log-not-written", path=scenario.name
        )
    watcher.log_ended(scenario.name, progress.commits_count)
    return progress.folder


def _log_progress(file: Path, before: LogProgress) -> LogProgress:
    try:
        return LogProgress.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, ValidationError):  # missing or half written
        return before
