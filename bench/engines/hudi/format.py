"""The `Format` of Apache Hudi."""

from collections.abc import Mapping

from pydantic import JsonValue

from bench.engines.contract import CommitLayout, EngineSettings
from bench.engines.existing import ExistingTables, Importing
from bench.engines.format import Engines, Format, TableRules, Words, WriterRules, lazy
from bench.engines.hudi.calibrating import CALIBRATING
from bench.engines.hudi.fitting import rule_problem
from bench.engines.hudi.ledger import PLANNING
from bench.engines.hudi.model.coefficients import HudiCoefficients, table_amounts
from bench.engines.hudi.property_values import at_once_problem, property_problem
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
    hudi_day,
)
from bench.engines.hudi.write_options import HOST, session_conf, write_options
from bench.engines.simulated.kind import simulated_kind
from bench.engines.spark.kind import real_kind, spark_options
from strategies.hudi.commands import METADATA_COMMANDS, Command
from strategies.plan import Capability
from workloads.recorded import HistoryFacts


def _initial_order(keys: HudiKeys) -> str | None:
    if keys.index != "bucket":
        return None
    groups = "1 file group" if keys.index_buckets == 1 else f"{keys.index_buckets} file groups"
    return f"by the hash of order_id, in {groups} per partition"


def _real_options(settings: EngineSettings) -> Mapping[str, JsonValue]:
    lock_host = HOST if settings.has_real_clock else None  # the port is chosen when the run begins
    options: JsonValue = {**write_options(settings.table, "orders", lock_host)}
    return {**spark_options(settings, session_conf()), "hudi": options}


def _planners(facts: HistoryFacts, has_logs: bool) -> Mapping[str, str]:
    """A table with a bucket index cannot be clustered."""
    clusters = facts.table_keys["index"] != "bucket"
    return {
        **({"compaction": '{ type = "hudi.compaction" }'} if has_logs else {}),
        **({"clustering": '{ type = "hudi.clustering" }'} if clusters else {}),
    }


FORMAT = Format(
    name=NAME,
    words=Words(
        title="Apache Hudi",
        description="Apache Hudi, written by Spark; properties are Hudi's write options "
        "(hoodie.compact.inline)",
        deletes=("log files", "log records"),
        instead=INSTEAD,
    ),
    table=TableRules(
        keys=HudiKeys,
        own_properties={
            INDEX: "table.index",
            INDEX_BUCKETS: "table.index_buckets",
            MAX_FILE_BYTES: "table.target_file_size",
            TABLE_TYPE: "writer.upsert_mode",
        },
        codec_setting=CODEC,
        default_codec=DEFAULT_CODEC,
        views=VIEWS,
        property_problem=property_problem,
        rule_problem=rule_problem,
        initial_order=_initial_order,
    ),
    writer=WriterRules(
        upsert_modes=UPSERT_MODES,
        default_upsert_mode=DEFAULT_UPSERT_MODE,
        needs=lambda keys, mode: frozenset() if mode is None else frozenset({Capability.UPSERT}),
        layout=lambda spec, settings: CommitLayout(None, None),  # it depends on the table's file groups
        metadata_bytes_per_commit=30_000,
        files_refused="has no effect on a Hudi table, because its index chooses the file groups of a commit: "
        "leave it out, and set table.index_buckets, or with a simple index "
        "hoodie.copyonwrite.insert.split.size",
        moves_refused="the supported indexes of Hudi look for a key in its new partition only, so the old "
        "row would stay",
    ),
    engines=Engines(
        roles_as="processes",
        properties_are_options=True,
        shares_compaction=False,  # a plan is scheduled on the timeline, where another compactor would find it
        at_once_problem=at_once_problem,
        planning=PLANNING,
        roll_out=lazy("bench.engines.hudi.roll_out:roll_out"),
        real=real_kind(lazy("bench.engines.hudi.engine:open_hudi"), CAPABILITIES, _real_options),
        simulated=simulated_kind(
            lazy("bench.engines.hudi.model.table:HudiTableModel"),
            CAPABILITIES,
            PLANNING,
            HudiCoefficients.read,
            CALIBRATING,
            table_amounts=table_amounts,
        ),
        metadata_commands=METADATA_COMMANDS,
        expiry_commands=frozenset({Command.CLEAN}),
    ),
    existing=ExistingTables(
        open=lazy("bench.engines.hudi.existing_table:open_existing"),
        is_at=lazy("bench.engines.hudi.existing_table:is_table_at"),
        help="* `compactbench plan /data/lake/orders --strategy hudi.compaction`",
        imports=Importing(
            lazy("bench.engines.hudi.existing_table:import_history"),
            _planners,
            table_keys=lambda is_upsert: {"index": "bucket" if is_upsert else "simple"},
            day_text=hudi_day,
        ),
    ),
)
