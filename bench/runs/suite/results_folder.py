"""The results folder of a suite: its lock, and the runs of earlier suites in it."""

import contextlib
import fcntl
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from bench.engines.registry import FORMATS
from bench.engines.spark.conf import remove_secrets
from bench.errors import ScenarioError
from bench.results.folders import RunResult, load_runs
from bench.results.records import MANIFEST, REPLACED, Mode
from bench.results.rows import is_disturbing, usable
from bench.runs.suite.cases import PlannedRun
from bench.runs.suite.dropping import folders_of_tables
from bench.scenario.scenario import Scenario
from bench.text import counted, human_number, named_once

WORK = ".work"  # in the results folder: the tables of the run in progress
LOCK = ".lock"


def earlier_runs(
    scenarios: Sequence[Scenario],
    out: Path,
    *,
    resume: bool,
    mode: Mode = "real",
    coefficients: Path | None = None,
) -> tuple[RunResult, ...]:
    """The runs of one mode that `out` already contains for these scenarios.

    Raises ScenarioError if there are any and `resume` is off, and for runs that must not be pooled with new
    ones: with another definition of the scenario or strategy, or simulated ones with coefficients that differ
    from those in the file `coefficients` (None is the one that ships with a format).
    """
    earlier: list[RunResult] = []
    for scenario in scenarios:
        folder = out / scenario.name
        _check_folder(folder)
        runs = [run for run in stored_runs(folder) if run.manifest.mode == mode]
        if runs and not resume:
            raise ScenarioError(
                f"already contains {counted(len(runs), 'run')}: add --resume to run only the missing ones, "
                "or choose another --out",
                code="has-runs",
                path=folder,
            )
        for run in runs:
            _check_same(run, scenario)
        if mode == "simulated":
            _check_same_coefficients(runs, scenario, coefficients)
        earlier += runs
    return tuple(earlier)


def stored_runs(folder: Path) -> tuple[RunResult, ...]:
    """The runs in the folder of a scenario; none if it has none or does not exist."""
    return load_runs(folder) if any(folder.glob(f"*/{MANIFEST}")) else ()


def check_alone(scenarios: Sequence[Scenario], out: Path) -> None:
    """Refuse a results folder with runs of other scenarios, which an answer for all of it would count.

    Raises ScenarioError.
    """
    own = {scenario.name for scenario in scenarios}
    others = sorted({path.parent.parent.name for path in out.glob(f"*/*/{MANIFEST}")} - own)
    if others:
        raise ScenarioError(
            f"has runs of {named_once(others)}, which are not in this sweep: remove them, or choose another "
            "--out",
            code="has-runs",
            path=out,
        )


def replaced_if_disturbed(run: RunResult) -> RunResult:
    """The run, marked as replaced if other processes used the machine during it and its figures count."""
    cores = None if run.end is None else run.end.other_cores
    if cores is None or not is_disturbing(cores) or not usable(run):
        return run
    return replace(run, replaced=f"other processes used {human_number(cores)} cores")


def mark_replaced(earlier: Iterable[RunResult], planned: Iterable[PlannedRun]) -> None:
    """Note why in the folder of each run that is replaced, if it will be made again."""
    again = {(run.scenario.name, run.spec.label, run.repetition) for run in planned}
    for run in earlier:
        m, note = run.manifest, run.folder / REPLACED
        is_again = (m.scenario, m.strategy, m.repetition) in again
        if run.replaced is not None and is_again and not note.exists():
            note.write_text(f"{run.replaced}\n", encoding="utf-8")


def _check_folder(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise ScenarioError("is not a folder: choose another --out", code="not-a-folder", path=folder)


def _check_same(run: RunResult, scenario: Scenario) -> None:
    manifest = run.manifest
    defined = {
        spec.label: (spec.hash, place.variant.to_json() if place.variant else None)
        for place in (scenario, *scenario.variants)
        for spec in place.strategies
    }
    stored = (manifest.strategy_hash, manifest.variant)
    same_strategy = defined.get(manifest.strategy, stored) == stored
    if manifest.scenario_hash != scenario.hash or not same_strategy:
        what = f"strategy {manifest.strategy!r}" if manifest.scenario_hash == scenario.hash else "scenario"
        raise ScenarioError(
            f"has another definition of the {what}, so new runs cannot be combined with it: repeat the "
            "options of the first run, such as --set, or choose another --out",
            code="mixed-runs",
            path=run.folder,
        )


def _check_same_coefficients(
    runs: Iterable[RunResult], scenario: Scenario, coefficients: Path | None
) -> None:
    for table_format in {place.table.format for place in (scenario, *scenario.variants)}:
        alike = [run for run in runs if run.manifest.format == table_format]
        if not alike:
            continue
        new = FORMATS[table_format].engines.estimates(coefficients).to_json()
        for run in alike:
            if run.manifest.options.get("coefficients") != new:
                raise ScenarioError(
                    "was simulated with other coefficients, so new runs cannot be combined with it: choose "
                    "another --out",
                    code="mixed-runs",
                    path=run.folder,
                )


@contextlib.contextmanager
def locked(out: Path, *, sweep: bool = True) -> Iterator[None]:
    """Lock the results folder for this process; `sweep` removes the work folder of an interrupted suite.

    Raises ScenarioError if the folder cannot be locked or written, and for a work folder without a lock file,
    which no suite has left.
    """
    if (out / WORK).is_dir() and not (out / LOCK).exists():
        problem = "was not created by compactbench and would be removed: choose another folder"
        raise ScenarioError(problem, code="not-ours", path=out / WORK)
    try:
        out.mkdir(parents=True, exist_ok=True)
        file = (out / LOCK).open("ab")
    except OSError as error:
        raise ScenarioError(
            f"cannot be written ({error.strerror}): choose another folder", code="not-writable", path=out
        ) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            problem = "another compactbench is writing there: wait for it, or choose another folder"
            raise ScenarioError(problem, code="locked", path=out) from error
        if sweep:
            shutil.rmtree(out / WORK, ignore_errors=True)
            _check_folder(out / WORK)
            for tables in folders_of_tables(out):
                remove_secrets(tables)
        try:
            yield
        finally:
            if sweep:
                shutil.rmtree(out / WORK, ignore_errors=True)


def fresh(folder: Path) -> Path:
    """Create a folder. Raises ScenarioError if it cannot be created."""
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise ScenarioError(
            f"cannot be created ({error.strerror}): choose another --out", code="not-writable", path=folder
        ) from error
    return folder
