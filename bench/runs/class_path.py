"""Whether Spark can load what a scenario names: the jars that it gives, and the classes of its catalog."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from bench import runtime
from bench.engines.format import NeededClass
from bench.engines.registry import FORMATS
from bench.engines.spark.conf import JARS, SUBMIT_ARGUMENTS, defaults_file
from bench.errors import MissingRuntimeError, ScenarioError
from bench.keys import value_text
from bench.runs.settings import configured_catalog
from bench.scenario.catalog import catalog_properties
from bench.scenario.scenario import Scenario
from bench.scenario.values import path_text

# Settings and variables by which Spark may find classes that cannot be looked for before it starts.
_SETTINGS = frozenset({"spark.jars.packages", "spark.driver.extraClassPath"})
_VARIABLES = frozenset({"SPARK_HOME", "SPARK_DIST_CLASSPATH", SUBMIT_ARGUMENTS})


def check_class_path(scenario: Scenario) -> None:
    """Raises ScenarioError for a jar that is not there, and MissingRuntimeError for a class in no jar.

    Spark only warns of the former, and one run after the other would fail for want of the latter.
    """
    own = [_local_jar(scenario, place) for place in _places(scenario)]
    if _may_be_elsewhere(scenario) or None in own:
        return
    needed = FORMATS[scenario.table.format].needed_classes(configured_catalog(scenario).properties)
    missing = _missing(needed, _jars(scenario, [jar for jar in own if jar]))
    if missing is not None:
        raise _not_found(scenario, missing)


def _may_be_elsewhere(scenario: Scenario) -> bool:
    is_set = not _SETTINGS.isdisjoint(scenario.spark.settings) or not _VARIABLES.isdisjoint(os.environ)
    return is_set or defaults_file().is_file()


def _places(scenario: Scenario) -> list[str]:
    given = map(str.strip, scenario.spark.settings.get(JARS, "").split(","))
    return [place for place in given if place]


def _local_jar(scenario: Scenario, place: str) -> Path | None:
    """The file of a jar; None if it is one of a server, or a pattern of names. Raises ScenarioError."""
    path = place.removeprefix("file:")
    if re.match(r"[A-Za-z][\w+.-]*:", path) or set(path) & set("*?[{"):
        return None
    if not Path(path).is_file():
        raise ScenarioError(
            f'{scenario.name}: spark."{JARS}": {path}: no such file; correct the path, or set '
            "spark.jars.packages to Maven coordinates"
        )
    return Path(path)


def _jars(scenario: Scenario, own: Iterable[Path]) -> Iterator[Path]:
    """All jars that a session has, those of Spark last, since there are hundreds."""
    yield from own
    yield from runtime.jars(scenario.table.format, scenario.versions)
    yield from runtime.spark_jars()


def _missing(needed: Iterable[NeededClass], jars: Iterator[Path]) -> NeededClass | None:
    """The first of the classes that is in none of the jars, which are opened as long as one is missing."""
    missing = list(needed)
    while missing and (jar := next(jars, None)) is not None:
        held = _entries(jar)
        missing = [each for each in missing if f"{each.name.replace('.', '/')}.class" not in held]
    return missing[0] if missing else None


def _entries(jar: Path) -> frozenset[str]:
    """The names of what is in a jar, which Java reads as nothing if it is damaged."""
    try:
        with ZipFile(jar) as file:
            return frozenset(file.namelist())
    except (OSError, BadZipFile):
        return frozenset()


def _not_found(scenario: Scenario, missing: NeededClass) -> MissingRuntimeError:
    path, value = catalog_properties(scenario.catalog, scenario.spark.settings)[missing.property]
    if missing.jar is None:
        remedy = "correct the name, or add its jar to spark.jars"
    else:
        version = runtime.current_line(scenario.versions).versions[scenario.table.format]
        remedy = f'set spark."spark.jars.packages" = "{missing.jar}:{version}", or add that jar to spark.jars'
    return MissingRuntimeError(
        f"{scenario.name}: {path_text(path)} = {value_text(value)} needs the class {missing.name}, which no "
        f"jar has: {remedy}"
    )
