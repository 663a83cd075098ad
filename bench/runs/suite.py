"""The suite: which runs there are, in which order, and one after the other: real ones in worker processes."""

import contextlib
import fcntl
import re
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from pydantic import ValidationError

from bench import runtime
from bench.errors import EngineError, ScenarioError
from bench.replay.recorder import Recorder, utc_now
from bench.results.folders import RunResult, load_run, load_runs
from bench.results.records import EVENTS, LOG, MANIFEST, Mode, RunRecord, parse_record
from bench.results.rows import usable
from bench.runs.jobs import LogJob, LogProgress, RunJob
from bench.runs.processes import worker
from bench.runs.run import execute
from bench.scenario.scenario import Scenario
from bench.scenario.specs import StrategySpec

POLL_S = 0.2
WORK = ".work"  # in the results folder: tables of the run in progress
TABLES = "tables"  # in a run folder: what --keep-tables keeps
LOCK = ".lock"


@dataclass(frozen=True, slots=True)
class Source:
    """A scenario as the user asked for it, so that a worker can load it again."""

    name_or_path: str
    overrides: tuple[str, ...]
    scenario: Scenario


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run to be made."""

    source: Source
    mode: Mode
    spec: StrategySpec
    repetition: int
    position: int

    @property
    def folder_name(self) -> str:
        """Without the time it starts: format, mode, label (what a file name can hold of it), repetition."""
        label = re.sub(r"[^A-Za-z0-9._-]+", "_", self.spec.label)
        return f"{self.source.scenario.table.format}-{self.mode}-{label}-r{self.repetition}"


@dataclass(frozen=True, slots=True)
class Options:
    """How to carry the suite out."""

    out: Path
    verify: Literal["end", "each", "off"] = "end"
    keep_tables: bool = False
    command: str = ""  # as the user could type it again
    coefficients: Path | None = None  # of simulated runs; None: those that come with the format


class Watcher(Protocol):
    """Hears how the suite goes, for progress bars and logs."""

    def log_progressed(self, scenario: str, done: int, total: int) -> None: ...

    def run_started(self, run: PlannedRun) -> None: ...

    def run_progressed(self, run: PlannedRun, record: Any) -> None: ...

    def run_ended(self, run: PlannedRun, result: RunResult) -> None: ...


def plan_runs(
    sources: Sequence[Source],
    only: Sequence[str],
    repetitions: int | None,
    done: Sequence[RunResult],
    *,
    mode: Mode = "real",
    invalidated_too: bool = False,
) -> tuple[PlannedRun, ...]:
    """The runs still to make. Repetitions interleave the strategies: A B C, then B C A, ...

    `only` narrows them to these labels; what `done` holds finished is left out, timings_invalid runs only if
    no timings are wanted (`invalidated_too`). Raises ScenarioError on a label no scenario has.
    """
    finished = {
        (r.manifest.scenario, r.manifest.strategy, r.manifest.repetition)
        for r in done
        if usable(r) and r.end is not None and (invalidated_too or not r.end.timings_invalid)
    }
    _check_labels(sources, only)
    planned: list[PlannedRun] = []
    for source in sources:
        chosen = [spec for spec in source.scenario.strategies if not only or spec.label in only]
        for repetition in range(1, (repetitions or repetitions_of(source.scenario, mode)) + 1):
            first = (repetition - 1) % max(1, len(chosen))
            for spec in chosen[first:] + chosen[:first]:
                if (source.scenario.name, spec.label, repetition) not in finished:
                    planned.append(PlannedRun(source, mode, spec, repetition, len(done) + len(planned)))
    return tuple(planned)


def repetitions_of(scenario: Scenario, mode: Mode) -> int:
    """How often each strategy runs; a simulated run would only repeat itself."""
    return 1 if mode == "simulated" else scenario.repetitions


def _check_labels(sources: Sequence[Source], only: Sequence[str]) -> None:
    known = [spec.label for source in sources for spec in source.scenario.strategies]
    for label in only:
        if label not in known:
            raise ScenarioError(f"--only strategy={label}: no such strategy; there are {', '.join(known)}")


def earlier_runs(
    sources: Sequence[Source], out: Path, *, resume: bool, mode: Mode = "real"
) -> tuple[RunResult, ...]:
    """The runs of one mode already in the result folders of these scenarios.

    Raises ScenarioError when there are some and `resume` is off, or when they are of another
    definition of the scenario or strategy, which must not be pooled with new ones.
    """
    found: list[RunResult] = []
    for source in sources:
        folder = out / source.scenario.name
        found_runs = load_runs(folder) if any(folder.glob(f"*/{MANIFEST}")) else ()
        runs = [run for run in found_runs if run.manifest.mode == mode]
        if runs and not resume:
            raise ScenarioError(
                f"{folder} holds {len(runs)} runs already: add --resume to make the missing ones, "
                "or choose another --out"
            )
        for run in runs:
            _check_same(run, source.scenario)
        found += runs
    return tuple(found)


def _check_same(run: RunResult, scenario: Scenario) -> None:
    manifest = run.manifest
    hashes = {spec.label: spec.hash for spec in scenario.strategies}
    same_strategy = hashes.get(manifest.strategy, manifest.strategy_hash) == manifest.strategy_hash
    if manifest.scenario_hash != scenario.hash or not same_strategy:
        what = f"strategy {manifest.strategy!r}" if manifest.scenario_hash == scenario.hash else "scenario"
        raise ScenarioError(
            f"{run.folder}: was run with another definition of the {what}; runs of both must not be "
            "pooled: choose another --out"
        )


@contextlib.contextmanager
def locked(out: Path, *, sweep: bool = True) -> Iterator[None]:
    """Hold the results folder for this process, and `sweep` away what a suite that died left there.

    Raises ScenarioError when it cannot be had or written.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        file = (out / LOCK).open("w")
    except OSError as error:
        raise ScenarioError(f"{out}: cannot write there ({error.strerror}); choose another --out") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ScenarioError(
                f"{out}: another compactbench is writing there; wait for it or choose another --out"
            ) from error
        if sweep:
            shutil.rmtree(out / WORK, ignore_errors=True)
        try:
            yield
        finally:
            if sweep:
                shutil.rmtree(out / WORK, ignore_errors=True)


