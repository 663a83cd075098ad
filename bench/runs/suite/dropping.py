"""What interrupted or kept runs have left in shared catalogs and in staging folders, and removing it."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from bench.engines.journal import Journal
from bench.errors import EngineError
from bench.results.folders import RunResult
from bench.results.records import LOG
from bench.runs.jobs import DropJob
from bench.runs.settings import NAMESPACE_NOTES, STAGING_NOTES
from bench.runs.suite.cases import Source
from bench.runs.suite.processes import worker
from bench.runs.suite.run_files import last_line
from bench.scenario.catalog import has_shared_catalog

TABLES = "tables"  # in a run folder: the tables kept by --keep-tables


def left_by(run_folder: Path, *, kept_too: bool = True) -> list[str]:
    """The namespaces in which a run has left tables, and staged files.

    Without `kept_too`, those with tables that were to be kept are left out. Staged files never are.
    """
    kinds = (NAMESPACE_NOTES, STAGING_NOTES) if kept_too or not keeps_tables(run_folder) else (STAGING_NOTES,)
    return [name for kind in kinds for name in Journal(run_folder / kind).names()]


def keeps_tables(run_folder: Path) -> bool:
    """Whether the run was to keep its tables."""
    return (run_folder / TABLES).is_dir()


def folders_of_tables(results: Path) -> list[Path]:
    """The folders of that name in a results folder, but none that a link leads to.

    A report has one too, but no manifest of a run beside it.
    """
    inside = results.resolve()
    return sorted(
        folder
        for folder in results.glob(f"*/*/{TABLES}")
        if folder.resolve() == inside / folder.relative_to(results)
    )


def unwanted(runs: Iterable[RunResult]) -> list[RunResult]:
    """The runs that have left something that they were not to keep."""
    return [run for run in runs if left_by(run.folder, kept_too=False)]


def drop_left_by(run: RunResult, source: Source, work_folder: Path, *, kept_too: bool = True) -> None:
    """Remove what a run has left, by a worker with the scenario's catalog and Spark; see `left_by`.

    `source` is the run's scenario as it is. Raises EngineError if anything stays, and for a run that is not
    in the folder it was made in, from whose name the names of what it has made follow.
    """
    run_folder = run.folder
    if run_folder.name != run.manifest.run_id:
        raise EngineError(
            f"{run_folder}: is not named {run.manifest.run_id}, so it is not certain that what is noted "
            "there is the run's: name the folder as the run made it"
        )
    scenario = source.scenario.in_variant(run.manifest.variant_label)
    if Journal(run_folder / NAMESPACE_NOTES).names() and not has_shared_catalog(scenario):
        raise EngineError(
            f"{run_folder / NAMESPACE_NOTES}: names what a run has left in a catalog, but the scenario names "
            "no catalog, so this is not of the run: see where it comes from, and remove it"
        )
    work_folder.mkdir(parents=True)
    job = DropJob(
        scenario=source.name_or_path,
        overrides=source.overrides,
        scenario_hash=source.scenario.hash,
        variant=run.manifest.variant_label,
        run_folder=run_folder,
        tables_too=kept_too or not keeps_tables(run_folder),
        work_folder=work_folder,
    )
    log = work_folder / LOG
    with worker(job, log, source.scenario.secrets) as process:
        process.wait()
    left, why = left_by(run_folder, kept_too=kept_too), last_line(log)
    shutil.rmtree(work_folder, ignore_errors=True)
    if left:
        raise EngineError(
            f"{run_folder.name}: what it has left ({', '.join(left)}) could not be removed: {why}; "
            "`compactbench clean` tries again"
        )
