"""The results folder of a suite: locked while runs are made, and what it holds from earlier suites."""

import contextlib
import fcntl
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.engines.spark.conf import SECRET_CONF
from bench.errors import ScenarioError
from bench.results.folders import RunResult, load_runs
from bench.results.records import MANIFEST, Mode
from bench.runs.suite.cases import Source
from bench.runs.suite.dropping import folders_of_tables
from bench.scenario.scenario import Scenario
from bench.text import counted

WORK = ".work"  # in the results folder: the tables of the run in progress
LOCK = ".lock"


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


def fresh(folder: Path) -> Path:
    """Create a folder. Raises ScenarioError if it cannot be created."""
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise ScenarioError(
            f"{folder}: cannot be created ({error.strerror}); choose another --out"
        ) from error
    return folder
