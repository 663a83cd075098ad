"""Apache Iceberg on Spark: real tables, Iceberg's own commands, and rewrites of exactly the named files."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError
from pyiceberg.io import FileIO
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, DataFrameWriterV2, SparkSession

from bench.engines import runtime
from bench.engines.contract import TABLE_ID, TAG_PROPERTY, Batch, EngineSettings, TableSpec, Tag, Version
from bench.engines.executor import Executors
from bench.engines.iceberg import upsert
from bench.engines.iceberg.catalog import Catalog
from bench.engines.iceberg.ledger import PLANNING, iceberg_ledger
from bench.engines.iceberg.places import DATA_PATH, METADATA_PATH
from bench.engines.iceberg.rewrite import StagedRewrite, commit_rewrite, stage_rewrite
from bench.engines.iceberg.single_node.executor import DEFAULT_MEMORY_BYTES, SingleNode
from bench.engines.iceberg.state import IcebergReader
from bench.engines.iceberg.statements import call_statement, scoped
from bench.engines.iceberg.table_files import listed_bytes
from bench.engines.iceberg.table_keys import (
    CODEC_PROPERTY,
    DEFAULT_CODEC,
    DEFAULT_UPSERT_MODE,
    NAME,
    REAL_CAPABILITIES,
    SINGLE_NODE,
    format_version_of,
)
from bench.engines.ledger import TableReading
from bench.engines.spark import merge
from bench.engines.spark.engine import SparkEngine, one_line
from bench.engines.spark.measured_session import measured_session
from bench.engines.spark.meter import Meter
from bench.engines.spark.queries import READS_NOTHING, Scan, ScanReader, scans
from bench.engines.spark.rows import (
    cached,
    column_names,
    create_statement,
    loader,
    new_rows,
    with_partition_columns,
)
from bench.engines.spark.session import (
    has_file_system,
    java_rows,
    start_session,
    stop_session,
    stored_bytes,
    use_namespace,
)
from bench.engines.spark.staging import staging_of
from bench.errors import EngineError
from bench.results.values import MaintenanceWork, ScanWork
from strategies.iceberg.rewrite_options import NO_LIMIT_BYTES
from strategies.plan import Action, Compact, Native, Rewrite

_READS_MAX = 3
_EQUALITY_DELETES = (None, DEFAULT_UPSERT_MODE)  # the other modes are MERGE
_SCAN = "BatchScanExec"  # of Spark's DataSource V2
_DELETED = (
    "deleted_data_files_count", "deleted_position_delete_files_count", "deleted_equality_delete_files_count",
)  # fmt: skip


def table_properties(spec: TableSpec) -> dict[str, str]:
    """All properties that the table is created with; the scenario's override ours."""
    by_merge = spec.upsert_mode not in _EQUALITY_DELETES
    return {
        "format-version": str(format_version_of(spec)),
        "write.target-file-size-bytes": str(spec.target_file_size_bytes),
        **({"write.merge.mode": str(spec.upsert_mode)} if by_merge else {}),
        **spec.properties,
    }


CONFLICTS = (  # the last two are of explicit rewrites, by either executor
    "org.apache.iceberg.exceptions.ValidationException",
    "org.apache.iceberg.exceptions.CommitFailedException",
    "is no longer live",
    "was committed meanwhile",
)


