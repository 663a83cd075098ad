"""The suite: its results folder, and making its runs one after the other."""

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Literal

from pydantic import ValidationError

from bench.engines.spark.conf import SECRET_CONF
from bench.errors import EngineError, ScenarioError
from bench.replay.recorder import utc_now
from bench.results.folders import RunResult, load_runs
from bench.results.records import LOG, MANIFEST, Mode
from bench.runs.cached_log import cached_log, log_cache
from bench.runs.cases import PlannedRun, Source
from bench.runs.dropping import TABLES, drop_left_by, folders_of_tables, left_by, unwanted
from bench.runs.jobs import LogJob, LogProgress, RunJob
from bench.runs.processes import STOP_GRACE_S, worker
from bench.runs.run import execute
from bench.runs.run_files import POLL_S, closed, follow, last_line
from bench.runs.shared_jvm import run_in_one_jvm
from bench.runs.watcher import Watcher
from bench.scenario.scenario import Scenario
from bench.text import counted

WORK = ".work"  # in the results folder: the tables of the run in progress
LOCK = ".lock"


@dataclass(frozen=True, slots=True)
class Options:
    """How to execute the suite."""

    out: Path
    verify: Literal["end", "each", "off"] = "end"
    keep_tables: bool = False
    command: str = ""  # that repeats the suite
    coefficients: Path | None = None  # of simulated runs; None for the format's own
    is_quick: bool = False  # all runs of a scenario, in one variant, in one JVM


def earlier_runs(
    sources: Sequence[Source],
    out: Path,
    *,
    resume: bool,
    mode: Mode = "real",
    is_quick: bool = False,
) -> tuple[RunResult, ...]:
    """The runs of one mode that `out` already contains for these scenarios.

    Raises ScenarioError if there are any and `resume` is off, or if their definition of the scenario or the
    strategy differs, or if only one of them is quick, since they must not be pooled with new runs; also if a
    file is in place of a folder.
    """
    earlier: list[RunResult] = []
    for source in sources:
        folder = out / source.scenario.name
        _check_folder(folder)
        stored = load_runs(folder) if any(folder.glob(f"*/{MANIFEST}")) else ()
        runs = [run for run in stored if run.manifest.mode == mode]
        if runs and not resume:
            raise ScenarioError(
                f"{folder} already contains {counted(len(runs), 'run')}: add --resume to run only what is "
                "missing, or choose another --out"
            )
        for run in runs:
            _check_same(run, source.scenario)
            _check_same_jvm(run, is_quick=is_quick)
        earlier += runs
    return tuple(earlier)


