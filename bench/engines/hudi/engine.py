"""Apache Hudi on Spark: real tables and Hudi's own table services."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from bench.engines import runtime
from bench.engines.contract import (
    TABLE_ID,
    EngineSettings,
    InlineCompaction,
    TableSpec,
    Tag,
    Version,
    application_of,
)
from bench.engines.hudi.folder import TableFolder
from bench.engines.hudi.inline import compacts_itself
from bench.engines.hudi.ledger import NOT_SCHEDULED, PLANNING, HudiLedger
from bench.engines.hudi.lock_server import lock_server
from bench.engines.hudi.services import Services, has_no_lock
from bench.engines.hudi.state import HudiReader
from bench.engines.hudi.table_keys import (
    CAPABILITIES,
    CODEC,
    DAY_COLUMN,
    DEFAULT_CODEC,
    NAME,
    READ_OPTIMIZED,
    is_merge_on_read,
    keys_of,
)
from bench.engines.hudi.write_options import IS_DELETED, session_conf, tag_options, write_options
from bench.engines.ledger import TableReading
from bench.engines.spark.engine import one_line
from bench.engines.spark.folder_engine import FolderEngine
from bench.engines.spark.measured_session import measured_session
from bench.engines.spark.meter import Meter
from bench.engines.spark.queries import file_scan_reader, rows_and_columns
from bench.engines.spark.session import file_system, java_class
from bench.engines.sql import sql_text
from bench.errors import EngineError
from bench.results.values import Cost, ScanWork
from strategies.hudi.commands import METADATA_COMMANDS, Command
from strategies.hudi.preview import NO_REWRITE
from strategies.plan import Action, Native

# A write that meets another one in its file groups, at its end or (a pending clustering) at once.
CONFLICTS = (
    "java.util.ConcurrentModificationException: Cannot resolve conflicts",
    "org.apache.hudi.exception.HoodieClusteringUpdateException",
)


class HudiEngine(FolderEngine[str]):
    """Hudi creates the table with its first commit. A staged plan is known by its instant on the timeline.

    With the address of a lock server other processes may commit to the table too.
    """

    capabilities = CAPABILITIES
    format_name = NAME

    def __init__(
        self,
        spark: SparkSession,
        meter: Meter,
        folder: Path,
        spec: TableSpec,
        namespace: str = "bench",
        lock_address: str | None = None,
    ) -> None:
        ledger = HudiLedger(spec.target_file_size_bytes, spec.properties, spec.stream_epoch_ms)
        names = java_class(spark, "org.apache.hudi.common.fs.FSUtils")
        reader = file_scan_reader("HoodieFileIndex", partial(_opened, names))
        super().__init__(spark, meter, folder, spec, namespace, ledger, PLANNING, reader)
        self._hudi_ledger = ledger
        self._lock_address = lock_address
        self._options = write_options(spec, TABLE_ID, lock_address)
        self._table_folder = TableFolder(self._location)
        self._state_reader = HudiReader(self._table_folder, looks_up_keys=keys_of(spec).index == "simple")
        self._services = Services(spark, self._location, lambda: self._state_reader.schema, self._options)
        self._is_registered = False
        self._scheduled = set[str]()  # the instants of our plans
        self._tried: Tag | None = None  # of the last commit that was begun

    @property
    def _conflicts(self) -> Collection[str]:
        return CONFLICTS if self._lock_address is not None else ()

    def attach(self) -> None:
        """The names of tables are this process's alone.

        Naming a table writes its properties anew, so only who queries it does so, before anybody commits.
        """
        self._create()
        super().attach()
        if self._spark.sparkContext.appName == application_of("reader"):
            self._register()

    def _register(self) -> None:
        """Create the names by which queries read the table, once its first commit exists.

        A COPY_ON_WRITE table has no read-optimised view of its own, because it has base files only.
        """
        if self._is_registered or self._ledger.version is None:
            return
        own = " OPTIONS ('hoodie.query.as.ro.table' = 'true')" if is_merge_on_read(self._spec) else ""
        for view, options in ((TABLE_ID, ""), (READ_OPTIMIZED, own)):
            named = f"{self._named(view)} USING hudi{options} LOCATION {sql_text(self._location)}"
            self._spark.sql(f"CREATE TABLE IF NOT EXISTS {named}")
        self._is_registered = True

    @property
    def _codec(self) -> str:
        return self._spec.properties.get(CODEC, DEFAULT_CODEC)

    def _append(self, rows: DataFrame, tag: Tag) -> None:
        self._write(self._with_hudi_columns(rows, "false"), "insert", tag)

    def _change(self, changes: DataFrame, tag: Tag) -> None:
        columns = (*self._spec.schema.names, *self._spec.partitioning.derived)
        marked = self._with_hudi_columns(changes, "op = 'D'").select(*columns, IS_DELETED)
        self._write(marked, "upsert", tag)

    def _with_hudi_columns(self, rows: DataFrame, is_deleted: str) -> DataFrame:
        """Adds the mark of deleted rows, and writes days as Hudi's strategies read them."""
        if DAY_COLUMN in rows.columns:
            rows = rows.withColumn(DAY_COLUMN, F.translate(DAY_COLUMN, "-", "/"))
        return rows.withColumn(IS_DELETED, F.expr(is_deleted))

    def _write(self, rows: DataFrame, operation: str, tag: Tag) -> None:
        """Does nothing if a batch that is done again is in the table already."""
        tried, self._tried = self._tried, tag
        if tried == tag and self._state_reader.has_committed(tag):
            return
        writer = rows.write.format("hudi").mode("append").options(**self._options).options(**tag_options(tag))
        writer.option("hoodie.datasource.write.operation", operation).save(self._location)

    @property
    def _compacts_itself(self) -> bool:
        return compacts_itself(self._spec.properties)

    def _next_is_there(self) -> Callable[[], bool]:
        before = self._table_folder.completed_count()
        return lambda: self._table_folder.completed_count() > before

    def _inline(self, cost: Cost, versions: tuple[Version, ...]) -> InlineCompaction:
        return InlineCompaction(cost, versions, Command.COMPACTION, is_sorted=False)

    def stage(self, action: Action, at_ms: int) -> str:
        if not isinstance(action, Native):
            raise ValueError(NO_REWRITE)
        with self._lock_errors(action):
            instant = self._services.schedule(action, self._spec.target_file_size_bytes)
        if instant:
            self._scheduled.add(instant)
            self._state_reader.requested(instant, at_ms)
        return instant

    def execute(self, action: Action, prepared: str | None, tag: Tag) -> DataFrame | None:
        if not isinstance(action, Native):
            raise ValueError(NO_REWRITE)
        with self._lock_errors(action):
            if action.command in METADATA_COMMANDS:
                self._services.maintain(action)
            elif prepared is None:
                raise ValueError(NOT_SCHEDULED)
            elif prepared:
                self._services.execute(action, prepared, self._spec.target_file_size_bytes)
        return None

    @contextmanager
    def _lock_errors(self, action: Native) -> Iterator[None]:
        """Without the lock the run cannot go on, while any other failure is an outcome of the plan."""
        try:
            yield
        except Py4JJavaError as error:
            if not has_no_lock(error.java_exception):
                raise
            problem = f"cannot lock {self._name} for {action.command}: {one_line(error)}"
            raise EngineError(problem, code="no-lock", path=NAME) from error

    def _attributed(self, version: Version, tag: Tag | None, at_ms: int) -> Version:
        """Table services cannot write a tag, and no version has its application."""
        known = super()._attributed(version, tag, at_ms)
        is_own = known.tag is None and version.id in self._scheduled
        return replace(known, tag=tag) if is_own else known

    def _answer(self, answers: list[DataFrame]) -> Mapping[str, int]:
        return {}

    def sibling(self, name: str) -> "HudiEngine":
        """Its table has the same name in another namespace, so that probes run on it unchanged."""
        namespace = f"{self._namespace}_{name}"
        return HudiEngine(self._spark, self._meter, self._folder, self._spec, namespace, self._lock_address)

    def _drop(self) -> None:
        for view in (TABLE_ID, READ_OPTIMIZED):
            self._spark.sql(f"DROP TABLE IF EXISTS {self._named(view)}")
        path, system = file_system(self._spark, self._location)
        system.delete(path, True)
        self._is_registered = False

    def _forget(self) -> None:
        self._register()
        self._spark._jsparkSession.sessionState().catalog().invalidateAllCachedTables()

    def _read(self, at_ms: int) -> TableReading:
        reading = self._state_reader.read(at_ms)
        self._hudi_ledger.timeline = self._state_reader.timeline
        self._hudi_ledger.pending_groups = self._state_reader.pending_groups
        return reading


