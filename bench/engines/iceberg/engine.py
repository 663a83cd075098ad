"""Apache Iceberg on Spark: real tables, its own commands, and rewrites of exactly the files named."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, DataFrameWriterV2, SparkSession
from pyspark.sql import functions as F  # noqa: N812  the field's usual name

from bench import runtime
from bench.engines.contract import (
    NO_COST,
    Batch,
    CommitOutcome,
    EngineSettings,
    Observation,
    Outcome,
    Probe,
    QueryOutcome,
    TableSpec,
    Ticket,
)
from bench.engines.iceberg import merge as iceberg_merge
from bench.engines.iceberg import upsert as iceberg_upsert
from bench.engines.iceberg.catalog import Catalog
from bench.engines.iceberg.format import DEFAULT_UPSERT_MODE, REAL_CAPABILITIES, format_version_of
from bench.engines.iceberg.procedures import answer_of, call, scoped
from bench.engines.iceberg.rewrite import NO_LIMIT_BYTES, StagedRewrite, commit_rewrite, stage_rewrite
from bench.engines.iceberg.state import IcebergReader
from bench.engines.ledger import Ledger
from bench.engines.spark.session import Meter, file_system, run_query, sql_text, start_session, stop_session
from bench.engines.tickets import Staged, Tickets
from bench.errors import EngineError
from strategies.plan import Compact, Native, Plan, Rewrite
from strategies.state import CommitSeen, TableState

TABLE = "orders"  # as the probes call it
_REFUSED = (Py4JJavaError, PySparkException, ValueError)  # what a step that may fail raises


def table_properties(spec: TableSpec) -> dict[str, str]:
    """Every property that is set when the table is made; the scenario's own win."""
    return {
        "format-version": str(format_version_of(spec)),
        "write.target-file-size-bytes": str(spec.target_file_size_bytes),
        **iceberg_merge.mode_properties(spec.upsert_mode or DEFAULT_UPSERT_MODE),
        **spec.properties,
    }


