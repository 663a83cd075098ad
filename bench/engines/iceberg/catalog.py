"""The catalog of Iceberg tables: the default one on SQLite, or any other that is configured."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from py4j.java_gateway import is_instance_of
from py4j.protocol import Py4JJavaError
from pydantic import JsonValue
from pyiceberg.catalog import load_catalog
from pyiceberg.table import StaticTable, Table
from pyspark.sql import SparkSession

from bench.engines.contract import CATALOG_KINDS, TABLE_ID, EngineSettings
from bench.engines.iceberg.places import DATA_PATH, METADATA_PATH, is_below, is_named_after
from bench.engines.iceberg.table_files import delete_below, folders_of
from bench.engines.journal import Journal
from bench.engines.spark.kind import spark_options
from bench.engines.spark.session import java_class
from bench.errors import EngineError

EXECUTOR_CACHE = "spark.sql.iceberg.executor-cache.enabled"
# Iceberg's REST client (org.apache.iceberg.rest.HTTPClient) has no timeout for answers: a server that accepts
# connections and never answers would block a suite for ever. Other catalogs ignore this.
_TIME_OUT = {"rest.client.socket-timeout-ms": "120000"}
# By default SQLite's drivers wait for another process's lock for 3 s (JDBC) and 5 s (Python), and an Iceberg
# commit that fails then is not tried again. With a write-ahead log readers do not wait for the writer.
_LOCK_WAIT_S = 60
_SQLITE_WAITS = {"jdbc.busy_timeout": str(_LOCK_WAIT_S * 1000)}
_WRITE_AHEAD_LOG = {"jdbc.journal_mode": "WAL"}  # a database keeps it for ever, so only ours get it


def session_conf(catalog: str, properties: Mapping[str, str]) -> dict[str, str]:
    """The part of Spark's configuration that results show, without locations and secrets.

    The catalog's table cache is off by default, so that a probe reads current metadata.
    """
    return {
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        # On by default. Each Spark executor then caches the delete files it has read for later tasks and
        # queries. That flatters small tables, whose deletes all fit, and hides a cost of large ones.
        EXECUTOR_CACHE: "false",
        f"spark.sql.catalog.{catalog}.cache-enabled": properties.get("cache-enabled", "false"),
    }


def engine_options(settings: EngineSettings) -> dict[str, JsonValue]:
    """The configuration of a real engine as results show it."""
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


@dataclass(frozen=True, slots=True)
class Catalog:
    """The catalog of the tables: by default a JdbcCatalog on SQLite below `folder`.

    A catalog that `properties` or Spark's own configuration name instead is shared: it outlives the run,
    which notes its namespaces in the `journal`.
    """

    folder: Path
    name: str
    namespace: str
    properties: Mapping[str, str]
    journal: Journal | None = None
    is_shared_table: bool = False

    @property
    def table(self) -> str:
        """The full name of the table in the namespace."""
        return f"{self.name}.{self.namespace}.{TABLE_ID}"

    @property
    def is_default(self) -> bool:
        """The default catalog is deleted with its folder."""
        return self.journal is None and self.properties.keys().isdisjoint(CATALOG_KINDS)

    @property
    def _sqlite(self) -> Path:
        return self.folder / "catalog.db"

    @property
    def _waiting(self) -> str:
        """The part of an address by which Python's driver waits for other processes."""
        return f"?timeout={_LOCK_WAIT_S}" if self.is_shared_table else ""

    @property
    def _warehouse(self) -> str:
        return f"file://{self.folder / 'warehouse'}"

    def spark_conf(self) -> dict[str, str]:
        """Spark's configuration of the catalog, which a scenario's own settings override."""
        on_sqlite = {
            "type": "jdbc",
            "uri": f"jdbc:sqlite:{self._sqlite}",
            "warehouse": self._warehouse,
            "jdbc.schema-version": "V1",
            **(_WRITE_AHEAD_LOG if self.is_shared_table else {}),
        }
        ours = on_sqlite if self.is_default else _TIME_OUT
        is_sqlite = {**ours, **self.properties}.get("uri", "").startswith("jdbc:sqlite:")
        waits = _SQLITE_WAITS if self.is_shared_table and is_sqlite else {}
        properties = {**ours, **waits, **self.properties}
        prefix = f"spark.sql.catalog.{self.name}"
        return {
            **session_conf(self.name, self.properties),
            prefix: "org.apache.iceberg.spark.SparkCatalog",
            **{f"{prefix}.{key}": value for key, value in properties.items()},
            # We write delete files with Spark's own Parquet writer.
            "spark.sql.parquet.fieldId.write.enabled": "true",
        }

    def note_of(self, namespace: str) -> Path | None:
        """The file that notes a namespace; None without a journal."""
        return None if self.journal is None else self.journal.file(namespace)

    def create_namespace(self, spark: SparkSession) -> None:
        if self.journal is not None and self.namespace not in self.journal.names():
            self.journal.note(self.namespace)
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {self.name}.{self.namespace}")

    def drop_table(self, spark: SparkSession) -> None:
        """Drop the table and, if the catalog is shared, its files and the namespace.

        In the default catalog files stay until its folder is deleted: a purge by Spark takes a second. A
        namespace with another table, which is then somebody else's, cannot be dropped and stays noted.

        A purge removes the table from the catalog first and then deletes its files. The journal notes their
        folders and their FileIO, so that they can still be deleted if this process is killed in between.
        Raises EngineError for folders that may be somebody else's, before anything is dropped.
        """
        if self.is_default:
            spark.sql(f"DROP TABLE IF EXISTS {self.table}")
            return
        gateway: Any = spark.sparkContext._gateway
        if spark.catalog.tableExists(self.table):
            loaded = java_table(spark, self.table)
            io, folders = loaded.io(), folders_of(loaded)
            self._check_own(folders, str(loaded.location()))
            if self.journal is not None:
                self.journal.note(self.namespace, (io.getClass().getName(), *folders))
            spark.sql(f"DROP TABLE {self.table} PURGE")
            delete_below(gateway, io, folders)
        elif self.journal is not None and (noted := self.journal.details(self.namespace)):
            implementation, *left = noted
            self._check_own(left)
            delete_below(gateway, self._file_io(spark, implementation), left)
        if self.journal is not None:
            spark.sql(f"DROP NAMESPACE IF EXISTS {self.name}.{self.namespace}")
            self.journal.cross_out(self.namespace)

    def _check_own(self, folders: Iterable[str], location: str | None = None) -> None:
        """Everything in these folders is about to be deleted, and a catalog may use one for many tables.

        Folders below the `location` that the catalog gives for the table belong to the table.
        """
        for folder in folders:
            if not (is_named_after(self.namespace, folder) or (location and is_below(location, folder))):
                raise EngineError(
                    f"would be deleted with {self.namespace}, but neither has its name nor is below its "
                    "table's location, so it may be somebody else's: drop the table and delete its files "
                    f"yourself, and then delete {self.note_of(self.namespace)}. To choose folders, set "
                    f"{DATA_PATH} and {METADATA_PATH} in table.properties, not in the catalog",
                    code="not-ours",
                    path=folder,
                )

    def _file_io(self, spark: SparkSession, implementation: str) -> Any:
        """A (Java) FileIO with the properties of the catalog, without what it would vend for a table."""
        prefix = f"spark.sql.catalog.{self.name}."
        conf = spark.sparkContext.getConf().getAll()
        set_by_spark = {key.removeprefix(prefix): value for key, value in conf if key.startswith(prefix)}
        properties = {**self.properties, **set_by_spark}
        util = java_class(spark, "org.apache.iceberg.CatalogUtil")
        return util.loadFileIO(implementation, properties, spark._jsc.hadoopConfiguration())

    def loader(self, spark: SparkSession) -> Callable[[], Table]:
        """Returns a function that loads the table with PyIceberg, from SQLite or where Spark finds it."""
        if self.is_default:
            catalog = load_catalog(
                self.name,
                type="sql",
                uri=f"sqlite:///{self._sqlite}{self._waiting}",
                warehouse=self._warehouse,
            )
            return lambda: catalog.load_table(f"{self.namespace}.{TABLE_ID}")

        def load() -> Table:
            loaded = java_table(spark, self.table)
            location = loaded.operations().current().metadataFileLocation()
            return StaticTable.from_metadata(
                location, {**self.properties, **_io_properties(spark, loaded, location)}
            )

        return load


