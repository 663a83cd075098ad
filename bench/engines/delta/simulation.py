"""Engines for simulated Delta tables."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

from bench.engines.contract import Cores, EngineSettings, TableSpec
from bench.engines.delta.ledger import PLANNING, delta_ledger
from bench.engines.delta.model.coefficients import DeltaCoefficients, delta_coefficients
from bench.engines.delta.model.table import DeltaTableModel
from bench.engines.delta.model.writers import join_tasks
from bench.engines.delta.properties import table_properties
from bench.engines.delta.table_keys import SIMULATED_CAPABILITIES, clustering_columns_of
from bench.engines.simulated.engine import SimulatedEngine


def simulated_table(
    spec: TableSpec,
    coefficients: DeltaCoefficients,
    cores: Cores,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> SimulatedEngine[None]:
    """`settings` are Spark's. Raises ScenarioError for a property or setting that is invalid."""
    join_tasks_count = join_tasks(settings)

    def make_model() -> DeltaTableModel:
        columns = clustering_columns_of(spec)
        ledger = delta_ledger(
            spec.target_file_size_bytes, table_properties(spec), columns, spec.stream_epoch_ms
        )
        return DeltaTableModel(spec, coefficients, cores, ledger, join_tasks_count)

    return SimulatedEngine(spec, coefficients, cores, SIMULATED_CAPABILITIES, PLANNING, make_model)


@contextmanager
def open_simulated_delta(settings: EngineSettings) -> Iterator[SimulatedEngine[None]]:
    """Raises ScenarioError if the coefficients file is invalid."""
    coefficients = delta_coefficients(settings.coefficients)
    yield simulated_table(settings.table, coefficients, settings.cores, settings.spark.conf)