class IcebergEngine:
    """One Iceberg table in one catalog (see the `Engine` contract)."""

    capabilities = REAL_CAPABILITIES

    def __init__(self, spark: SparkSession, meter: Meter, catalog: Catalog, spec: TableSpec) -> None:
        self._spark, self._meter, self._catalog, self._spec = spark, meter, catalog, spec
        self._namespace = f"{catalog.name}.{catalog.namespace}"
        self._name = f"{self._namespace}.{TABLE}"
        self._reader = IcebergReader(catalog.loader(spark, TABLE))
        self._ledger = Ledger(spec.target_file_size_bytes, table_properties(spec))
        self._tickets: Tickets[StagedRewrite] = Tickets(self._ledger)
        self._snapshot_times: list[tuple[int, int]] = []  # scenario and epoch milliseconds

    def create(self) -> None:
        """Its namespace becomes the current one, so that the probes' `orders` is this table."""
        derived = self._spec.partitioning.derived
        columns = ", ".join(
            [self._spec.schema.ddl(), *(f"{name} {_type_of(sql)}" for name, sql in derived.items())]
        )
        by = f"PARTITIONED BY ({self._spec.partitioning.column})" if self._spec.partitioning.column else ""
        pairs = (f"{sql_text(key)}={sql_text(value)}" for key, value in table_properties(self._spec).items())
        with _engine_errors(f"create {self._name}"):
            self._spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {self._namespace}")
            self._spark.sql(
                f"CREATE TABLE {self._name} ({columns}) USING iceberg {by} TBLPROPERTIES ({', '.join(pairs)})"
            )
            self._spark.sql(f"USE {self._namespace}")
        self._observe(at_ms=0)

    def commit(self, batch: Batch, at_ms: int) -> CommitOutcome:
        if not batch.spec.rows:
            return CommitOutcome(NO_COST, 0.0, self._observe(at_ms))
        with _engine_errors(f"commit {batch.spec.index} to {self._name}"):
            with self._meter.step() as preparing:
                write, cached = self._prepare(batch)
            with self._meter.step() as committing:
                write()
            cached.unpersist(blocking=True)
        observed = self._observe(at_ms)
        added = observed.change
        if not batch.spec.is_initial:
            seen = CommitSeen(at_ms, added.files_added_count, added.added_bytes, batch.spec.rows)
            self._ledger.saw_commit(seen)
        return CommitOutcome(committing.cost, preparing.cost.wall_s, observed)

    def _prepare(self, batch: Batch) -> tuple[Callable[[], None], DataFrame]:
        """What makes the batch visible, to be timed, and what is cached for it until then."""
        paths = [str(path) for path in batch.paths]
        if batch.spec.is_initial:
            return self._prepare_load(paths)
        if not batch.is_cdc:
            rows = self._rows(paths).persist()
            rows.count()
            return self._appender(rows).append, rows
        return self._prepare_changes(self._spark.read.parquet(*paths), batch.spec.writers)

    def _prepare_load(self, paths: list[str]) -> tuple[Callable[[], None], DataFrame]:
        """Not cached, since a load may be of any size, and a file a writer whatever its size.

        Iceberg's writer takes a file for full long before it is, by what it holds uncompressed.
        """
        rows = self._rows(paths)
        return self._appender(rows).option("target-file-size-bytes", str(NO_LIMIT_BYTES)).append, rows

    def _prepare_changes(self, frame: DataFrame, writers: int) -> tuple[Callable[[], None], DataFrame]:
        spec, partitioning = self._spec, self._spec.partitioning
        frame, columns = self._partitioned(frame), (*spec.schema.names, *partitioning.derived)
        if spec.upsert_mode in (None, "equality-delete"):
            changes = iceberg_upsert.prepare(frame, partitioning, spec.files_per_commit or writers)
            return partial(iceberg_upsert.commit, self._spark, self._name, changes, columns), changes.frame
        last = iceberg_merge.prepare(frame, spec.files_per_commit)
        return partial(iceberg_merge.commit, self._spark, self._name, last, columns), last

    def _rows(self, paths: list[str]) -> DataFrame:
        """New rows with their partition columns, one Spark partition a writer."""
        frame = self._spark.read.schema(self._spec.schema.ddl()).parquet(*paths)
        if self._spec.files_per_commit:
            frame = frame.repartition(self._spec.files_per_commit)
        return self._partitioned(frame)

    def _partitioned(self, frame: DataFrame) -> DataFrame:
        """With the columns the table is partitioned by, where the rows do not have them."""
        return frame.withColumns({name: F.expr(sql) for name, sql in self._spec.partitioning.derived.items()})

    def _appender(self, rows: DataFrame) -> DataFrameWriterV2:
        writer = rows.writeTo(self._name).option("distribution-mode", "none")
        return writer.option("fanout-enabled", "true")

    def state(self, at_ms: int) -> TableState:
        return self._ledger.state(at_ms)

    def schedule(self, plan: Plan, at_ms: int, due_at_ms: int) -> Ticket:
        ticket, staged = self._tickets.issue(plan, self.capabilities, at_ms, due_at_ms)
        for position, action in enumerate(() if staged.veto else plan.actions):
            if isinstance(action, Rewrite) and staged.error is None:
                self._stage(action, position, staged)
        return ticket

    def _stage(self, action: Rewrite, position: int, staged: Staged[StagedRewrite]) -> None:
        try:
            with self._meter.step() as staging:
                staged.actions[position] = stage_rewrite(self._spark, self._name, action)
        except _REFUSED as error:
            staged.error = first_line(error)
        staged.cost += staging.cost

    def complete(self, ticket: Ticket, at_ms: int) -> Outcome:
        staged = self._tickets.redeem(ticket)
        cost, error_text, answers = staged.cost, staged.veto or staged.error, list[DataFrame]()
        if error_text is None:
            with self._meter.step() as acting:
                error_text = self._act(ticket.plan, staged, answers)
            cost += acting.cost
        with self._meter.step() as listening:
            answer = answer_of(answers)
        observed = self._observe(at_ms)
        observed = replace(observed, cost=observed.cost + listening.cost)
        status = staged.status(error_text, observed.change)
        self._tickets.ended(ticket, at_ms, status, observed.change, cost)
        return Outcome(status, cost, observed, error_text, answer)

    def _act(self, plan: Plan, staged: Staged[StagedRewrite], answers: list[DataFrame]) -> str | None:
        """Carry out the actions in order until one fails, and what that one said; `answers` are added to."""
        try:
            for position, action in enumerate(plan.actions):
                match action:
                    case Rewrite():
                        commit_rewrite(self._spark, self._name, staged.actions[position])
                    case Compact():
                        answers.append(call(self._spark, self._name, scoped(action)))
                    case Native():
                        older_than_ms = self._older_than_ms(action)
                        answers.append(call(self._spark, self._name, action, older_than_ms))
        except _REFUSED as error:
            return first_line(error)
        return None

    def _older_than_ms(self, action: Native) -> int | None:
        """When the first snapshot that scenario time keeps was really committed."""
        keep_from_ms = action.arguments.get("older_than_at_ms")
        if keep_from_ms is None:
            return None
        kept = [time_ms for at_ms, time_ms in self._snapshot_times if at_ms >= int(keep_from_ms)]
        return min(kept, default=self._snapshot_times[-1][1] if self._snapshot_times else 0)

    def query(self, probe: Probe) -> QueryOutcome:
        with _engine_errors(f"probe {probe.name!r}"):
            return run_query(self._spark, self._meter, probe.sql)

    def dump(self, folder: Path) -> None:
        with _engine_errors(f"dump {self._name}"):
            self._spark.table(self._name).select(*self._spec.schema.names).write.parquet(f"file://{folder}")

    def sibling(self, name: str) -> "IcebergEngine":
        """Its table has the same name in a namespace `name`, so that probes run on it unchanged."""
        catalog = replace(self._catalog, namespace=f"{self._catalog.namespace}_{name}")
        return IcebergEngine(self._spark, self._meter, catalog, self._spec)

    def drop(self) -> None:
        """In the default catalog the files stay until its folder goes: Spark takes a second to purge them."""
        purge = "" if self._catalog.is_own else " PURGE"
        with _engine_errors(f"drop {self._name}"):
            self._spark.sql(f"DROP TABLE IF EXISTS {self._name}{purge}")

    def _observe(self, at_ms: int) -> Observation:
        """Read what is new of the metadata into the ledger, and what the table takes up on storage."""
        with _engine_errors(f"read the metadata of {self._name}"), self._meter.step() as looking:
            reading = self._reader.read()
            self._ledger.follow(reading.live)
            metadata_bytes = self._stored_bytes(f"{reading.location}/metadata")
            data_bytes = self._stored_bytes(f"{reading.location}/data")
        self._snapshot_times += [(at_ms, time_ms) for time_ms in reading.snapshot_times_ms]
        return self._ledger.observation(
            reading.change, looking.cost, data_bytes + metadata_bytes, metadata_bytes
        )

    def _stored_bytes(self, location: str) -> int:
        """Bytes of all files below a location, whatever file system it is on; 0 where there is none."""
        path, system = file_system(self._spark, location)
        return int(system.getContentSummary(path).getLength()) if system.exists(path) else 0