def _io_properties(spark: SparkSession, table: Any, location: str) -> dict[str, str]:
    """The properties of a Java table's FileIO, with the credentials that were vended for a location.

    They include Spark's configuration of the catalog. Empty if the FileIO does not expose them.
    """
    io = table.io()
    try:
        properties = _texts(io.properties())
    except Py4JJavaError as error:
        if error.java_exception.getClass().getSimpleName() != "UnsupportedOperationException":
            raise
        return {}
    return properties | _vended(spark, io, location)


def _vended(spark: SparkSession, io: Any, location: str) -> dict[str, str]:
    """The `storage-credentials` of a REST catalog with the longest prefix of a location, as in Iceberg.

    Iceberg's FileIOs keep them apart from their properties.
    """
    if not is_instance_of(
        spark.sparkContext._gateway, io, "org.apache.iceberg.io.SupportsStorageCredentials"
    ):
        return {}
    suitable = [held for held in io.credentials() if location.startswith(held.prefix())]
    chosen = max(suitable, key=lambda held: len(held.prefix()), default=None)
    return {} if chosen is None else _texts(chosen.config())


def _texts(java_map: Any) -> dict[str, str]:
    return {str(key): str(value) for key, value in dict(java_map).items()}


def java_table(spark: SparkSession, name: str) -> Any:
    """The Iceberg table behind a Spark name, freshly loaded."""
    util = java_class(spark, "org.apache.iceberg.spark.Spark3Util")
    return util.loadIcebergTable(spark._jsparkSession, name)