def run_suite(planned: Sequence[PlannedRun], options: Options, watcher: Watcher) -> tuple[RunResult, ...]:
    """Make the runs one after the other, in an `out` that is locked; the results of these runs.

    A run that fails is recorded and the next one starts. Raises EngineError or ScenarioError when a
    change log cannot be had.
    """
    suite_id = _stamp()
    results = []
    logs: dict[str, Path] = {}
    for run in planned:
        name = run.source.scenario.name
        if run.mode == "real" and name not in logs:
            logs[name] = ensure_log(run.source, options.out, watcher)
        results.append(_run(run, options, suite_id, logs.get(name), watcher))
    return tuple(results)


def ensure_log(source: Source, out: Path, watcher: Watcher) -> Path:
    """The folder of the scenario's change log, which a worker writes when there is none yet."""
    folder = _fresh(out / WORK / f"log-{source.scenario.name}")
    job = LogJob(
        scenario=source.name_or_path,
        overrides=source.overrides,
        scenario_hash=source.scenario.hash,
        work_folder=folder,
        cache_folder=runtime.cache_folder() / "change_logs",
        progress_file=folder / "progress.json",
    )
    log_file = folder / LOG
    heard = LogProgress()
    secrets = source.scenario.secrets
    with worker(job, log_file, secrets) as process:
        while process.poll() is None:
            time.sleep(POLL_S)
            heard = _log_progress(job.progress_file, heard)
            if heard.total:
                watcher.log_progressed(source.scenario.name, heard.done, heard.total)
        heard = _log_progress(job.progress_file, heard)
    said = last_line(log_file)
    shutil.rmtree(folder, ignore_errors=True)
    if heard.damaged:
        raise ScenarioError(heard.damaged)
    if heard.folder is None:
        cause = secrets.scrub(heard.failed) if heard.failed else said
        raise EngineError(f"cannot write the change log of {source.scenario.name}: {cause}")
    return heard.folder


