"""The sheet of the engine for simulated Delta tables."""

from typing import Any

from engine_sheet import UNKNOWN_OPTION, EngineSheet, Workshop

from bench.engines.contract import Cores, TableSpec
from bench.engines.delta.model.coefficients import delta_coefficients
from bench.engines.delta.simulation import simulated_table
from bench.engines.simulated.engine import SimulatedEngine
from strategies.delta.commands import Command
from strategies.plan import Native
from strategies.state import MIB


def make_simulated(workshop: Workshop, **table: Any) -> SimulatedEngine[None]:
    """A simulated engine with the coefficients that come with the format; `table` as for `TableSpec`."""
    spec = TableSpec(**{"target_file_size_bytes": 8 * MIB, **table})
    return simulated_table(spec, delta_coefficients(), Cores())


SIMULATED = EngineSheet(
    make_simulated,
    compact_two={},  # OPTIMIZE has no minimum number of files
    faulty=Native(Command.OPTIMIZE, {}, {UNKNOWN_OPTION: "1"}),
    removed_and_added=("numFilesRemoved", "numFilesAdded"),
    reports_metadata_files=True,
    maintenance=Native(Command.VACUUM, {"older_than_at_ms": "120000"}),
    is_created_with_a_version=True,
)
