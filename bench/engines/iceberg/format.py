"""Apache Iceberg as a format: the keys of its tables, and what its engines can do."""

from collections.abc import Mapping

from bench.engines.contract import TableSpec
from bench.engines.existing import ExistingTables, Importing
from bench.engines.format import CatalogRules, Engines, Format, TableRules, Words, WriterRules, lazy
from bench.engines.iceberg.calibrating import CALIBRATING
from bench.engines.iceberg.ledger import PLANNING
from bench.engines.iceberg.model.coefficients import IcebergCoefficients
from bench.engines.iceberg.model.flink_writer import commit_layout
from bench.engines.iceberg.places import (
    HTTP_OPTIONS,
    catalog_problem,
    needed_java_modules,
    property_problem,
)
from bench.engines.iceberg.single_node.settings import check_properties
from bench.engines.iceberg.table_keys import (
    CODEC_PROPERTY,
    DEFAULT_CODEC,
    DEFAULT_UPSERT_MODE,
    NAME,
    REAL_CAPABILITIES,
    SIMULATED_CAPABILITIES,
    SINGLE_NODE,
    SINGLE_NODE_CAPABILITIES,
    UPSERT_MODES,
    VECTORS_FROM,
    IcebergKeys,
    format_version_of,
)
from bench.engines.simulated.kind import simulated_kind
from bench.engines.spark.kind import real_kind
from strategies.iceberg.commands import METADATA_COMMANDS, Command
from strategies.plan import Capability
from strategies.strategy import Rule
from workloads.recorded import HistoryFacts

_EXISTING_HELP = r"""* `compactbench plan /data/warehouse/db/orders --strategy amoro`

    * `compactbench plan db.orders --strategy iceberg.rewrite_data_files \`\
      `--catalog-property type=rest --catalog-property uri=http://host:8181`

    `--catalog` names a catalog of ~/.pyiceberg.yaml or of PYICEBERG_CATALOG__ variables, which is also the
    place for secrets."""


def _writing_needs(keys: IcebergKeys, upsert_mode: str | None) -> frozenset[str]:
    if upsert_mode is None:
        return frozenset()
    writing = Capability.UPSERT if upsert_mode == "equality-delete" else Capability.MERGE
    return frozenset({writing, *([Capability.VECTORS] if keys.format_version >= VECTORS_FROM else [])})


def _planners(facts: HistoryFacts, has_deletes: bool) -> Mapping[str, str]:
    with_deletes = '{ type = "iceberg.rewrite_data_files", options = { "delete-file-threshold" = 10 } }'
    return {
        "rewrite": '{ type = "iceberg.rewrite_data_files" }',
        **({"rewrite-deletes": with_deletes} if has_deletes else {}),
        "amoro": '{ type = "amoro" }',
    }


def _rule_problem(spec: TableSpec, rule: Rule) -> str | None:
    if rule.executor != SINGLE_NODE:
        return None
    if format_version_of(spec) >= VECTORS_FROM:
        return (
            f"is executed by {SINGLE_NODE}, which writes no tables of format version {VECTORS_FROM}: set "
            f"table.format_version to {VECTORS_FROM - 1}, or leave out executor"
        )
    try:
        check_properties(spec.properties)
    except ValueError as error:
        return f"is executed by {SINGLE_NODE}, and {error}: change this property, or leave out executor"
    return None


FORMAT = Format(
    name=NAME,
    words=Words(
        title="Iceberg",
        description="Apache Iceberg by Spark; format_version 2 or 3",
        asked_by={Capability.VECTORS: "table.format_version"},
    ),
    table=TableRules(
        keys=IcebergKeys,
        own_properties={
            "write.target-file-size-bytes": "table.target_file_size",
            "format-version": "table.format_version",
        },
        size_properties=frozenset({"write.target-file-size-bytes"}),
        codec_setting=CODEC_PROPERTY,
        default_codec=DEFAULT_CODEC,
        property_problem=property_problem,
        rule_problem=_rule_problem,
    ),
    writer=WriterRules(
        upsert_modes=UPSERT_MODES,
        default_upsert_mode=DEFAULT_UPSERT_MODE,
        needs=_writing_needs,
        layout=lambda spec, settings: commit_layout(spec),
        metadata_bytes_per_commit=100_000,  # measured: 20 to 80 KB of manifests and table metadata
    ),
    catalog=CatalogRules(
        # What `type` may be in org.apache.iceberg.CatalogUtil 1.11, in any case.
        types=frozenset({"hadoop", "hive", "rest", "glue", "nessie", "jdbc", "bigquery"}),
        problem=catalog_problem,
        java_modules={HTTP_OPTIONS: "the client of a REST catalog"},
        needed_java_modules=needed_java_modules,
    ),
    engines=Engines(
        roles_as="processes",
        planning=PLANNING,
        roll_out=lazy("bench.engines.iceberg.statements:roll_out"),
        real=real_kind(
            lazy("bench.engines.iceberg.engine:open_iceberg"),
            REAL_CAPABILITIES,
            lazy("bench.engines.iceberg.catalog:engine_options"),
            drop_tables=lazy("bench.engines.iceberg.engine:drop_tables"),
            executors={SINGLE_NODE: SINGLE_NODE_CAPABILITIES},
        ),
        simulated=simulated_kind(
            lazy("bench.engines.iceberg.model.table:IcebergTableModel"),
            SIMULATED_CAPABILITIES,
            PLANNING,
            IcebergCoefficients.read,
            CALIBRATING,
            executors={SINGLE_NODE: SINGLE_NODE_CAPABILITIES},
        ),
        metadata_commands=METADATA_COMMANDS,
        expiry_commands=frozenset({Command.EXPIRE_SNAPSHOTS}),
        packages=("pyiceberg",),
    ),
    existing=ExistingTables(
        open=lazy("bench.engines.iceberg.existing_table:open_existing"),
        is_at=lazy("bench.engines.iceberg.folder:is_table_at"),
        help=_EXISTING_HELP,
        imports=Importing(
            lazy("bench.engines.iceberg.existing_table:import_history"),
            _planners,
        ),
    ),
)
