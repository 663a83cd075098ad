"""The `Format` of Delta Lake."""

from collections.abc import Mapping

from bench.engines.delta import columns
from bench.engines.delta.calibrating import CALIBRATING
from bench.engines.delta.ledger import PLANNING
from bench.engines.delta.model.coefficients import DeltaCoefficients
from bench.engines.delta.model.writers import commit_layout
from bench.engines.delta.properties import (
    at_once_problem,
    property_problem,
    session_conf,
    setting_problem,
    simulated_setting_problem,
)
from bench.engines.delta.table_keys import (
    CODEC_CONF,
    DEFAULT_CODEC,
    DEFAULT_UPSERT_MODE,
    DELTA_RS,
    DELTA_RS_CAPABILITIES,
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
from bench.engines.existing import ExistingTables, Importing
from bench.engines.format import Engines, Format, TableRules, Words, WriterRules, lazy
from bench.engines.keys import bytes_text
from bench.engines.simulated.kind import simulated_kind
from bench.engines.spark.conf import SHUFFLE_PARTITIONS
from bench.engines.spark.kind import real_kind, spark_options
from strategies.delta.commands import METADATA_COMMANDS, Command
from strategies.plan import Capability
from strategies.state import MIB
from workloads.recorded import HistoryFacts


def _writing_needs(keys: DeltaKeys, upsert_mode: str | None) -> frozenset[str]:
    if upsert_mode is None:
        return frozenset()
    return frozenset({Capability.MERGE, *([Capability.VECTORS] if upsert_mode == MERGE_ON_READ else [])})


def _planners(facts: HistoryFacts, has_vectors: bool) -> Mapping[str, str]:
    """OPTIMIZE by default, and with a lower limit at a tenth, which packs nothing again."""
    tenth_bytes = max(1, facts.target_file_size_bytes // 10)
    limit = bytes_text(tenth_bytes // MIB * MIB or tenth_bytes)
    return {
        "optimize": '{ type = "delta.optimize" }',
        "optimize-tenth": f'{{ type = "delta.optimize", options = {{ minFileSize = "{limit}" }} }}',
    }


FORMAT = Format(
    name=NAME,
    words=Words(
        title="Delta Lake",
        description="Delta Lake, written by Spark; properties of a strategy turn on automatic compaction "
        "(delta.autoOptimize.autoCompact) and optimized writes (delta.autoOptimize.optimizeWrite)",
        deletes=("deletion vectors", "deleted rows"),
        instead=INSTEAD,
    ),
    table=TableRules(
        keys=DeltaKeys,
        own_properties={VECTORS: "writer.upsert_mode"},
        codec_setting=CODEC_CONF,
        default_codec=DEFAULT_CODEC,
        property_name=property_name,
        property_problem=property_problem,
        key_problem=columns.key_problem,
        rule_problem=lambda spec, rule: columns.planner_problem(columns.layout_of(spec), rule.planner),
    ),
    writer=WriterRules(
        upsert_modes=UPSERT_MODES,
        default_upsert_mode=DEFAULT_UPSERT_MODE,
        needs=_writing_needs,
        layout=commit_layout,
        metadata_bytes_per_commit=40_000,  # measured: 10 KB of log and checksum, 37 KB with a checkpoint
    ),
    engines=Engines(
        roles_as="threads",  # two processes can commit the same version of a table on local files
        at_once_problem=at_once_problem,
        planning=PLANNING,
        roll_out=lazy("bench.engines.delta.statements:roll_out"),
        real=real_kind(
            lazy("bench.engines.delta.engine:open_delta"),
            REAL_CAPABILITIES,
            lambda settings: spark_options(settings, session_conf()),
            setting_problem,
            executors={DELTA_RS: DELTA_RS_CAPABILITIES},
        ),
        simulated=simulated_kind(
            lazy("bench.engines.delta.model.table:DeltaTableModel"),
            SIMULATED_CAPABILITIES,
            PLANNING,
            DeltaCoefficients.read,
            CALIBRATING,
            simulated_setting_problem,
            heeded_settings=frozenset({SHUFFLE_PARTITIONS}),
        ),
        metadata_commands=METADATA_COMMANDS,
        expiry_commands=frozenset({Command.VACUUM}),
        packages=("deltalake",),
    ),
    existing=ExistingTables(
        open=lazy("bench.engines.delta.existing_table:open_existing"),
        is_at=lazy("bench.engines.delta.existing_table:is_table_at"),
        help="* `compactbench plan /data/lake/orders --strategy delta.optimize`",
        imports=Importing(
            lazy("bench.engines.delta.existing_table:import_history"),
            _planners,
        ),
    ),
)
