"""Apache Iceberg as a format: the keys of its tables, and what its engines can do.

Spark and PyIceberg are only imported when an engine or an existing table is opened.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager

from pydantic import JsonValue

from bench.engines.contract import Engine, EngineSettings
from bench.engines.format import ExistingTable, Format, TableAddress
from bench.engines.iceberg.java_needs import HTTP_OPTIONS, needed_classes, needed_java_modules
from bench.engines.iceberg.model.coefficients import iceberg_coefficients
from bench.engines.iceberg.model.flink_writer import commit_layout
from bench.engines.iceberg.places import catalog_problem, catalog_servers, property_problem
from bench.engines.iceberg.planning import PLANNING
from bench.engines.iceberg.table_keys import (
    CODEC_PROPERTY,
    DEFAULT_CODEC,
    DEFAULT_UPSERT_MODE,
    NAME,
    REAL_CAPABILITIES,
    SIMULATED_CAPABILITIES,
    UPSERT_MODES,
    VECTORS_FROM,
    IcebergKeys,
)
from bench.engines.simulated.kind import simulated_kind
from bench.engines.spark.kind import real_kind
from strategies.iceberg.commands import METADATA_COMMANDS, Command
from strategies.plan import Capability

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


def _open_real(settings: EngineSettings) -> AbstractContextManager[Engine]:
    from bench.engines.iceberg.engine import open_iceberg

    return open_iceberg(settings)


def _drop_tables(settings: EngineSettings) -> None:
    from bench.engines.iceberg.engine import drop_tables

    drop_tables(settings)


def _real_options(settings: EngineSettings) -> Mapping[str, JsonValue]:
    from bench.engines.iceberg.catalog import EXECUTOR_CACHE, session_conf
    from bench.engines.spark.options import spark_options

    catalog, conf = settings.catalog, session_conf(settings.catalog.name, settings.catalog.properties)
    effective = {**conf, **settings.spark.conf}
    return {
        **spark_options(settings, conf),
        "catalog": catalog.name if catalog.is_shared else "own, on SQLite",
        "caches": {
            "table cache of the catalog": effective[f"spark.sql.catalog.{catalog.name}.cache-enabled"],
            "delete-file cache of the executors": effective[EXECUTOR_CACHE],
        },
    }


def _open_simulated(settings: EngineSettings) -> AbstractContextManager[Engine]:
    from bench.engines.iceberg.simulation import open_simulated_iceberg

    return open_simulated_iceberg(settings)


def _open_existing(address: TableAddress) -> ExistingTable:
    from bench.engines.iceberg.existing_table import open_existing

    return open_existing(address)


def _is_table_at(name: str) -> bool:
    from bench.engines.iceberg.folder import is_table_at

    return is_table_at(name)


# What `type` may be in org.apache.iceberg.CatalogUtil 1.11, in any case.
_CATALOG_TYPES = frozenset({"hadoop", "hive", "rest", "glue", "nessie", "jdbc", "bigquery"})

FORMAT = Format(
    name=NAME,
    title="Iceberg",
    description="Apache Iceberg by Spark; format_version 2 or 3",
    table_keys=IcebergKeys,
    catalog_types=_CATALOG_TYPES,
    catalog_problem=catalog_problem,
    catalog_servers=catalog_servers,
    upsert_modes=UPSERT_MODES,
    default_upsert_mode=DEFAULT_UPSERT_MODE,
    own_properties={
        "write.target-file-size-bytes": "table.target_file_size",
        "format-version": "table.format_version",
    },
    size_properties=frozenset({"write.target-file-size-bytes"}),
    codec_setting=CODEC_PROPERTY,
    default_codec=DEFAULT_CODEC,
    property_problem=property_problem,
    metadata_bytes_per_commit=100_000,  # measured: 20 to 80 KB of manifests and table metadata per snapshot
    planning=PLANNING,
    layout=lambda spec, settings: commit_layout(spec),
    writing_needs=_writing_needs,
    real=real_kind(_open_real, REAL_CAPABILITIES, _real_options, drop_tables=_drop_tables),
    simulated=simulated_kind(_open_simulated, SIMULATED_CAPABILITIES, iceberg_coefficients),
    metadata_commands=METADATA_COMMANDS,
    expiry_commands=frozenset({Command.EXPIRE_SNAPSHOTS}),
    asked_by={Capability.VECTORS: "table.format_version"},
    packages=("pyiceberg",),
    coefficients=iceberg_coefficients,
    training="upsert-quick",
    java_modules={HTTP_OPTIONS: "the client of a REST catalog"},
    needed_java_modules=needed_java_modules,
    needed_classes=needed_classes,
    open_existing=_open_existing,
    is_table_at=_is_table_at,
    existing_help=_EXISTING_HELP,
)
