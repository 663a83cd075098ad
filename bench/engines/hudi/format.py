"""Apache Hudi as a format: the keys of its tables, and what its engines can do.

Spark is only imported when an engine is opened.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager

from pydantic import JsonValue

from bench.engines.contract import CommitLayout, Engine, EngineSettings
from bench.engines.format import ExistingTable, Format, TableAddress
from bench.engines.hudi.conf import session_conf
from bench.engines.hudi.fitting import rule_problem
from bench.engines.hudi.model.coefficients import hudi_coefficients
from bench.engines.hudi.planning import PLANNING
from bench.engines.hudi.property_values import property_problem
from bench.engines.hudi.table_keys import (
    CAPABILITIES,
    CODEC,
    DEFAULT_CODEC,
    DEFAULT_UPSERT_MODE,
    INDEX,
    INDEX_BUCKETS,
    INSTEAD,
    MAX_FILE_BYTES,
    NAME,
    TABLE_TYPE,
    UPSERT_MODES,
    VIEWS,
    HudiKeys,
)
from bench.engines.hudi.write_options import write_options
from bench.engines.simulated.kind import simulated_kind
from bench.engines.spark.kind import real_kind
from strategies.hudi.commands import METADATA_COMMANDS, Command
from strategies.plan import Capability
from workloads.commit import CommitSpec


def _writing_needs(keys: HudiKeys, upsert_mode: str | None) -> frozenset[str]:
    return frozenset() if upsert_mode is None else frozenset({Capability.UPSERT})


def _layout(spec: CommitSpec, settings: Mapping[str, str]) -> CommitLayout:
    """Whether a commit adds base files or log files, and how many, depends on the file groups there are."""
    return CommitLayout(None, None)


def _initial_order(keys: HudiKeys) -> str | None:
    if keys.index != "bucket":
        return None
    groups = "1 file group" if keys.index_buckets == 1 else f"{keys.index_buckets} file groups"
    return f"by the hash of order_id, in {groups} per partition"


def _open_real(settings: EngineSettings) -> AbstractContextManager[Engine]:
    from bench.engines.hudi.engine import open_hudi

    return open_hudi(settings)


def _real_options(settings: EngineSettings) -> Mapping[str, JsonValue]:
    from bench.engines.spark.options import spark_options

    options: JsonValue = {**write_options(settings.table, "orders")}
    return {**spark_options(settings, session_conf()), "hudi": options}


def _open_simulated(settings: EngineSettings) -> AbstractContextManager[Engine]:
    from bench.engines.hudi.simulation import open_simulated_hudi

    return open_simulated_hudi(settings)


def _open_existing(address: TableAddress) -> ExistingTable:
    from bench.engines.hudi.existing_table import open_existing

    return open_existing(address)


def _is_table_at(location: str) -> bool:
    from bench.engines.hudi.existing_table import is_table_at

    return is_table_at(location)


_EXISTING_HELP = "* `compactbench plan /data/lake/orders --strategy hudi.compaction`"

FORMAT = Format(
    name=NAME,
    title="Apache Hudi",
    description="Apache Hudi, written by Spark; properties are Hudi's write options (hoodie.compact.inline)",
    table_keys=HudiKeys,
    catalog_types=frozenset(),
    upsert_modes=UPSERT_MODES,
    default_upsert_mode=DEFAULT_UPSERT_MODE,
    own_properties={
        INDEX: "table.index",
        INDEX_BUCKETS: "table.index_buckets",
        MAX_FILE_BYTES: "table.target_file_size",
        TABLE_TYPE: "writer.upsert_mode",
    },
    size_properties=frozenset(),
    codec_setting=CODEC,
    default_codec=DEFAULT_CODEC,
    metadata_bytes_per_commit=30_000,
    planning=PLANNING,
    layout=_layout,
    writing_needs=_writing_needs,
    writers_refused="has no effect on a Hudi table, whose index chooses the file groups that a commit writes "
    "to: leave it out, and set table.index_buckets, or with a simple index "
    "hoodie.copyonwrite.insert.split.size",
    moves_refused="the indexes that a Hudi table can have here look for a key in its new partition alone, so "
    "that the old row would stay",
    property_problem=property_problem,
    rule_problem=rule_problem,
    initial_order=_initial_order,
    real=real_kind(_open_real, CAPABILITIES, _real_options),
    simulated=simulated_kind(_open_simulated, CAPABILITIES, hudi_coefficients),
    metadata_commands=METADATA_COMMANDS,
    expiry_commands=frozenset({Command.CLEAN}),
    delete_words=("log files", "log records"),
    training="hudi-upsert-quick",
    instead=INSTEAD,
    views=VIEWS,
    coefficients=hudi_coefficients,
    open_existing=_open_existing,
    is_table_at=_is_table_at,
    existing_help=_EXISTING_HELP,
)