def _opened(names: Any, scans: list[Any]) -> ScanWork:
    """Base files of Spark's scans, log files of their slices; `names` is Hudi's (Java) `FSUtils`."""
    slices = [
        one for scan in scans for directory in scan.selectedPartitions() for one in _slices(directory, names)
    ]
    bases = [base_bytes for base_bytes, _ in slices if base_bytes is not None]
    logs = [log_bytes for _, own in slices for log_bytes in own]
    rows, columns_count = rows_and_columns(scans)
    return ScanWork(
        len(bases), len(logs), sum(bases) + sum(logs), None,
        None if logs else rows,  # with log files, of merged rows alone
        columns_count, sum(logs), sum(base_bytes or 0 for base_bytes, own in slices if own),
    )  # fmt: skip


def _slices(directory: Any, names: Any) -> Iterator[tuple[int | None, list[int]]]:
    """The bytes of each slice's base file and log files. A file of a scan represents its slice."""
    slices = directory.values()
    has_slices = slices.getClass().getSimpleName().endswith("HoodiePartitionFileSliceMapping")
    files = directory.files()
    for index in range(files.size()):
        file = files.apply(index)
        own = slices.getSlice(names.getFileId(file.getPath().getName())) if has_slices else None
        if own is None or not own.isDefined():
            yield int(file.getLen()), []
            continue
        base, of_logs = own.get().getBaseFile(), own.get().getLogFiles().iterator()
        logs = []
        while of_logs.hasNext():
            logs.append(int(of_logs.next().getFileSize()))
        yield int(base.get().getFileSize()) if base.isPresent() else None, logs


@contextmanager
def open_hudi(settings: EngineSettings) -> Iterator[HudiEngine]:
    jars = runtime.jars(NAME)
    with measured_session(settings, jars, session_conf()) as (spark, meter), ExitStack() as stack:
        locks = lock_server(spark, settings.folder) if settings.is_shared_table else None
        address = None if locks is None else stack.enter_context(locks)
        yield HudiEngine(spark, meter, settings.folder / "warehouse", settings.table, lock_address=address)
