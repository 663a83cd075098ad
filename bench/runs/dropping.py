"""What interrupted or kept runs have left in shared catalogs and in staging folders, and removing it."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from bench.engines.journal import Journal
from bench.engines.registry import engine_kind
from bench.errors import EngineError
from bench.results.folders import RunResult
from bench.results.records import LOG
from bench.runs.cases import Source
from bench.runs.jobs import DropJob
from bench.runs.processes import worker
from bench.runs.run_files import last_line
from bench.runs.settings import NAMESPACES, STAGING, engine_settings
from bench.scenario.scenario import Scenario


def left_by(run_folder: Path) -> list[str]:
    """The namespaces in which a run has left tables, and staged files."""
    return [name for kind in (NAMESPACES, STAGING) for name in Journal(run_folder / kind).names()]


def interrupted(runs: Iterable[RunResult]) -> list[RunResult]:
    """The runs that have left something although nothing was to be kept."""
    return [run for run in runs if not run.finished and left_by(run.folder)]


def drop_left_by(run_folder: Path, variant: str | None, source: Source, work_folder: Path) -> None:
    """Remove what a run has left, by a worker with the scenario's catalog and Spark.

    `source` is the run's scenario as it is, `variant` the label of the run's. Raises EngineError if any stay.
    """
    work_folder.mkdir(parents=True)
    job = DropJob(
        scenario=source.name_or_path,
        overrides=source.overrides,
        scenario_hash=source.scenario.hash,
        variant=variant,
        run_folder=run_folder,
        work_folder=work_folder,
    )
    log = work_folder / LOG
    with worker(job, log, source.scenario.secrets) as process:
        process.wait()
    left, why = left_by(run_folder), last_line(log)
    shutil.rmtree(work_folder, ignore_errors=True)
    if left:
        raise EngineError(
            f"{run_folder.name}: what it has left ({', '.join(left)}) could not be removed: {why}; "
            "`compactbench clean` tries again"
        )


def drop_noted(scenario: Scenario, run_folder: Path, work_folder: Path) -> None:
    """Remove what a run has noted and not removed itself. Called in the worker."""
    any_strategy = scenario.strategies[0].label
    settings = engine_settings(scenario, any_strategy, work_folder, run_folder=run_folder)
    engine_kind(scenario.table.format, "real").drop_left(settings)
