"""The settings of a run's engine, from the scenario and one of its strategies."""

import re
from pathlib import Path

from bench.engines.contract import CatalogSettings, Cores, EngineSettings, SparkSettings
from bench.scenario.scenario import Scenario
from bench.scenario.specs import StrategySpec


def engine_settings(
    scenario: Scenario,
    label: str,
    work_folder: Path,
    coefficients: Path | None = None,
    *,
    java_options: tuple[str, ...] = (),
    shares_jvm: bool = False,
) -> EngineSettings:
    """The settings of the engine for a run of one strategy."""
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
        ),
        catalog=_catalog(scenario),
        versions=scenario.versions,
    )


def strategy_of(scenario: Scenario, label: str) -> StrategySpec:
    """The strategy with this label."""
    return next(spec for spec in scenario.strategies if spec.label == label)


def local_cores(master: str) -> int | None:
    """The cores that a Spark master names; None if it is not local or takes as many as the machine has."""
    local = re.fullmatch(r"local\[(\d+)\]", master)
    return int(local[1]) if local else None


def _catalog(scenario: Scenario) -> CatalogSettings:
    spec = scenario.catalog
    return CatalogSettings(spec.name, spec.namespace, spec.properties) if spec else CatalogSettings()


def _cores(scenario: Scenario) -> Cores:
    """The cores of the scenario's resources, or else of its Spark master if that names a number."""
    cores = local_cores(scenario.spark.master) or Cores().compactor
    shares = scenario.resources
    return Cores(shares.writer.cores or cores, shares.compactor.cores or cores, shares.reader.cores or cores)