@contextmanager
def open_iceberg(settings: EngineSettings) -> Iterator[IcebergEngine]:
    """An engine with a Spark session of its own; both end with the block."""
    chosen = settings.catalog
    prefix = f"spark.sql.catalog.{chosen.name}"
    overridden = any(key == prefix or key.startswith(f"{prefix}.") for key in settings.spark.conf)
    catalog = Catalog(settings.folder, chosen.name, chosen.namespace, chosen.properties, overridden)
    jars = runtime.jars("iceberg")
    spark = start_session(settings.spark, jars, catalog.spark_conf(), settings.folder)
    try:
        yield IcebergEngine(spark, Meter(spark, settings.spark), catalog, settings.table)
    finally:
        stop_session(spark)


def _type_of(sql: str) -> str:
    """The type a derived column's expression casts to: the workloads write each as CAST(... AS TYPE)."""
    return sql.rstrip(")").rsplit(" AS ", 1)[1]


def first_line(error: Exception) -> str:
    """The first telling line of a Java or Spark error, without the stack trace."""
    if isinstance(error, Py4JJavaError):
        return str(error.java_exception.toString()).splitlines()[0]
    return str(error).splitlines()[0]


@contextmanager
def _engine_errors(step: str) -> Iterator[None]:
    try:
        yield
    except (Py4JJavaError, PySparkException) as error:
        raise EngineError(f"iceberg: cannot {step}: {first_line(error)}") from error
