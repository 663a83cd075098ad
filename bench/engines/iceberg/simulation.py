"""Engines for simulated Iceberg tables."""

from collections.abc import Iterator
from contextlib import contextmanager

from bench.engines.contract import Cores, EngineSettings, TableSpec
from bench.engines.iceberg.ledger import PLANNING, iceberg_ledger
from bench.engines.iceberg.model.coefficients import IcebergCoefficients, iceberg_coefficients
from bench.engines.iceberg.model.rewrite import Prepared
from bench.engines.iceberg.model.table import IcebergTableModel
from bench.engines.iceberg.table_keys import SIMULATED_CAPABILITIES
from bench.engines.simulated.engine import SimulatedEngine


def simulated_table(
    spec: TableSpec, coefficients: IcebergCoefficients, cores: Cores
) -> SimulatedEngine[Prepared]:
    def make_model() -> IcebergTableModel:
        ledger = iceberg_ledger(
            spec.target_file_size_bytes, spec.properties, stream_epoch_ms=spec.stream_epoch_ms
        )
        return IcebergTableModel(spec, coefficients, cores, ledger)

    return SimulatedEngine(spec, coefficients, cores, SIMULATED_CAPABILITIES, PLANNING, make_model)


@contextmanager
def open_simulated_iceberg(settings: EngineSettings) -> Iterator[SimulatedEngine[Prepared]]:
    """Raises ScenarioError if the coefficients file is invalid."""
    yield simulated_table(settings.table, iceberg_coefficients(settings.coefficients), settings.cores)
