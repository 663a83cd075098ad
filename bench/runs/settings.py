"""The settings of a run's engine, from the scenario and one of its strategies."""

import re
from dataclasses import replace
from pathlib import Path

from bench.engines.contract import CATALOG_KINDS, CatalogSettings, Cores, EngineSettings, SparkSettings
from bench.engines.journal import Journal
from bench.scenario.catalog import catalog_of, catalog_properties
from bench.scenario.scenario import Scenario
from bench.scenario.specs import StrategySpec
from bench.scenario.values import KeyPath
from bench.spark_master import parse_master

# In a run folder: namespaces of a shared catalog with tables of the run, and what it has staged elsewhere.
NAMESPACES, STAGING = "namespaces", "staging"


def engine_settings(
    scenario: Scenario,
    label: str,
    work_folder: Path,
    coefficients: Path | None = None,
    *,
    java_options: tuple[str, ...] = (),
    shares_jvm: bool = False,
    run_folder: Path | None = None,
) -> EngineSettings:
    """The settings of the engine for a run of one strategy.

    With `run_folder`, whose name is the id of the run, its tables in a catalog that outlives the run are in a
    namespace of their own, and what it stages is in a folder of its own. Without, nothing is staged.
    """
    return EngineSettings(
        folder=work_folder,
        cores=_cores(scenario),
        coefficients=coefficients,
        table=scenario.table_of(strategy_of(scenario, label)),
        spark=SparkSettings(
            scenario.spark.master,
            scenario.spark.driver_memory_bytes,
            scenario.spark.settings,
            java_options,
            shares_jvm,
            scenario.spark.executor_cpu or "processes",
            *_staging(scenario, run_folder),
        ),
        catalog=catalog_of(scenario.catalog) if run_folder is None else _catalog_of_run(scenario, run_folder),
        versions=scenario.versions,
    )


def _staging(scenario: Scenario, run_folder: Path | None) -> tuple[str, Journal] | tuple[None, None]:
    """The folder in which a run stages files, and where that is noted."""
    given = scenario.spark.staging
    if given is None or run_folder is None:
        return None, None
    return f"{given.rstrip('/')}/{run_folder.name}", Journal(run_folder / STAGING)


def strategy_of(scenario: Scenario, label: str) -> StrategySpec:
    """The strategy with this label."""
    return next(spec for spec in scenario.strategies if spec.label == label)


def _catalog_of_run(scenario: Scenario, run_folder: Path) -> CatalogSettings:
    """The scenario's catalog, with a namespace that no other run has."""
    catalog = catalog_of(scenario.catalog)
    if not names_catalog(scenario):
        return catalog
    name = f"{catalog.namespace}_{run_folder.name}".lower()  # Hive knows lower case alone
    namespace = re.sub(r"[^a-z0-9_]+", "_", name)
    return replace(catalog, namespace=namespace, journal=Journal(run_folder / NAMESPACES))


def configured_catalog(scenario: Scenario) -> CatalogSettings:
    """The scenario's catalog with all that is set of it. Its `type`, in any case, is in lower case."""
    given = catalog_properties(scenario.catalog, scenario.spark.settings)
    properties = {name: value for name, (_, value) in given.items()}
    kind = {"type": properties["type"].lower()} if "type" in properties else {}
    return replace(catalog_of(scenario.catalog), properties={**properties, **kind})


def catalog_setting(scenario: Scenario, name: str) -> tuple[KeyPath, str]:
    """The key that sets a property of the catalog, and its value as written. Raises KeyError if none does."""
    return catalog_properties(scenario.catalog, scenario.spark.settings)[name]


def names_catalog(scenario: Scenario) -> bool:
    """Whether a scenario names a catalog for its tables, which then outlives the runs."""
    catalog = configured_catalog(scenario)
    is_set = f"spark.sql.catalog.{catalog.name}" in scenario.spark.settings
    return is_set or not catalog.properties.keys().isdisjoint(CATALOG_KINDS)


def _cores(scenario: Scenario) -> Cores:
    """The cores of the scenario's resources, or else of its Spark master if that names a number."""
    cores = parse_master(scenario.spark.master).cores or Cores().compactor
    shares = scenario.resources
    return Cores(shares.writer.cores or cores, shares.compactor.cores or cores, shares.reader.cores or cores)
