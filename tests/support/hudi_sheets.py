"""The sheets of Hudi's engines."""

from dataclasses import replace
from typing import Any

from engine_sheet import UNKNOWN_OPTION, EngineSheet, Workshop
from simulations import simulated_table

from bench.engines.contract import TableSpec
from bench.engines.hudi.engine import HudiEngine
from bench.engines.hudi.model.coefficients import HudiCoefficients
from bench.engines.hudi.model.services import Scheduled
from bench.engines.hudi.model.table import HudiTableModel
from bench.engines.hudi.table_keys import HudiKeys
from bench.engines.hudi.write_options import session_conf
from bench.engines.simulated.engine import SimulatedEngine
from bench.engines.spark.meter import ProcessMeter
from strategies.hudi.commands import Command
from strategies.hudi.planners import DEFAULT_STRATEGY
from strategies.plan import Native
from strategies.state import MIB

_SHARED = "spark.sql.catalog.spark_catalog"  # which another format has in the session that tests share


def make_real(workshop: Workshop, **table: Any) -> HudiEngine:
    """An engine on Spark; `table` are fields of its TableSpec, or of [table]."""
    spark = workshop.spark()
    return HudiEngine(
        spark,
        ProcessMeter(spark, workshop.settings),
        workshop.folder / "hudi",
        _spec(table),
        workshop.namespace,
    )


def _spec(table: dict[str, Any]) -> TableSpec:
    own = {key: table.pop(key) for key in ("index", "index_buckets") if key in table}
    keys = HudiKeys.model_validate({"format": "hudi", "target_file_size": "8MiB", **own})
    return TableSpec(**{"target_file_size_bytes": 8 * MIB, "keys": keys, **table})


def make_simulated(workshop: Workshop, **table: Any) -> SimulatedEngine[Scheduled]:
    return simulated_table(HudiTableModel, _spec(table), HudiCoefficients.read())


SIMULATED = EngineSheet(
    make_simulated,
    compact_two={},
    rewriting=Native(Command.COMPACTION, {"strategy": DEFAULT_STRATEGY}),
    freeing=Native(Command.CLEAN, {"retain_commits": "1"}),
    faulty=Native(Command.COMPACTION, {"strategy": UNKNOWN_OPTION}),
    removed_and_added=("", ""),  # no command answers with counts
    reports_metadata_files=True,
    writes_a_file_per_task=None,
)
REAL = replace(
    SIMULATED,
    make=make_real,
    reports_metadata_files=False,
    session_conf=lambda folder: {key: value for key, value in session_conf().items() if key != _SHARED},
)