class IcebergEngine(SparkEngine[StagedRewrite]):
    """One Iceberg table in one catalog."""

    capabilities = REAL_CAPABILITIES
    format_name = NAME

    def __init__(
        self,
        spark: SparkSession,
        meter: Meter,
        catalog: Catalog,
        spec: TableSpec,
        compaction_memory_bytes: int | None = None,
    ) -> None:
        self._catalog, self._compaction_memory_bytes = catalog, compaction_memory_bytes
        ledger = iceberg_ledger(
            spec.target_file_size_bytes, table_properties(spec), stream_epoch_ms=spec.stream_epoch_ms
        )
        super().__init__(
            spark, meter, catalog.table, spec, ledger, PLANNING, ScanReader(_list_files, _opened)
        )
        self._load = catalog.loader(spark)
        self._metadata = IcebergReader(self._load, self._stored_bytes)

    @property
    def _conflicts(self) -> Collection[str]:
        return CONFLICTS if self._catalog.is_shared_table else ()

    def _create(self) -> None:
        self._catalog.create_namespace(self._spark)
        properties = {**table_properties(self._spec), **self._own_paths()}
        self._spark.sql(create_statement(self._name, self._spec, NAME, properties))

    def _own_paths(self) -> dict[str, str]:
        """Folders for this table alone below those that the scenario sets for data and metadata.

        They are two even if the scenario sets one for both: what is stored is counted by folder.
        """
        own, properties = f"{self._catalog.namespace}/{TABLE_ID}", self._spec.properties
        folders = {DATA_PATH: f"{own}/data", METADATA_PATH: f"{own}/metadata"}
        return {
            path: f"{properties[path].rstrip('/')}/{folder}"
            for path, folder in folders.items()
            if path in properties
        }

    def _use(self) -> None:
        use_namespace(self._spark, self._catalog.name, self._catalog.namespace)

    def _forget(self) -> None:
        """With the catalog's table cache, a session keeps a table until it has not used it for 30 s."""
        is_cached = self._spark.conf.get(f"spark.sql.catalog.{self._catalog.name}.cache-enabled", "false")
        if str(is_cached).lower() == "true":
            self._spark.sql(f"REFRESH TABLE {self._name}")

    @property
    def _codec(self) -> str:
        return table_properties(self._spec).get(CODEC_PROPERTY, DEFAULT_CODEC)

    def _prepare(self, batch: Batch, tag: Tag) -> tuple[Callable[[], None], DataFrame]:
        if batch.spec.is_initial:
            return self._prepare_load(batch, tag)
        if not batch.is_cdc:
            rows = cached(self._spark, new_rows(self._spark, self._spec, batch))
            return self._appender(rows, tag).append, rows
        paths = staging_of(self._spark).readable(batch.paths)
        return self._prepare_changes(self._spark.read.parquet(*paths), batch.spec.writers, tag)

    def _prepare_load(self, batch: Batch, tag: Tag) -> tuple[Callable[[], None], DataFrame]:
        """Not cached, since a load may be of any size. Each writer makes one file of any size.

        Otherwise Iceberg's writer would start a new file too early, as it counts uncompressed bytes.
        """
        rows = new_rows(self._spark, self._spec, batch)
        writer = self._appender(rows, tag).option("target-file-size-bytes", str(NO_LIMIT_BYTES))
        return loader(self._spark, writer.append), rows

    def _prepare_changes(
        self, frame: DataFrame, writers: int, tag: Tag
    ) -> tuple[Callable[[], None], DataFrame]:
        spec, partitioning = self._spec, self._spec.partitioning
        frame, columns = with_partition_columns(frame, partitioning), column_names(spec)
        if spec.upsert_mode in _EQUALITY_DELETES:
            changes = upsert.prepare(frame, partitioning, spec.files_per_commit or writers)
            return partial(upsert.commit, self._spark, self._name, changes, columns, tag), changes.frame
        last = merge.prepare(frame, spec.files_per_commit)
        return partial(self._merge, last, columns, {}), last

    def _untagged_commit(self, batch: Batch, tag: Tag) -> Tag | None:
        """The tag of a MERGE. Neither SQL nor a session setting for Spark 3.5 can set a snapshot property."""
        by_merge = (
            batch.is_cdc and not batch.spec.is_initial and self._spec.upsert_mode not in _EQUALITY_DELETES
        )
        return tag if by_merge else None

    def _appender(self, rows: DataFrame, tag: Tag) -> DataFrameWriterV2:
        writer = rows.writeTo(self._name).option("distribution-mode", "none").option("fanout-enabled", "true")
        return writer.option(f"snapshot-property.{TAG_PROPERTY}", str(tag))

    def stage(self, action: Action, at_ms: int) -> StagedRewrite:
        if not isinstance(action, Rewrite):
            raise ValueError("Iceberg's procedures plan and commit in one call")
        return stage_rewrite(self._spark, self._name, action)

    def execute(self, action: Action, prepared: StagedRewrite | None, tag: Tag) -> DataFrame | None:
        """Rewrites are tagged; procedures cannot tag the snapshots they make."""
        match action:
            case Rewrite():
                if prepared is None:
                    raise ValueError("an explicit rewrite has to be staged before it is committed")
                commit_rewrite(self._spark, self._name, prepared, tag)
                return None
            case Compact():
                return self._spark.sql(call_statement(self._name, scoped(action)))
            case Native():
                return self._spark.sql(call_statement(self._name, action, self._older_than_ms(action)))

    def _other_executors(self) -> Executors:
        return {SINGLE_NODE: self._single_node}

    @cached_property
    def _single_node(self) -> SingleNode:
        cores, memory_bytes = self._spark.sparkContext.defaultParallelism, self._compaction_memory_bytes
        return SingleNode(self._load, self._catalog.folder, cores, memory_bytes or DEFAULT_MEMORY_BYTES)

    def close(self) -> None:
        """Ends the executor without Spark, if a rule has used it."""
        if "_single_node" in self.__dict__:
            self._single_node.close()

    def _answer(self, answers: list[DataFrame]) -> Mapping[str, int]:
        """The counts that procedures returned, summed by column."""
        counted = Counter[str]()
        for row in (row for answer in answers for row in java_rows(answer._jdf)):
            counted.update({name: value for name, value in row.items() if isinstance(value, int)})
        return dict(counted)

    def _scanned_by(self, plan: Any) -> tuple[int | None, int | None]:
        """Copy-on-write scans all files first, and then those with changes by a scan that plans all files."""
        metrics = [scan.metrics for scan in scans(plan, with_subqueries=True) if scan.kind == _SCAN]
        files = (scan.get("resultDataFiles", 0) for scan in metrics)
        rows = (scan.get("numOutputRows", 0) + scan.get("numDeletes", 0) for scan in metrics)
        return max(files, default=0), max(rows, default=0)

    def _maintained(self, versions: tuple[Version, ...], answer: Mapping[str, int]) -> MaintenanceWork:
        """The expiry of snapshots returns how many files it deleted."""
        work = super()._maintained(versions, answer)
        deleted = [answer[name] for name in _DELETED if name in answer]
        return replace(work, deleted_files_count=sum(deleted)) if deleted else work

    def _older_than_ms(self, action: Native) -> int | None:
        keep_from_ms = action.arguments.get("older_than_at_ms")
        return None if keep_from_ms is None else self._metadata.first_kept_ms(int(keep_from_ms))

    def sibling(self, name: str) -> "IcebergEngine":
        """Its table has the same name in another namespace, so that probes run on it unchanged."""
        catalog = replace(self._catalog, namespace=f"{self._catalog.namespace}_{name}")
        return IcebergEngine(self._spark, self._meter, catalog, self._spec, self._compaction_memory_bytes)

    def _drop(self) -> None:
        self.close()
        self._catalog.drop_table(self._spark)

    def _read(self, at_ms: int) -> TableReading:
        """Others may delete files and folders meanwhile, if they work on the table too."""
        tries = _READS_MAX if self._catalog.is_shared_table else 1
        for _ in range(tries - 1):
            with suppress(FileNotFoundError, Py4JJavaError):
                return self._metadata.read(at_ms)
        return self._metadata.read(at_ms)

    def _stored_bytes(self, folder: str, io: FileIO) -> int:
        """Listed by Hadoop, or by PyIceberg if Hadoop has no file system for the folder."""
        if has_file_system(self._spark, folder):
            return stored_bytes(self._spark, folder)
        return listed_bytes(io, folder)


