"""The sheets of Delta's two engines."""

from dataclasses import replace
from typing import Any

from engine_sheet import UNKNOWN_OPTION, EngineSheet, Workshop
from simulations import simulated_table

from bench.engines.contract import TableSpec
from bench.engines.delta.engine import DeltaEngine
from bench.engines.delta.model.coefficients import DeltaCoefficients
from bench.engines.delta.model.table import DeltaTableModel
from bench.engines.delta.properties import session_conf
from bench.engines.delta.table_keys import DeltaKeys
from bench.engines.simulated.engine import SimulatedEngine
from bench.engines.spark.meter import ProcessMeter
from strategies.delta.commands import Command
from strategies.plan import Compact, Native
from strategies.state import MIB


def make_real(workshop: Workshop, **table: Any) -> DeltaEngine:
    """An engine on Spark; `table` are fields of its TableSpec, or its `cluster_by`."""
    spark = workshop.spark()
    own = {key: table.pop(key) for key in ("cluster_by",) if key in table}
    keys = DeltaKeys.model_validate({"format": "delta", "target_file_size": "8MiB", **own})
    spec = TableSpec(**{"target_file_size_bytes": 8 * MIB, "keys": keys, **table})
    folder = workshop.folder / "delta"
    return DeltaEngine(spark, ProcessMeter(spark, workshop.settings), folder, spec, workshop.namespace)


def make_simulated(workshop: Workshop, **table: Any) -> SimulatedEngine[None]:
    spec = TableSpec(**{"target_file_size_bytes": 8 * MIB, **table})
    return simulated_table(DeltaTableModel, spec, DeltaCoefficients.read())


SIMULATED = EngineSheet(
    make_simulated,
    compact_two={},  # OPTIMIZE has no minimum number of files
    rewriting=Compact(),
    freeing=Native(Command.VACUUM, {"older_than_at_ms": "300000"}),
    faulty=Native(Command.OPTIMIZE, {}, {UNKNOWN_OPTION: "1"}),
    removed_and_added=("numFilesRemoved", "numFilesAdded"),
    reports_metadata_files=True,
    maintenance=Native(Command.VACUUM, {"older_than_at_ms": "120000"}),
    is_created_with_a_version=True,
)
REAL = replace(
    SIMULATED, make=make_real, reports_metadata_files=False, session_conf=lambda folder: session_conf()
)