def _check_folder(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise ScenarioError(f"{folder}: is not a folder; remove it, or choose another --out")


def _check_same(run: RunResult, scenario: Scenario) -> None:
    manifest = run.manifest
    defined = {
        spec.label: (spec.hash, one.variant.to_json() if one.variant else None)
        for one in (scenario, *scenario.variants)
        for spec in one.strategies
    }
    stored = (manifest.strategy_hash, manifest.variant)
    same_strategy = defined.get(manifest.strategy, stored) == stored
    if manifest.scenario_hash != scenario.hash or not same_strategy:
        what = f"strategy {manifest.strategy!r}" if manifest.scenario_hash == scenario.hash else "scenario"
        raise ScenarioError(
            f"{run.folder}: has a different definition of the {what}, so its results must not be combined "
            "with new ones; choose another --out"
        )


def _check_same_jvm(run: RunResult, *, is_quick: bool) -> None:
    if run.manifest.is_quick != is_quick:
        made = "with" if run.manifest.is_quick else "without"
        raise ScenarioError(
            f"{run.folder}: was made {made} --quick, so its timings must not be combined with new ones; "
            "choose another --out"
        )


@contextlib.contextmanager
def locked(out: Path, *, sweep: bool = True) -> Iterator[None]:
    """Lock the results folder for this process; `sweep` removes what an interrupted suite left there.

    Raises ScenarioError if it cannot be locked or written, and for a work folder that no suite can have left,
    since none has locked the folder before.
    """
    if (out / WORK).is_dir() and not (out / LOCK).exists():
        raise ScenarioError(
            f"{out / WORK}: is not compactbench's, which would remove it; choose another folder"
        )
    try:
        out.mkdir(parents=True, exist_ok=True)
        file = (out / LOCK).open("ab")
    except OSError as error:
        raise ScenarioError(f"{out}: cannot write there ({error.strerror}); choose another folder") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ScenarioError(
                f"{out}: another compactbench is writing there; wait for it, or choose another folder"
            ) from error
        if sweep:
            shutil.rmtree(out / WORK, ignore_errors=True)
            _check_folder(out / WORK)
            for tables in folders_of_tables(out):
                (tables / SECRET_CONF).unlink(missing_ok=True)
        try:
            yield
        finally:
            if sweep:
                shutil.rmtree(out / WORK, ignore_errors=True)


def run_suite(planned: Sequence[PlannedRun], options: Options, watcher: Watcher) -> tuple[RunResult, ...]:
    """Execute the runs one after the other and return their results. `out` must be locked.

    Simulated runs are executed in this process, real ones in a worker process each, or, if the suite is to be
    quick, in one for all of a scenario. A run that fails is recorded, and the next one starts. Raises
    EngineError or ScenarioError if a change log cannot be written or read.
    """
    suite_id, load_1min = _stamp(), round(os.getloadavg()[0], 2)  # before work of its own
    results: list[RunResult] = []
    logs: dict[str, Path] = {}

    def prepared(run: PlannedRun) -> RunJob:
        name = run.source.scenario.name
        if run.mode == "real" and name not in logs:
            logs[name] = ensure_log(run.source, options.out, watcher)
        job = _job(run, options, suite_id, logs.get(name))
        return job.model_copy(update={"load_before_suite": load_1min}) if run is planned[0] else job

    if options.is_quick:
        for group in _by_jvm(planned):
            made = run_in_one_jvm([(run, prepared(run)) for run in group], watcher)
            drop_left(made, [group[0].source], options.out, watcher)
            results += made
    else:
        for run in planned:
            results.append(_run(run, prepared(run), watcher))
            drop_left(results[-1:], [run.source], options.out, watcher)
    return tuple(results)


def drop_left(runs: Iterable[RunResult], sources: Sequence[Source], out: Path, watcher: Watcher) -> None:
    """Drop what runs of these scenarios whose worker died have left in shared catalogs and staging folders.

    If that fails, `watcher` is warned, and the next runs are made all the same.
    """
    by_name = {source.scenario.name: source for source in sources}
    for run in unwanted(runs):
        watcher.dropping(run.folder.name, left_by(run.folder, kept_too=False))
        source, work_folder = by_name[run.manifest.scenario], out / WORK / f"drop-{run.folder.name}"
        try:
            drop_left_by(run, source, work_folder, kept_too=False)
        except EngineError as error:
            watcher.warned(str(error))


def _by_jvm(planned: Sequence[PlannedRun]) -> list[list[PlannedRun]]:
    """Runs that can share a JVM: those of a scenario in one variant."""
    groups: dict[tuple[str, str | None], list[PlannedRun]] = {}
    for run in planned:
        groups.setdefault((run.source.scenario.name, run.source.scenario.variant_label), []).append(run)
    return list(groups.values())


def ensure_log(source: Source, out: Path, watcher: Watcher) -> Path:
    """The folder of the scenario's change log, which a worker writes unless it exists."""
    existing = cached_log(source.scenario)
    if existing is None:
        return _write_log(source, out, watcher)
    watcher.log_ended(source.scenario.name, len(existing.commits))
    return existing.folder


def _write_log(source: Source, out: Path, watcher: Watcher) -> Path:
    """Write the change log in a worker process."""
    folder = _fresh(out / WORK / f"log-{source.scenario.name}")
    job = LogJob(
        scenario=source.name_or_path,
        overrides=source.overrides,
        scenario_hash=source.scenario.hash,
        work_folder=folder,
        cache_folder=log_cache(),
        progress_file=folder / "progress.json",
    )
    log_file = folder / LOG
    progress = LogProgress()
    secrets = source.scenario.secrets
    watcher.log_started(source.scenario.name)
    with worker(job, log_file, secrets) as process:
        while process.poll() is None:
            time.sleep(POLL_S)
            progress = _log_progress(job.progress_file, progress)
            if progress.total:
                watcher.log_progressed(source.scenario.name, progress.done, progress.total)
        progress = _log_progress(job.progress_file, progress)
    last_output = last_line(log_file)
    shutil.rmtree(folder, ignore_errors=True)
    if progress.damaged:
        raise ScenarioError(progress.damaged)
    if progress.folder is None:
        cause = secrets.scrub(progress.failed) if progress.failed else last_output
        raise EngineError(f"cannot write the change log of {source.scenario.name}: {cause}")
    watcher.log_ended(source.scenario.name, progress.commits_count)
    return progress.folder


def _log_progress(file: Path, before: LogProgress) -> LogProgress:
    try:
        return LogProgress.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, ValidationError):  # does not exist yet, or is half written
        return before


def _job(run: PlannedRun, options: Options, suite_id: str, log_folder: Path | None) -> RunJob:
    """What a worker is told of a run, whose folders are made."""
    scenario = run.source.scenario
    # Runs may start within one second, and labels may differ in characters that a file name cannot have.
    run_id = f"{_stamp()}-{run.folder_name}-{token_hex(2)}"
    folder = _fresh(options.out / scenario.name / run_id)
    keep_tables = options.keep_tables and run.mode == "real"
    work_folder = _fresh(folder / TABLES if keep_tables else options.out / WORK / run_id)
    return RunJob(
        scenario=run.source.name_or_path,
        overrides=run.source.overrides,
        scenario_hash=scenario.hash,
        work_folder=work_folder,
        run_folder=folder,
        run_id=run_id,
        suite_id=suite_id,
        mode=run.mode,
        variant=scenario.variant_label,
        strategy=run.spec.label,
        strategy_index=run.index,
        repetition=run.repetition,
        position=run.position,
        shares_jvm=options.is_quick and run.mode == "real",
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
    finished = execute(job, run.source.scenario, lambda record: watcher.run_progressed(run, record))
    return 0 if finished else 1


def _in_worker(run: PlannedRun, job: RunJob, watcher: Watcher) -> int:
    """Execute the run in a worker process; returns its exit code."""
    folder = job.run_folder
    with worker(job, folder / LOG, run.source.scenario.secrets) as process:
        if not follow(process, folder, partial(watcher.run_progressed, run)):
            # A thread of a planner may keep it. Spark has ended before the last record.
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STOP_GRACE_S)
        return process.poll() or 0


def _fresh(folder: Path) -> Path:
    """Create a folder. Raises ScenarioError if it cannot be created."""
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise ScenarioError(
            f"{folder}: cannot be created ({error.strerror}); choose another --out"
        ) from error
    return folder


def _stamp() -> str:
    return re.sub(r"[-:]|\.\d+", "", utc_now())