def _log_progress(file: Path, before: LogProgress) -> LogProgress:
    try:
        return LogProgress.model_validate_json(file.read_text())
    except (OSError, ValidationError):  # not there yet, or half written
        return before


def _run(
    run: PlannedRun, options: Options, suite_id: str, log_folder: Path | None, watcher: Watcher
) -> RunResult:
    scenario = run.source.scenario
    run_id = f"{_stamp()}-{run.folder_name}"
    folder = _fresh(options.out / scenario.name / run_id)
    keep_tables = options.keep_tables and run.mode == "real"
    work_folder = _fresh(folder / TABLES if keep_tables else options.out / WORK / run_id)
    job = RunJob(
        scenario=run.source.name_or_path,
        overrides=run.source.overrides,
        scenario_hash=scenario.hash,
        work_folder=work_folder,
        run_folder=folder,
        run_id=run_id,
        suite_id=suite_id,
        mode=run.mode,
        strategy=run.spec.label,
        repetition=run.repetition,
        position=run.position,
        log_folder=log_folder,
        coefficients=options.coefficients,
        verify=options.verify,
        command=options.command,
        keep_tables=keep_tables,
    )
    watcher.run_started(run)
    exit_code = _simulate(run, job, watcher) if run.mode == "simulated" else _in_worker(run, job, watcher)
    if not keep_tables:
        shutil.rmtree(work_folder, ignore_errors=True)
    result = _closed(folder, exit_code)
    watcher.run_ended(run, result)
    return result


def _simulate(run: PlannedRun, job: RunJob, watcher: Watcher) -> int:
    finished = execute(job, run.source.scenario, lambda record: watcher.run_progressed(run, record))
    return 0 if finished else 1


def _in_worker(run: PlannedRun, job: RunJob, watcher: Watcher) -> int:
    """A process of its own; its exit code."""
    with worker(job, job.run_folder / LOG, run.source.scenario.secrets) as process:
        tail = _Tail(job.run_folder / EVENTS)
        while process.poll() is None:
            time.sleep(POLL_S)
            for record in tail.new_records():
                watcher.run_progressed(run, record)
    return process.returncode


class _Tail:
    """Reads the records a worker appends, whole lines only."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read_bytes = 0

    def new_records(self) -> Iterator[Any]:
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            file.seek(self._read_bytes)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                self._read_bytes += len(line)
                yield parse_record(line)


def _closed(folder: Path, exit_code: int) -> RunResult:
    """The run as stored. A worker that died without a word gets its closing record from us.

    Raises EngineError when it died before it could even say what it was about to run.
    """
    if not (folder / MANIFEST).exists():
        raise EngineError(f"{folder.name}: the worker could not start: {last_line(folder / 'log.txt')}")
    (folder / EVENTS).touch()
    result = load_run(folder)
    if result.end is None:
        error = f"the worker ended with exit code {exit_code}: {last_line(folder / 'log.txt')}"
        with Recorder(folder / EVENTS) as recorder:
            recorder.write(RunRecord(tick=0, at_ms=0, written_utc=utc_now(), status="failed", error=error))
        result = load_run(folder)
    return result


def last_line(log: Path) -> str:
    """The last line a worker printed: all there is to say of one that died without a record."""
    text = log.read_text(errors="replace").partition("nanobind: ")[0]  # DuckDB's talk of leaks at exit
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it printed nothing"


def _fresh(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def _stamp() -> str:
    return re.sub(r"[-:]|\.\d+", "", utc_now())
