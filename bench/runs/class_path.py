"""Whether Spark can load what a scenario names: the jars that it gives, and the classes of its catalog."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from zipfile import BadZipFile, ZipFile, is_zipfile

from bench import runtime
from bench.engines.format import NeededClass
from bench.engines.registry import FORMATS
from bench.engines.spark.conf import JARS, SUBMIT_ARGUMENTS, defaults_file
from bench.errors import MissingRuntimeError, ScenarioError
from bench.keys import value_text
from bench.scenario.catalog import catalog_setting, configured_catalog
from bench.scenario.scenario import Scenario
from bench.scenario.values import path_text

# Settings and environment variables that may bring classes which cannot be looked for before Spark starts.
_SETTINGS = frozenset({
    "spark.jars.packages", "spark.driver.extraClassPath", "spark.driver.extraJavaOptions",
    "spark.driver.defaultJavaOptions",
})  # fmt: skip
_VARIABLES = frozenset({
    SUBMIT_ARGUMENTS, "SPARK_DIST_CLASSPATH", "SPARK_SUBMIT_OPTS", "HADOOP_CONF_DIR", "YARN_CONF_DIR",
    "JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS",
})  # fmt: skip


def check_jars(scenario: Scenario) -> None:
    """Raises ScenarioError for a local jar of `spark.jars` that is not there or is damaged.

    Spark only warns of it, and fails later for a class that it lacks.
    """
    for jar in filter(None, map(_local_jar, _places(scenario))):
        if problem := _problem(jar):
            raise ScenarioError(f'{scenario.name}: spark."{JARS}": {jar}: {problem}')


def check_classes(scenario: Scenario) -> None:
    """Raises MissingRuntimeError for a class that the catalog needs and no jar has.

    Without it one run after the other would fail when it first reaches the catalog. Where classes may come
    from elsewhere, nothing is said.
    """
    own = [_local_jar(place) for place in _places(scenario)]
    if None in own or _may_be_elsewhere(scenario):
        return
    needed = FORMATS[scenario.table.format].catalog.needed_classes(configured_catalog(scenario).properties)
    missing = _missing(needed, _jars(scenario, filter(None, own)))
    if missing is not None:
        raise _not_found(scenario, missing)


def _may_be_elsewhere(scenario: Scenario) -> bool:
    """Whether Spark is configured in a way that may bring classes, or a catalog that is not the format's."""
    settings = scenario.spark.settings
    is_set = not _SETTINGS.isdisjoint(settings) or not _VARIABLES.isdisjoint(os.environ)
    has_other = f"spark.sql.catalog.{configured_catalog(scenario).name}" in settings
    return is_set or has_other or defaults_file().parent.is_dir()  # which may also have a spark-env.sh


def _places(scenario: Scenario) -> list[str]:
    given = map(str.strip, scenario.spark.settings.get(JARS, "").split(","))
    return [place for place in given if place]


def _local_jar(place: str) -> Path | None:
    """The file of a jar; None for another kind of URI, and for a pattern of names."""
    path = place.removeprefix("file:")
    is_other = re.match(r"[A-Za-z][\w+.-]*:", path) or set(path) & set("*?[{")
    return None if is_other else Path(path)


def _problem(jar: Path) -> str | None:
    if not jar.exists():
        return "no such file; correct the path, or set spark.jars.packages to Maven coordinates"
    if jar.is_dir():
        return "is a folder; name the jars in it"
    if not jar.is_file():  # to read a pipe or a device might never end
        return "is not a file; name a jar"
    return None if is_zipfile(jar) else "is damaged, or no jar at all; fetch it again"


def _jars(scenario: Scenario, own: Iterable[Path]) -> Iterator[Path]:
    """All jars that a session has, those of Spark last, since there are hundreds."""
    yield from own
    yield from runtime.jars(scenario.table.format, scenario.versions)
    yield from runtime.spark_jars()


def _missing(needed: Iterable[NeededClass], jars: Iterator[Path]) -> NeededClass | None:
    """The first of the classes that is in none of the jars, which are opened as long as one is missing.

    None too if one of them cannot be read.
    """
    missing = list(needed)
    while missing and (jar := next(jars, None)) is not None:
        try:
            with ZipFile(jar) as file:
                held = frozenset(file.namelist())
        except (OSError, BadZipFile, NotImplementedError, ValueError):
            return None
        missing = [each for each in missing if f"{each.name.replace('.', '/')}.class" not in held]
    return missing[0] if missing else None


def _not_found(scenario: Scenario, missing: NeededClass) -> MissingRuntimeError:
    path, value = catalog_setting(scenario, missing.property)
    if missing.jar is not None:
        version = runtime.current_line(scenario.versions).versions[scenario.table.format]
        remedy = f'set spark."spark.jars.packages" = "{missing.jar}:{version}", or add that jar to spark.jars'
    elif missing.name == value:
        remedy = "correct the name, or add its jar to spark.jars"
    else:
        remedy = "add a jar that has it to spark.jars"
    return MissingRuntimeError(
        f"{scenario.name}: {path_text(path)} = {value_text(value)} needs the class {missing.name}, which "
        f"is in no jar of Spark, of {FORMATS[scenario.table.format].words.title} or of spark.jars: {remedy}"
    )
