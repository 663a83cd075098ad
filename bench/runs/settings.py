"""What the engine of a run is opened with, as the scenario and one of its strategies say."""

import re
from pathlib import Path

from bench.engines.contract import CatalogSettings, Cores, EngineSettings, SparkSettings, TableSpec
from bench.scenario.scenario import Scenario
from bench.scenario.specs import StrategySpec


def engine_settings(
    scenario: Scenario, label: str, work_folder: Path, coefficients: Path | None = None
) -> EngineSettings:
    """What the engine of one strategy's run is opened with."""
    spec = strategy_of(scenario, label)
    return EngineSettings(
        folder=work_folder,
        cores=_cores(scenario),
        coefficients=coefficients,
        table=TableSpec(
            target_file_size_bytes=scenario.table.target_file_size_bytes,
            partitioning=scenario.table.partitioning,
            keys=scenario.table.keys,
            properties={**scenario.table.properties, **spec.properties},
            files_per_commit=spec.writer.files_per_commit,
            upsert_mode=spec.upsert_mode,
            schema=scenario.workload.schema,
        ),
        spark=SparkSettings(
            scenario.spark.master, scenario.spark.driver_memory_bytes, scenario.spark.settings
        ),
        catalog=_catalog(scenario),
    )


def strategy_of(scenario: Scenario, label: str) -> StrategySpec:
    """The strategy of that label."""
    return next(spec for spec in scenario.strategies if spec.label == label)


def _catalog(scenario: Scenario) -> CatalogSettings:
    given = scenario.catalog
    return CatalogSettings(given.name, given.namespace, given.properties) if given else CatalogSettings()


def _cores(scenario: Scenario) -> Cores:
    """The scenario's shares, where it has none the cores of the Spark master if that names them."""
    local = re.fullmatch(r"local\[(\d+)\]", scenario.spark.master)
    cores = int(local[1]) if local else Cores().compactor
    shares = scenario.resources
    return Cores(shares.writer.cores or cores, shares.compactor.cores or cores, shares.reader.cores or cores)
