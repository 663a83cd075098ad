"""Removes tables in shared catalogs and staged files of interrupted or kept runs."""

import shutil
from pathlib import Path

from bench.engines.journal import Journal
from bench.errors import EngineError
from bench.results.folders import RunResult
from bench.results.records import LOG
from bench.runs.jobs import DropJob, SentScenario
from bench.runs.settings import NAMESPACE_NOTES, STAGING_NOTES
from bench.runs.suite.processes import worker
from bench.runs.suite.run_files import last_message
from bench.scenario.catalog import has_shared_catalog
from bench.scenario.scenario import Scenario

TABLES = "tables"  # in a run folder: the tables kept by --keep-tables


def left_by(run_folder: Path, *, kept_too: bool = True) -> list[str]:
    """The namespaces with tables of a run, and its staging folders, as it has noted them.

    Without `kept_too`, namespaces with tables that the user keeps are left out.
    """
    kinds = (NAMESPACE_NOTES, STAGING_NOTES) if kept_too or not keeps_tables(run_folder) else (STAGING_NOTES,)
    return [name for kind in kinds for name in Journal(run_folder / kind).names()]


def keeps_tables(run_folder: Path) -> bool:
    return (run_folder / TABLES).is_dir()


def folders_of_tables(results: Path) -> list[Path]:
    """The folders of that name in a results folder, except links. The folder of a report has one, too."""
    inside = results.resolve()
    return sorted(
        folder
        for folder in results.glob(f"*/*/{TABLES}")
        if folder.resolve() == inside / folder.relative_to(results)
    )


def drop_left_by(run: RunResult, scenario: Scenario, work_folder: Path, *, kept_too: bool = True) -> None:
    """Remove what `left_by` names. `scenario` is the run's, in its variant or with all variants.

    Raises EngineError if anything stays, and if the run's folder has been renamed: its namespaces and staging
    folders have that name, too.
    """
    run_folder, scenario = run.folder, scenario.in_variant(run.manifest.variant_label)
    if run_folder.name != run.manifest.run_id:
        raise EngineError(
            f"is not named {run.manifest.run_id}, so the namespaces noted there may not be the run's: rename "
            "the folder",
            code="copied-run",
            path=run_folder,
        )
    if Journal(run_folder / NAMESPACE_NOTES).names() and not has_shared_catalog(scenario):
        raise EngineError(
            "names namespaces in a catalog, but the scenario has no catalog: see where these notes come "
            "from, and remove them",
            code="no-catalog",
            path=run_folder / NAMESPACE_NOTES,
        )
    drop_noted(run_folder, scenario, work_folder, kept_too=kept_too)


def drop_noted(folder: Path, scenario: Scenario, work_folder: Path, *, kept_too: bool = True) -> None:
    """Remove what is noted in a folder, by a worker with the scenario's catalog and Spark.

    Raises EngineError if anything stays.
    """
    work_folder.mkdir(parents=True)
    job = DropJob(
        scenario=SentScenario.of(scenario),
        run_folder=folder,
        tables_too=kept_too or not keeps_tables(folder),
        work_folder=work_folder,
    )
    log = work_folder / LOG
    with worker(job, log, scenario.secrets) as process:
        process.wait()
    left, cause = left_by(folder, kept_too=kept_too), last_message(log)
    shutil.rmtree(work_folder, ignore_errors=True)
    if left:
        problem = f"cannot remove {', '.join(left)}: {cause}; `compactbench clean` tries again"
        raise EngineError(problem, code="not-dropped", path=folder.name)