def _list_files(scan: Scan) -> None:
    if scan.kind == _SCAN:
        scan.node.inputPartitions()


def _opened(leaves: tuple[Scan, ...]) -> ScanWork:
    """By the metrics of Iceberg's SparkScan (1.11.0); unknown if a query reads by a node without them."""
    if any(scan.kind != _SCAN and scan.kind not in READS_NOTHING for scan in leaves):
        return ScanWork()
    metrics_of_scans = [scan.metrics for scan in leaves if scan.kind == _SCAN]

    def total(*names: str) -> int | None:
        if any(name not in metrics for metrics in metrics_of_scans for name in names):
            return None
        return sum(metrics[name] for metrics in metrics_of_scans for name in names)

    return ScanWork(
        files_count=total("resultDataFiles"),
        delete_files_count=total("resultDeleteFiles"),
        opened_bytes=total("totalDataFileSize", "totalDeleteFileSize"),
        metadata_files_count=total("scannedDataManifests", "scannedDeleteManifests"),
        read_rows=total("numOutputRows", "numDeletes"),
        columns_count=sum(scan.node.output().size() for scan in leaves if scan.kind == _SCAN),
        delete_bytes=total("totalDeleteFileSize"),
    )


@contextmanager
def open_iceberg(settings: EngineSettings) -> Iterator[IcebergEngine]:
    """An engine with its own Spark session; both end with the block."""
    catalog = _catalog(settings)
    jars = runtime.jars("iceberg")
    with measured_session(settings, jars, catalog.spark_conf()) as (spark, meter):
        engine = IcebergEngine(spark, meter, catalog, settings.table, settings.compaction_memory_bytes)
        with closing(engine):
            yield engine


def drop_tables(settings: EngineSettings) -> None:
    """Drop the tables in all namespaces that the catalog's journal notes, and the namespaces.

    Continues after a failure, and raises EngineError at the end with all failures.
    """
    catalog, problems = _catalog(settings), list[str]()
    jars = runtime.jars("iceberg")
    spark = start_session(settings.spark, jars, catalog.spark_conf(), settings.folder)
    try:
        for namespace in catalog.journal.names() if catalog.journal else ():
            try:
                _check_made_by_run(namespace, catalog)
                replace(catalog, namespace=namespace).drop_table(spark)
            except (EngineError, Py4JError, PySparkException) as error:
                problems.append(f"{namespace}: {one_line(error)}")
    finally:
        stop_session(spark)
    if problems:
        raise EngineError("; ".join(problems), code="not-dropped")


def _check_made_by_run(namespace: str, catalog: Catalog) -> None:
    """Raises EngineError for a namespace with a name that the run does not use."""
    own = catalog.namespace
    if namespace != own and not namespace.startswith(f"{own}_"):
        raise EngineError(
            f"is not a namespace that this run makes ({own}, {own}_...), so it is not dropped: if it is "
            f"yours, drop it yourself; then delete {catalog.note_of(namespace)}",
            code="not-ours",
        )


def _catalog(settings: EngineSettings) -> Catalog:
    chosen = settings.catalog
    return Catalog(
        settings.folder, chosen.name, chosen.namespace, chosen.properties, chosen.journal,
        settings.is_shared_table,
    )  # fmt: skip
