"""Engines for simulated Hudi tables."""

from collections.abc import Iterator
from contextlib import contextmanager

from bench.engines.contract import Cores, EngineSettings, TableSpec
from bench.engines.hudi.ledger import PLANNING, HudiLedger
from bench.engines.hudi.model.coefficients import HudiCoefficients, hudi_coefficients
from bench.engines.hudi.model.services import Scheduled
from bench.engines.hudi.model.table import HudiTableModel
from bench.engines.hudi.table_keys import CAPABILITIES
from bench.engines.simulated.engine import SimulatedEngine


def simulated_table(
    spec: TableSpec, coefficients: HudiCoefficients, cores: Cores
) -> SimulatedEngine[Scheduled]:
    def make_model() -> HudiTableModel:
        ledger = HudiLedger(spec.target_file_size_bytes, spec.properties, spec.stream_epoch_ms)
        return HudiTableModel(spec, coefficients, cores, ledger)

    return SimulatedEngine(spec, coefficients, cores, CAPABILITIES, PLANNING, make_model)


@contextmanager
def open_simulated_hudi(settings: EngineSettings) -> Iterator[SimulatedEngine[Scheduled]]:
    """Raises ScenarioError if the coefficients file is invalid."""
    coefficients = hudi_coefficients(settings.coefficients)
    yield simulated_table(settings.table, coefficients, settings.cores)
