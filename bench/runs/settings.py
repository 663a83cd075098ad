"""The settings of a run's engine, from a scenario and one of its strategies, and what its planners expect."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from bench.engines.contract import CatalogSettings, Cores, EngineSettings, SparkSettings
from bench.engines.journal import Journal
from bench.engines.master import parse_master
from bench.engines.registry import FORMATS
from bench.scenario.catalog import catalog_of, has_shared_catalog
from bench.scenario.roles import ROLE_CORES
from bench.scenario.scenario import Scenario
from bench.scenario.specs import StrategySpec
from strategies.state import CostPriors

# Folders of notes in a run folder: the run's namespaces in a shared catalog, and its staging folders.
NAMESPACE_NOTES, STAGING_NOTES = "namespaces", "staging"


def engine_settings(
    scenario: Scenario,
    label: str,
    work_folder: Path,
    coefficients: Path | None = None,
    *,
    run_folder: Path | None = None,
) -> EngineSettings:
    """The settings of the engine for a run of one strategy.

    The name of `run_folder` is the id of the run. The run's own namespace in a shared catalog and its own
    staging folder contain that id. Without `run_folder`, nothing is staged.
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
            scenario.spark.executor_cpu or "processes",
            *_staging(scenario, run_folder),
        ),
        catalog=catalog_of(scenario.catalog) if run_folder is None else _catalog_of_run(scenario, run_folder),
        is_jvm_warm=scenario.jvm == "warm",
        core_speed=scenario.resources.core_speed or 1.0,
        has_real_clock=scenario.has_real_clock,
        compaction_memory_bytes=scenario.compaction_memory_bytes,
    )


def cost_priors(table_format: str, settings: EngineSettings) -> Mapping[str, CostPriors]:
    """What planners of a run may expect of each executor before they have seen any cost.

    Queries are priced on the cores of the reader, whoever asks; the CPU of compactions is the same on any
    number of cores. Seconds are those of the coefficients' machine, also if cores of another speed are
    simulated: the planners of a real run know of no speed, and those of its simulation decide as they do.
    """
    table, cores = settings.table, settings.cores.reader
    engines = FORMATS[table_format].engines
    return engines.cost_priors(table.schema, table.properties, cores, settings.coefficients)


def _staging(scenario: Scenario, run_folder: Path | None) -> tuple[str, Journal] | tuple[None, None]:
    """The folder in which a run stages files, and the journal of such folders."""
    staging = scenario.spark.staging
    if staging is None or run_folder is None:
        return None, None
    return f"{staging.rstrip('/')}/{run_folder.name}", Journal(run_folder / STAGING_NOTES)


def strategy_of(scenario: Scenario, label: str) -> StrategySpec:
    return next(spec for spec in scenario.strategies if spec.label == label)


def _catalog_of_run(scenario: Scenario, run_folder: Path) -> CatalogSettings:
    catalog = catalog_of(scenario.catalog)
    if not has_shared_catalog(scenario):
        return catalog
    namespace = run_namespace(catalog.namespace, run_folder.name)
    return replace(catalog, namespace=namespace, journal=Journal(run_folder / NAMESPACE_NOTES))


def run_namespace(namespace: str, run_id: str) -> str:
    """The namespace of a run in a shared catalog; in lower case, because Hive ignores case."""
    return re.sub(r"[^a-z0-9_]+", "_", f"{namespace}_{run_id}".lower())


def _cores(scenario: Scenario) -> Cores:
    """The cores in the scenario's [resources]; else those of a role with a real clock, or of the master."""
    of_master = parse_master(scenario.spark.master).cores or Cores().compactor
    cores, shares = ROLE_CORES if scenario.has_real_clock else of_master, scenario.resources
    return Cores(shares.writer.cores or cores, shares.compactor.cores or cores, shares.reader.cores or cores)
