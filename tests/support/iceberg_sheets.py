"""The sheets of Iceberg's two engines."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from engine_sheet import UNKNOWN_OPTION, EngineSheet, Workshop
from simulations import simulated_table

from bench.engines.contract import TableSpec, Ticket
from bench.engines.iceberg.catalog import Catalog
from bench.engines.iceberg.engine import IcebergEngine
from bench.engines.iceberg.model.coefficients import IcebergCoefficients
from bench.engines.iceberg.model.table import IcebergTableModel
from bench.engines.iceberg.table_keys import SINGLE_NODE, SINGLE_NODE_CAPABILITIES, IcebergKeys
from bench.engines.simulated.engine import SimulatedEngine
from bench.engines.spark.meter import ProcessMeter
from strategies.iceberg.commands import Command
from strategies.plan import Compact, Native, Plan, Rewrite, capabilities_of
from strategies.state import MIB


def make_real(workshop: Workshop, kind: type[IcebergEngine] = IcebergEngine, **table: Any) -> IcebergEngine:
    """An engine on Spark; `table` are fields of its TableSpec, or its `format_version`."""
    catalog = Catalog(workshop.folder, "lake", workshop.namespace, {})
    spark = workshop.spark()
    version = {key: table.pop(key) for key in ("format_version",) if key in table}
    keys = IcebergKeys.model_validate({"format": "iceberg", "target_file_size": "8MiB", **version})
    spec = TableSpec(**{"target_file_size_bytes": 8 * MIB, "keys": keys, **table})
    return kind(spark, ProcessMeter(spark, workshop.settings), catalog, spec)


class _WithoutSpark(IcebergEngine):
    """Executes without Spark what can be, as if every rule asked for it."""

    def schedule(self, plan: Plan, at_ms: int, due_at_ms: int, executor: str | None = None) -> Ticket:
        is_sorted = any(
            group.sort_columns for action in plan.actions if isinstance(action, Rewrite)
            for group in action.groups
        )  # fmt: skip
        able = capabilities_of(plan) <= SINGLE_NODE_CAPABILITIES and not is_sorted
        return super().schedule(plan, at_ms, due_at_ms, executor or (SINGLE_NODE if able else None))


def make_single_node(workshop: Workshop, **table: Any) -> IcebergEngine:
    return make_real(workshop, _WithoutSpark, **table)


def make_simulated(workshop: Workshop, **table: Any) -> SimulatedEngine[Any]:
    """A simulated engine with the coefficients that come with the format; `table` as for `TableSpec`."""
    spec = TableSpec(**{"target_file_size_bytes": 8 * MIB, **table})
    return simulated_table(IcebergTableModel, spec, IcebergCoefficients.read())


def stored_table(workshop: Workshop) -> Path:
    """The folder of the test's table in the default catalog, with `data` and `metadata` in it."""
    return workshop.folder / "warehouse" / workshop.namespace / "orders"


def _merge_from(files_count: int) -> Native:
    return Native(Command.REWRITE_DATA_FILES, {}, {"min-input-files": str(files_count)})


REAL = EngineSheet(
    make_real,
    compact_two={"min-input-files": "2"},  # 5 where it is not given
    rewriting=Compact(None, {"min-input-files": "2"}),
    freeing=Native(Command.EXPIRE_SNAPSHOTS, {"older_than_at_ms": "300000", "retain_last": "1"}),
    faulty=Native(Command.REWRITE_DATA_FILES, {}, {UNKNOWN_OPTION: "1"}),
    removed_and_added=("rewritten_data_files_count", "added_data_files_count"),
    reports_metadata_files=True,
    merge_from=_merge_from,
    maintenance=Native(Command.REWRITE_MANIFESTS, {"use_caching": "false"}),
    session_conf=lambda folder: Catalog(folder, "lake", "unused", {}).spark_conf(),
)
SINGLE_NODE_REAL = replace(REAL, make=make_single_node)
SIMULATED = replace(REAL, make=make_simulated)
