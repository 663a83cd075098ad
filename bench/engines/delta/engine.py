"""Delta Lake on Spark: real tables and Delta's own commands."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from bench import runtime
from bench.engines.contract import (
    Batch,
    Cost,
    EngineSettings,
    InlineCompaction,
    TableSpec,
    Tag,
    Version,
)
from bench.engines.delta import commands, delta_rs
from bench.engines.delta.conf import session_conf
from bench.engines.delta.ledger import delta_ledger
from bench.engines.delta.planning import PLANNING
from bench.engines.delta.properties import AUTO_COMPACT_CONFS, may_compact_by_itself, table_properties
from bench.engines.delta.scan import reader
from bench.engines.delta.state import DeltaReader
from bench.engines.delta.table_keys import (
    CODEC_CONF,
    DEFAULT_CODEC,
    NAME,
    REAL_CAPABILITIES,
    clustering_columns_of,
)
from bench.engines.spark import merge
from bench.engines.spark.commit_watch import CommitWatch
from bench.engines.spark.engine import TABLE, SparkEngine, TableReading, Write
from bench.engines.spark.meter import Clocks, Measured, Meter
from bench.engines.spark.rows import (
    cached,
    column_names,
    create_statement,
    loader,
    new_rows,
    with_partition_columns,
)
from bench.engines.spark.session import (
    file_system,
    java_class,
    sql_text,
    start_session,
    stop_session,
    use_namespace,
)
from strategies.delta.commands import NO_REWRITE, Command
from strategies.plan import Action, Compact, Native, Rewrite

_CATALOG = "spark_catalog"  # Delta's catalog replaces Spark's own one


class DeltaEngine(SparkEngine[None]):
    """One Delta table in a folder of its own."""

    capabilities = REAL_CAPABILITIES
    format_name = NAME

    def __init__(
        self, spark: SparkSession, meter: Meter, folder: Path, spec: TableSpec, namespace: str = "bench"
    ) -> None:
        self._folder, self._namespace = folder, namespace
        self._location = str(folder / namespace / TABLE)
        name = f"{_CATALOG}.{namespace}.{TABLE}"
        ledger = delta_ledger(
            spec.target_file_size_bytes, table_properties(spec), clustering_columns_of(spec),
            spec.stream_epoch_ms,
        )  # fmt: skip
        super().__init__(spark, meter, name, spec, ledger, PLANNING, reader(spark))
        self._compacts_itself = may_compact_by_itself(
            table_properties(spec), {name: spark.conf.get(name, None) for name in AUTO_COMPACT_CONFS}
        )
        self._log = DeltaReader(self._location)
        self._removals_ms: list[tuple[int, int]] = []  # scenario and epoch milliseconds

    def _create(self) -> None:
        clustering = clustering_columns_of(self._spec)
        by = f"CLUSTER BY ({', '.join(clustering)}) " if clustering else ""
        clauses = f"{by}LOCATION {sql_text(self._location)}"
        properties = table_properties(self._spec)
        self._spark.sql(f"CREATE DATABASE IF NOT EXISTS {_CATALOG}.{self._namespace}")
        self._spark.sql(create_statement(self._name, self._spec, NAME, properties, clauses))

    def _use(self) -> None:
        use_namespace(self._spark, _CATALOG, self._namespace)

    @property
    def _codec(self) -> str:
        return str(self._spark.conf.get(CODEC_CONF, DEFAULT_CODEC))

    def _prepare(self, batch: Batch, tag: Tag) -> tuple[Write, DataFrame]:
        write, frame = self._prepare_changes(batch, tag) if batch.is_cdc else self._prepare_rows(batch, tag)
        return (partial(self._watched, write) if self._compacts_itself else write), frame

    def _prepare_rows(self, batch: Batch, tag: Tag) -> tuple[Callable[[], None], DataFrame]:
        """An initial load is not cached, since it may be of any size."""
        rows = new_rows(self._spark, self._spec, batch)
        if batch.spec.is_initial:
            return loader(self._spark, partial(self._append, rows, tag)), rows
        kept = cached(self._spark, rows)
        return partial(self._append, kept, tag), kept

    def _append(self, rows: DataFrame, tag: Tag) -> None:
        rows.write.format("delta").mode("append").option("userMetadata", str(tag)).save(self._location)

    def _prepare_changes(self, batch: Batch, tag: Tag) -> tuple[Callable[[], None], DataFrame]:
        paths = [str(path) for path in batch.paths]
        frame = with_partition_columns(self._spark.read.parquet(*paths), self._spec.partitioning)
        last = merge.prepare(frame, self._spec.files_per_commit)
        columns, conf = column_names(self._spec), {commands.TAG_CONF: str(tag)}
        return partial(merge.commit, self._spark, self._name, last, columns, conf), last

    def _watched(self, write: Callable[[], None]) -> Clocks | None:
        """A commit whose own version is waited for by another thread, since a compaction may follow in it."""
        with CommitWatch(Path(self._log.next_version_path).exists, self._meter.reading) as watch:
            write()
        return watch.reading

    def _split_inline(
        self, committing: Measured, committed: Clocks | None, untagged: tuple[Version, ...]
    ) -> tuple[Cost, tuple[InlineCompaction, ...]]:
        """Whatever a commit does once its version is there counts as the compaction, if one follows."""
        if not untagged or committed is None:
            return committing.cost, ()
        own = self._meter.between(committing.started, committed)
        rest = self._meter.between(committed, committing.ended)
        return own, (InlineCompaction(rest, untagged, Command.OPTIMIZE),)

    def _stage(self, action: Action, at_ms: int) -> None:
        raise ValueError(NO_REWRITE)

    def _execute(self, action: Action, prepared: None, tag: Tag) -> DataFrame | None:
        conf, target_bytes = {commands.TAG_CONF: str(tag)}, self._spec.target_file_size_bytes
        match action:
            case Native(command=Command.DELTA_RS):
                cores = self._spark.sparkContext.defaultParallelism
                delta_rs.compact(self._location, action, tag, self._codec, cores)
            case Native(command=Command.REPARTITION):
                commands.repartition(self._spark, self._name, self._location, action, conf)
            case Native(command=Command.VACUUM):
                keep_from_ms = int(action.arguments["older_than_at_ms"])
                commands.vacuum(self._spark, self._location, self._delete_before_ms(keep_from_ms), conf)
            case Native() | Compact():
                return commands.optimize(self._spark, self._name, action, target_bytes, conf)
            case Rewrite():
                raise ValueError(NO_REWRITE)
        return None

    def _answer(self, answers: list[DataFrame]) -> Mapping[str, int]:
        return commands.answer_of(answers)

    def _delete_before_ms(self, keep_from_ms: int) -> int:
        """The real time before which files had left the table that no version kept by scenario time needs."""
        needed = [real_ms for at_ms, real_ms in self._removals_ms if at_ms >= keep_from_ms]
        gone = [real_ms for at_ms, real_ms in self._removals_ms if at_ms < keep_from_ms]
        return min(needed, default=max(gone, default=0) + 1)

    def sibling(self, name: str) -> "DeltaEngine":
        """Its table has the same name in another namespace, so that probes run on it unchanged."""
        return DeltaEngine(self._spark, self._meter, self._folder, self._spec, f"{self._namespace}_{name}")

    def _drop(self) -> None:
        self._spark.sql(f"DROP TABLE IF EXISTS {self._name}")
        self._forget()
        path, system = file_system(self._spark, self._location)
        system.delete(path, True)

    def _forget(self) -> None:
        path, _ = file_system(self._spark, self._location)
        logs = java_class(self._spark, "org.apache.spark.sql.delta.DeltaLog")
        logs.invalidateCache(self._spark._jsparkSession, path)

    def _read(self, at_ms: int) -> TableReading:
        reading = self._log.read()
        if reading.first_removed_ms is not None:
            self._removals_ms.append((at_ms, reading.first_removed_ms))
        all_bytes, metadata_bytes = self._log.stored_bytes()
        return TableReading(reading.live, reading.versions, all_bytes - metadata_bytes, metadata_bytes)


@contextmanager
def open_delta(settings: EngineSettings) -> Iterator[DeltaEngine]:
    """An engine with its own Spark session; both end with the block."""
    jars = runtime.jars(NAME, settings.versions)
    spark = start_session(settings.spark, jars, session_conf(), settings.folder)
    try:
        folder = settings.folder / "warehouse"
        yield DeltaEngine(spark, Meter(spark, settings.spark), folder, settings.table)
    finally:
        stop_session(spark, keeps_jvm=settings.spark.shares_jvm)
