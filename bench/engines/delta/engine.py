"""Delta Lake on Spark: real tables and Delta's own commands."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from bench.engines import runtime
from bench.engines.contract import (
    TABLE_ID,
    Batch,
    CommitConflictError,
    CommitOutcome,
    EngineSettings,
    InlineCompaction,
    TableSpec,
    Tag,
    Version,
)
from bench.engines.delta import commands
from bench.engines.delta.delta_rs import DeltaRs
from bench.engines.delta.ledger import PLANNING, delta_ledger
from bench.engines.delta.properties import (
    AUTO_COMPACT_CONFS,
    may_compact_by_itself,
    session_conf,
    table_properties,
)
from bench.engines.delta.state import DeltaReader
from bench.engines.delta.table_keys import (
    CODEC_CONF,
    DEFAULT_CODEC,
    DELTA_RS,
    NAME,
    REAL_CAPABILITIES,
    clustering_columns_of,
)
from bench.engines.executor import Executors
from bench.engines.ledger import TableReading
from bench.engines.spark.folder_engine import FolderEngine
from bench.engines.spark.measured_session import measured_session
from bench.engines.spark.meter import Meter
from bench.engines.spark.queries import Scan, file_scan_reader, rows_and_columns
from bench.engines.spark.rows import column_names, create_statement
from bench.engines.spark.session import file_system, java_class
from bench.engines.sql import sql_text
from bench.errors import EngineError
from bench.results.values import Cost, ScanWork
from strategies.delta.commands import NO_REWRITE, Command
from strategies.plan import Action, Compact, Native, Rewrite

_SCANNED_FILES = "numTargetFilesAfterSkipping"  # of MergeIntoCommand of delta-spark 3.3.2
_CHANGED_ROWS = ("numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted")  # likewise
NAMESPACE = "bench"

# Source: the subclasses of DeltaConcurrentModificationException in DeltaErrors of delta-spark 3.3.2. They are
# thrown before a version is written.
CONFLICTS = tuple(
    f"io.delta.exceptions.{name}Exception"
    for name in (
        "ConcurrentAppend", "ConcurrentDeleteRead", "ConcurrentDeleteDelete", "ConcurrentTransaction",
        "ConcurrentWrite", "MetadataChanged", "ProtocolChanged",
    )
)  # fmt: skip


class DeltaEngine(FolderEngine[None]):
    capabilities = REAL_CAPABILITIES
    format_name = NAME

    def __init__(
        self,
        spark: SparkSession,
        meter: Meter,
        folder: Path,
        spec: TableSpec,
        namespace: str = NAMESPACE,
        is_shared: bool = False,
    ) -> None:
        ledger = delta_ledger(
            spec.target_file_size_bytes, table_properties(spec), clustering_columns_of(spec),
            spec.stream_epoch_ms,
        )  # fmt: skip
        mapper = java_class(spark, "org.apache.spark.sql.delta.util.JsonUtils").mapper()
        reader = file_scan_reader("PreparedDeltaFileIndex", partial(_opened, mapper))
        super().__init__(spark, meter, folder, spec, namespace, ledger, PLANNING, reader)
        self._may_compact = may_compact_by_itself(
            table_properties(spec), {name: spark.conf.get(name, None) for name in AUTO_COMPACT_CONFS}
        )
        self._log = DeltaReader(self._location)
        self._is_shared, self._has_changed = is_shared, True

    @property
    def _conflicts(self) -> Collection[str]:
        return CONFLICTS if self._is_shared else ()

    def commit(self, batch: Batch, at_ms: int) -> CommitOutcome:
        """If others commit, too, the log must have the tag of a commit that is done, and of none that lost.

        Otherwise a version would be missing, or a batch that is done again would be in the table twice. A
        MERGE without effect makes no version.
        """
        self._has_changed = bool(batch.spec.rows)
        try:
            outcome = super().commit(batch, at_ms)
        except CommitConflictError as conflict:
            tag, (_, new) = Tag.of_commit(batch.spec, at_ms), self._observe(at_ms)
            if any(version.tag == tag for version in new):
                why = f"Delta says that it lost ({conflict.reason}), and its version is in the log"
                raise self._untrue(batch, why) from conflict
            raise
        if self._is_shared and self._has_changed and not outcome.versions:
            raise self._untrue(batch, "Delta says that it was done, and no version of the log has its tag")
        return outcome

    def _untrue(self, batch: Batch, why: str) -> EngineError:
        return EngineError(
            f"commit {batch.spec.index} to {self._name}: {why}", code="commit-untrue", path=NAME
        )

    def _create(self) -> None:
        clustering = clustering_columns_of(self._spec)
        by = f"CLUSTER BY ({', '.join(clustering)}) " if clustering else ""
        clauses = f"{by}LOCATION {sql_text(self._location)}"
        properties = table_properties(self._spec)
        super()._create()
        self._spark.sql(create_statement(self._name, self._spec, NAME, properties, clauses))

    @property
    def _codec(self) -> str:
        return str(self._spark.conf.get(CODEC_CONF, DEFAULT_CODEC))

    def _append(self, rows: DataFrame, tag: Tag) -> None:
        rows.write.format("delta").mode("append").option("userMetadata", str(tag)).save(self._location)

    def _change(self, changes: DataFrame, tag: Tag) -> None:
        columns, conf = column_names(self._spec), {commands.TAG_CONF: str(tag)}
        self._merge(changes, columns, conf)

    def _scanned_by(self, plan: Any) -> tuple[int | None, int | None]:
        metrics = Scan(plan, "MERGE").metrics
        self._has_changed = any(metrics.get(name, 0) for name in _CHANGED_ROWS)
        files_count, all_count = metrics.get(_SCANNED_FILES), metrics.get("numTargetFilesBeforeSkipping")
        return files_count, self._ledger.data_rows if files_count == all_count else None

    @property
    def _compacts_itself(self) -> bool:
        return self._may_compact

    def _next_is_there(self) -> Callable[[], bool]:
        return Path(self._log.next_version_path).exists

    def _inline(self, cost: Cost, versions: tuple[Version, ...]) -> InlineCompaction:
        return InlineCompaction(cost, versions, Command.OPTIMIZE)

    def stage(self, action: Action, at_ms: int) -> None:
        raise ValueError(NO_REWRITE)

    def execute(self, action: Action, prepared: None, tag: Tag) -> DataFrame | None:
        conf, target_bytes = {commands.TAG_CONF: str(tag)}, self._spec.target_file_size_bytes
        match action:
            case Native(command=Command.REPARTITION):
                commands.repartition(self._spark, self._name, self._location, action, conf)
            case Native(command=Command.VACUUM):
                keep_from_ms = int(action.arguments["older_than_at_ms"])
                commands.vacuum(self._spark, self._location, self._log.delete_before_ms(keep_from_ms), conf)
            case Native() | Compact():
                return commands.optimize(self._spark, self._name, action, target_bytes, conf)
            case Rewrite():
                raise ValueError(NO_REWRITE)
        return None

    def _other_executors(self) -> Executors:
        cores = self._spark.sparkContext.defaultParallelism
        target_bytes = self._spec.target_file_size_bytes
        return {DELTA_RS: DeltaRs(self._location, target_bytes, self._codec, cores)}

    def _answer(self, answers: list[DataFrame]) -> Mapping[str, int]:
        return commands.answer_of(answers)

    def sibling(self, name: str) -> "DeltaEngine":
        """Its table has the same name in another namespace, so that probes run on it unchanged."""
        namespace = f"{self._namespace}_{name}"
        return DeltaEngine(self._spark, self._meter, self._folder, self._spec, namespace)

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
        return self._log.read(at_ms)


class ReadingDeltaEngine(DeltaEngine):
    """For a role that only reads, in the JVM in which others commit to the table at the same time.

    Delta keeps one log for each path of a table. Its lock is all that makes commits to local files safe from
    each other, so the log of those who commit must not be dropped while they work. A reader does drop its
    log, since a new session has none: it finds the table by a link, and has a log of its own. Source:
    OptimisticTransactionImpl.lockCommitIfEnabled and HDFSLogStore, which locks by itself only if Hadoop's
    file system is the raw local one, of delta 3.3.2.
    """

    def __init__(self, spark: SparkSession, meter: Meter, folder: Path, spec: TableSpec) -> None:
        self._table = folder / NAMESPACE / TABLE_ID
        super().__init__(spark, meter, folder, spec, f"{NAMESPACE}_reader")

    def attach(self) -> None:
        with self._errors(f"find {self._name}"):
            link = Path(self._location)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(self._table.absolute(), target_is_directory=True)
            FolderEngine._create(self)
            self._spark.sql(f"CREATE TABLE {self._name} USING {NAME} LOCATION {sql_text(self._location)}")
        super().attach()


def _opened(mapper: Any, scans: list[Any]) -> ScanWork:
    """The files of Spark's scans as the log describes them, read by Delta's (Java) `mapper` to JSON."""
    files = list[dict[str, Any]]()
    for scan in scans:
        # One call for all files, since each access to a single file takes several.
        files += json.loads(mapper.writeValueAsString(scan.relation().location().preparedScan().files()))
    vectors = [vector for file in files if (vector := file.get("deletionVector")) is not None]
    delete_bytes = sum(vector["sizeInBytes"] for vector in vectors)
    opened_bytes = sum(file["size"] for file in files) + delete_bytes
    rows, columns_count = rows_and_columns(scans)
    return ScanWork(len(files), len(vectors), opened_bytes, None, rows, columns_count, delete_bytes)


@contextmanager
def open_delta(settings: EngineSettings) -> Iterator[DeltaEngine]:
    jars = runtime.jars(NAME)
    with measured_session(settings, jars, session_conf()) as (spark, meter):
        folder, spec = settings.folder / "warehouse", settings.table
        if settings.only_reads:
            yield ReadingDeltaEngine(spark, meter, folder, spec)
        else:
            yield DeltaEngine(spark, meter, folder, spec, is_shared=settings.is_shared_table)
