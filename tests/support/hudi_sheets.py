"""The sheets of Hudi's engines."""

from typing import Any

from engine_sheet import UNKNOWN_OPTION, EngineSheet, Workshop

from bench.engines.contract import Cores, TableSpec
from bench.engines.hudi.model.coefficients import hudi_coefficients
from bench.engines.hudi.model.table import Scheduled
from bench.engines.hudi.simulation import simulated_table
from bench.engines.simulated.engine import SimulatedEngine
from strategies.hudi.commands import Command
from strategies.plan import Native
from strategies.state import MIB


def make_simulated(workshop: Workshop, **table: Any) -> SimulatedEngine[Scheduled]:
    """A simulated engine with the coefficients that come with the format; `table` as for `TableSpec`."""
    spec = TableSpec(**{"target_file_size_bytes": 8 * MIB, **table})
    return simulated_table(spec, hudi_coefficients(), Cores())


SIMULATED = EngineSheet(
    make_simulated,
    compact_two={},
    faulty=Native(Command.COMPACTION, {"strategy": UNKNOWN_OPTION}),
    removed_and_added=("", ""),  # no command answers with counts
    reports_metadata_files=True,
    maintenance=Native(Command.ARCHIVE, {"min_commits": "1", "max_commits": "2"}),
    writes_a_file_per_task=None,
)
