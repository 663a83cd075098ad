"""Delta Lake as a format: the keys of its tables, and what its engines can do.

Spark is only imported when an engine is opened.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager

from pydantic import JsonValue

from bench.engines.contract import Engine, EngineSettings
from bench.engines.delta import columns
from bench.engines.delta.conf import session_conf
from bench.engines.delta.model.coefficients import delta_coefficients
from bench.engines.delta.model.writers import SHUFFLE_PARTITIONS, commit_layout
from bench.engines.delta.planning import PLANNING
from bench.engines.delta.properties import setting_problem, simulated_setting_problem
from bench.engines.delta.property_values import property_problem
from bench.engines.delta.table_keys import (
    CODEC_CONF,
    DEFAULT_CODEC,
    DEFAULT_UPSERT_MODE,
    INSTEAD,
    MERGE_ON_READ,
    NAME,
    REAL_CAPABILITIES,
    SIMULATED_CAPABILITIES,
    UPSERT_MODES,
    VECTORS,
    DeltaKeys,
    property_name,
)
from bench.engines.format import ExistingTable, Format, TableAddress
from bench.engines.simulated.kind import simulated_kind
from bench.engines.spark.kind import real_kind
from strategies.delta.commands import METADATA_COMMANDS, Command
from strategies.plan import Capability


def _writing_needs(keys: DeltaKeys, upsert_mode: str | None) -> frozenset[str]:
    if upsert_mode is None:
        return frozenset()
    return frozenset({Capability.MERGE, *([Capability.VECTORS] if upsert_mode == MERGE_ON_READ else [])})


def _open_real(settings: EngineSettings) -> AbstractContextManager[Engine]:
    from bench.engines.delta.engine import open_delta

    return open_delta(settings)


def _real_options(settings: EngineSettings) -> Mapping[str, JsonValue]:
    from bench.engines.spark.options import spark_options

    return spark_options(settings, session_conf())


def _open_simulated(settings: EngineSettings) -> AbstractContextManager[Engine]:
    from bench.engines.delta.simulation import open_simulated_delta

    return open_simulated_delta(settings)


def _open_existing(address: TableAddress) -> ExistingTable:
    from bench.engines.delta.existing_table import open_existing

    return open_existing(address)


def _is_table_at(location: str) -> bool:
    from bench.engines.delta.existing_table import is_table_at

    return is_table_at(location)


_EXISTING_HELP = "* `compactbench plan /data/lake/orders --strategy delta.optimize`"

FORMAT = Format(
    name=NAME,
    title="Delta Lake",
    description="Delta Lake by Spark; a strategy's properties switch automatic compaction "
    "(delta.autoOptimize.autoCompact) and optimized writes (delta.autoOptimize.optimizeWrite)",
    table_keys=DeltaKeys,
    catalog_types=frozenset(),
    upsert_modes=UPSERT_MODES,
    default_upsert_mode=DEFAULT_UPSERT_MODE,
    own_properties={VECTORS: "writer.upsert_mode"},
    property_name=property_name,
    codec_setting=CODEC_CONF,
    default_codec=DEFAULT_CODEC,
    metadata_bytes_per_commit=40_000,  # measured: 10 KB of log and checksum, 37 KB with a checkpoint
    planning=PLANNING,
    layout=commit_layout,
    writing_needs=_writing_needs,
    property_problem=property_problem,
    key_problem=columns.key_problem,
    rule_problem=lambda spec, rule: columns.planner_problem(columns.layout_of(spec), rule.planner),
    real=real_kind(_open_real, REAL_CAPABILITIES, _real_options, setting_problem),
    simulated=simulated_kind(
        _open_simulated,
        SIMULATED_CAPABILITIES,
        delta_coefficients,
        simulated_setting_problem,
        heeded_settings=frozenset({SHUFFLE_PARTITIONS}),
    ),
    metadata_commands=METADATA_COMMANDS,
    expiry_commands=frozenset({Command.VACUUM}),
    instead=INSTEAD,
    packages=("deltalake",),
    coefficients=delta_coefficients,
    delete_words=("deletion vectors", "deleted rows"),
    training="delta-upsert-quick",
    open_existing=_open_existing,
    is_table_at=_is_table_at,
    existing_help=_EXISTING_HELP,
)
