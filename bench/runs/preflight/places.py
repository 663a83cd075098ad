"""Tries to create a table in the scenario's catalog before the change log is written.

Otherwise the log would be written first, and then each run would fail.
"""

import re
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from bench.engines.master import parse_master
from bench.errors import MissingRuntimeError, ScenarioError
from bench.results.records import LOG
from bench.runs.jobs import SentScenario, TryJob
from bench.runs.suite.cases import PlannedRun
from bench.runs.suite.dropping import left_by
from bench.runs.suite.processes import worker
from bench.runs.suite.results_folder import WORK
from bench.runs.suite.run_files import last_message
from bench.scenario.catalog import catalog_properties, configured_catalog, has_shared_catalog
from bench.scenario.scenario import Scenario
from bench.scenario.values import path_text
from bench.scenario.variants import BASE

TRIES = ".try"  # in the results folder: notes of the namespaces that tries have created and not dropped
_NOT_FOUND = re.compile(r":: (\S+#\S+;\S+): not found")  # a line of Ivy's report
_NO_CLASS = re.compile(r"(?:ClassNotFoundException|NoClassDefFoundError): ([\w.$/]+)")


def check_places(planned: Iterable[PlannedRun], out: Path) -> None:
    """Create and drop an empty table in each combination of [spark] and shared catalog that the runs use.

    `out` must be locked. Raises MissingRuntimeError if Java lacks a class, ScenarioError for other failures.
    """
    tried = []
    for scenario in (run.scenario for run in planned):
        place = (scenario.table.format, scenario.spark, configured_catalog(scenario))
        if place not in tried and _is_elsewhere(scenario):
            tried.append(place)
            _check(scenario, out)


def _is_elsewhere(scenario: Scenario) -> bool:
    return has_shared_catalog(scenario) or parse_master(scenario.spark.master).kind == "cluster"


def _check(scenario: Scenario, out: Path) -> None:
    log = out / WORK / "try" / LOG
    notes = out / TRIES / scenario.name / (scenario.variant_label or BASE)
    job = TryJob(
        scenario=SentScenario.of(scenario),
        work_folder=log.parent,
        run_folder=next(notes.glob("try_*"), notes / f"try_{token_hex(4)}"),
    )
    job.work_folder.mkdir(parents=True)
    job.run_folder.mkdir(parents=True, exist_ok=True)
    with worker(job, log, scenario.secrets) as process:
        exit_code = process.wait()
    cause, missing, unresolved = last_message(log), _missing_class(log), _unresolved(log)
    shutil.rmtree(job.work_folder, ignore_errors=True)
    if not left_by(job.run_folder):
        forget(job.run_folder)
    if exit_code and missing is not None:
        remedy = f"add a jar with {missing} to spark.jars, or its coordinates to spark.jars.packages"
        raise MissingRuntimeError(
            f"{_problem(scenario, cause)}: {remedy}", code="class-missing", path=scenario.name
        )
    if exit_code and unresolved is not None:
        raise MissingRuntimeError(
            f"Spark cannot resolve {unresolved} of spark.jars.packages: check its name and version, the "
            "network and the proxy, or give Spark an Ivy settings file that names your mirror "
            '(spark."spark.jars.ivySettings")',
            code="jars-unavailable",
            path=scenario.name,
        )
    if exit_code:
        problem = f"{_problem(scenario, cause)}: correct these keys, or start the server"
        raise ScenarioError(problem, code="no-table", path=scenario.name)


def tries_with_notes(out: Path) -> list[tuple[Path, str, str | None]]:
    """The folders of tries that have left namespaces or staged files, each with its scenario and variant."""
    return [
        (folder, folder.parts[-3], None if folder.parts[-2] == BASE else folder.parts[-2])
        for folder in sorted(out.glob(f"{TRIES}/*/*/try_*"))
        if left_by(folder)
    ]


def forget(folder: Path) -> None:
    """Remove the folder of a try, and the folders above it that are empty then."""
    shutil.rmtree(folder)
    with suppress(OSError):  # another try has notes there
        for parent in folder.parents[:3]:
            parent.rmdir()


def _missing_class(log: Path) -> str | None:
    """The first class that the traceback names as missing; the first line of the error may not name it."""
    _, _, errors = log.read_text(encoding="utf-8", errors="replace").partition("Traceback (most recent")
    missing = _NO_CLASS.search(errors)
    return missing[1].replace("/", ".") if missing else None


def _unresolved(log: Path) -> str | None:
    """The first package that Ivy did not find."""
    found = _NOT_FOUND.search(log.read_text(encoding="utf-8", errors="replace"))
    return found[1].replace("#", ":").replace(";", ":") if found else None


def _problem(scenario: Scenario, cause: str) -> str:
    """The cause, with the keys of the place; without secrets."""
    properties = catalog_properties(scenario)
    keys = [key for key in ("type", "catalog-impl", "uri") if key in properties]
    place = [(("spark", "master"), scenario.spark.master), *(properties[key] for key in keys)]
    settings = ", ".join(f'{path_text(path)} = "{value}"' for path, value in place)
    return scenario.secrets.scrub(f"no table can be created with {settings}: {cause}")
