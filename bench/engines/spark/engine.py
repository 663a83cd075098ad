"""The common part of all engines on Spark. A format adds how its tables are created, written and read."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from py4j.protocol import Py4JJavaError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from bench.engines.contract import (
    OWN_APPLICATION,
    TABLE_ID,
    Batch,
    CommitConflictError,
    CommitOutcome,
    InlineCompaction,
    Observation,
    Outcome,
    Probe,
    QueryOutcome,
    TableSpec,
    Tag,
    Ticket,
    Version,
    application_of,
    total_maintenance,
)
from bench.engines.executor import Executor, Executors
from bench.engines.ledger import AnyLedger, TableReading
from bench.engines.rewrite_work import rewrite_work
from bench.engines.spark import merge
from bench.engines.spark.meter import Clocks, Measured, Meter
from bench.engines.spark.queries import ScanReader, is_query, run_query
from bench.engines.spark.staging import staging_of
from bench.engines.tickets import Planning, Staged, Tickets, tag_of
from bench.errors import EngineError, first_error
from bench.results.records import RoleId
from bench.results.values import NO_COST, CommitWork, Cost, MaintenanceWork, RewriteWork, Session
from strategies.plan import Action, Plan, Rewrite
from strategies.preview import NoPreview, Preview, preview_plan
from strategies.state import TableState

_REFUSED = (Py4JJavaError, PySparkException, ValueError)  # raised where a step is allowed to fail
_Prepared = TypeVar("_Prepared")

# Commits a batch. Returns the clocks at the commit if the call may do more after it.
Write = Callable[[], Clocks | None]


class SparkEngine(ABC, Generic[_Prepared]):
    """One table on Spark (see the `Engine` contract)."""

    capabilities: frozenset[str]
    format_name: str
    sessions: tuple[Session, ...] = ("new", "long-lived")

    def __init__(
        self,
        spark: SparkSession,
        meter: Meter,
        name: str,
        spec: TableSpec,
        ledger: AnyLedger,
        planning: Planning,
        reader: ScanReader,
    ) -> None:
        self._spark, self._meter, self._name, self._spec, self._reader = spark, meter, name, spec, reader
        self.table_id, self.planning = TABLE_ID, planning
        self._ledger = ledger
        self._tickets: Tickets[_Prepared] = Tickets(ledger)
        self._control: tuple[SparkEngine[_Prepared], Probe] | None = None
        self._merged: DataFrame | None = None  # the result of the last MERGE, until its work is read

    @property
    def executors_memory_bytes(self) -> int | None:
        """The memory of the executors now; None if tasks run in the driver."""
        return self._meter.executors_memory_bytes()

    @property
    @abstractmethod
    def _codec(self) -> str:
        """The codec of the table's data files, as Spark's Parquet writer calls it."""

    @abstractmethod
    def _create(self) -> None: ...

    @abstractmethod
    def _use(self) -> None:
        """Make the table's namespace the current one, so that probes find `orders`."""

    @abstractmethod
    def _drop(self) -> None: ...

    @abstractmethod
    def _prepare(self, batch: Batch, tag: Tag) -> tuple[Write, DataFrame]:
        """The function that commits the batch, which is timed, and the frame cached for it until then."""

    @abstractmethod
    def stage(self, action: Action, at_ms: int) -> _Prepared: ...

    @abstractmethod
    def execute(self, action: Action, prepared: _Prepared | None, tag: Tag) -> DataFrame | None:
        """Returns the command's result, not fetched yet."""

    @property
    def _compactor(self) -> RoleId:
        """Who executes plans: one of several compactors, an application or a thread, has its own tags."""
        role = self._meter.role or str(self._spark.sparkContext.appName).removeprefix(application_of(""))
        return role if role.startswith("compactor") else "compactor"

    @property
    def _conflicts(self) -> Collection[str]:
        """Parts of errors by which a commit has lost against those of other processes; see `conflict_in`.

        None in turns, where such an error is one like any other.
        """
        return ()

    def _other_executors(self) -> Executors:
        """The executors besides this engine itself, by the names that rules use."""
        return {}

    def _executor(self, name: str | None) -> Executor[_Prepared]:
        return self if name is None else self._other_executors()[name]

    def _untagged_commit(self, batch: Batch, tag: Tag) -> Tag | None:
        """The tag, if the statement that commits the batch cannot write it into its version."""
        return None

    @abstractmethod
    def _answer(self, answers: list[DataFrame]) -> Mapping[str, int]:
        """The counts that commands returned."""

    @abstractmethod
    def _read(self, at_ms: int) -> TableReading:
        """Read the metadata that is new since the last call."""

    @abstractmethod
    def sibling(self, name: str) -> "SparkEngine[_Prepared]": ...

    def create(self) -> None:
        with self._errors(f"create {self._name}"):
            self._create()
            self._use()
        self._observe(at_ms=0)

    def attach(self) -> None:
        with self._errors(f"find {self._name}"):
            self._use()
        self._observe(at_ms=0)

    def refresh(self, at_ms: int) -> Observation:
        return self._observe(at_ms)[0]

    def begin(self, batch: Batch) -> None:
        """Nothing: the whole commit is in `commit`."""

    def commit(self, batch: Batch, at_ms: int) -> CommitOutcome:
        spec = batch.spec
        if not spec.rows:
            return CommitOutcome(NO_COST, 0.0, (), self._observe(at_ms)[0])
        tag = Tag.of_commit(spec, at_ms)
        with self._errors(f"commit {spec.index} to {self._name}"):
            with self._meter.step() as preparing:
                write, cached = self._prepare(batch, tag)
            try:
                committed, committing = self._committed(write, batch)
            finally:
                cached.unpersist(blocking=True)
            scanned_files_count, scanned_rows = self._scanned()
        observed, new = self._observe(at_ms, self._untagged_commit(batch, tag))
        untagged = tuple(version for version in new if version.tag is None)
        cost, compactions = self._split_inline(committing, committed, untagged)
        versions = _tagged(new, tag)
        work = replace(
            versions[-1].work if versions else CommitWork(),
            scanned_files_count=scanned_files_count,
            scanned_rows=scanned_rows,
        )
        return CommitOutcome(cost, preparing.cost.wall_s, versions, observed, compactions, work)

    def _committed(self, write: Write, batch: Batch) -> tuple[Clocks | None, Measured]:
        """What a write returned, and its measured step. Raises CommitConflictError."""
        measuring = self._meter.step()
        try:
            with measuring as committing:
                return write(), committing
        except (Py4JJavaError, PySparkException) as error:
            reason = conflict_in(one_line(error), self._conflicts)
            if reason is None:
                raise
            step = f"commit {batch.spec.index} to {self._name}"
            raise CommitConflictError(step, reason, committing.cost) from error

    def _merge(self, changes: DataFrame, columns: Sequence[str], conf: Mapping[str, str]) -> None:
        self._merged = merge.commit(self._spark, self._name, changes, columns, conf)

    def _scanned(self) -> tuple[int | None, int | None]:
        """The files and rows that a MERGE has just scanned for rows to change; None for other commits."""
        merged, self._merged = self._merged, None
        return (None, None) if merged is None else self._scanned_by(merge.executed_plan(merged))

    def _scanned_by(self, plan: Any) -> tuple[int | None, int | None]:
        """As `_scanned`, by the physical plan of a MERGE. The ledger is still that of the table before it."""
        return None, None

    def _split_inline(
        self, committing: Measured, committed: Clocks | None, untagged: tuple[Version, ...]
    ) -> tuple[Cost, tuple[InlineCompaction, ...]]:
        """The commit's own cost, and the compactions that it ran by itself, by default none.

        Formats with automatic or inline compaction override this. `committed` is what the write returned, and
        `untagged` are the new versions without the commit's tag.
        """
        return committing.cost, ()

    def state(self, at_ms: int) -> TableState:
        return self._ledger.state(at_ms)

    def schedule(self, plan: Plan, at_ms: int, due_at_ms: int, executor: str | None = None) -> Ticket:
        chosen = self._executor(executor)
        ticket, staged = self._tickets.issue(
            plan, chosen.capabilities, chosen.planning, at_ms, due_at_ms, executor
        )
        for position, action in staged.to_stage(plan, chosen.planning.is_staged):
            try:
                with self._meter.step() as staging:
                    staged.actions[position] = chosen.stage(action, at_ms)
            except _REFUSED as error:
                staged.error = one_line(error)
            staged.cost += staging.cost
        return replace(ticket, staging_s=staged.cost.wall_s)

    def complete(self, ticket: Ticket, at_ms: int) -> Outcome:
        staged, tag = self._tickets.redeem(ticket), tag_of(ticket, at_ms, self._compactor)
        cost, error, answers = staged.cost, staged.veto or staged.error, list[DataFrame]()
        is_executed = error is None
        previews = self._previews(ticket, staged, at_ms) if is_executed else ()
        if is_executed:
            executor = self._executor(ticket.executor)
            with self._meter.step() as acting:
                error = _execute_all(executor, ticket.plan, staged, tag, answers)
            cost += acting.cost
        with self._meter.step() as answering:
            answer = self._answer(answers)
        calls_command = any(not isinstance(action, Rewrite) for action in ticket.plan.actions)
        observed, new = self._observe(at_ms, tag if is_executed and calls_command else None)
        versions = _tagged(new, tag)
        rewritten = rewritten_by(versions, new, observed)
        observed = replace(observed, cost=observed.cost + answering.cost, rewritten=rewritten)
        status = staged.status(error, versions)
        reason = conflict_in(error, self._conflicts) if status == "failed" and error is not None else None
        if reason is not None:
            status, error = "conflict", reason
        work = rewrite_work(previews) if status in ("ok", "noop") else RewriteWork()
        maintenance = self._maintained(versions, answer)
        return Outcome(status, cost, versions, observed, error, answer, work, maintenance)

    def _maintained(self, versions: tuple[Version, ...], answer: Mapping[str, int]) -> MaintenanceWork:
        """What a plan removed from storage, by its versions and the counts that its commands returned."""
        return total_maintenance(versions)

    def _previews(
        self, ticket: Ticket, staged: Staged[_Prepared], at_ms: int
    ) -> tuple[Preview | NoPreview, ...]:
        """The previews of the actions for the table that each is about to find.

        What is not staged takes the table as it is now. An action that follows another one takes what that
        leaves, which nobody has read.
        """
        actions = ticket.plan.actions
        if len(staged.actions) == len(actions) or ticket.preview.version == self._ledger.version:
            previews = ticket.preview.actions
        else:
            planning = self._executor(ticket.executor).planning
            previews = preview_plan(ticket.plan, self.state(at_ms), planning.preview).actions
        if len(actions) > max(1, len(staged.actions)):
            return (NoPreview("an earlier action changes the table"),)
        return previews

    def query(self, probe: Probe, session: Session = "new") -> QueryOutcome:
        with self._errors(f"probe {probe.name!r}"):
            if not is_query(self._spark, probe.sql):
                raise EngineError(
                    "a probe must be a query (SELECT, WITH or VALUES), without a command or a write",
                    code="not-a-query",
                    path=f"probe {probe.name!r}",
                )
            if session == "new":
                self._forget()
            return run_query(self._spark, self._meter, probe.sql, self._reader)

    def _forget(self) -> None:
        """Drop the table's metadata that the session has cached. By default a session caches nothing.

        Otherwise only the first query after a new version would read it, which charges a strategy that has
        compacted and not one that has not.
        """

    def make_control(self, probe: Probe, batches: Sequence[Batch]) -> None:
        control = self.sibling("control")
        self._control = control, probe
        control.create()
        for batch in batches:
            control.commit(batch, batch.spec.at_ms)
        self._use()

    def control(self) -> Cost | None:
        """Runs the probe with the sibling's namespace as the current one; switching is not measured."""
        if self._control is None:
            return None
        control, probe = self._control
        control._use()
        try:
            return control.query(probe).cost
        finally:
            self._use()

    def dump(self, folder: Path) -> None:
        files = max(1, math.ceil(self._ledger.data_bytes / self._spec.target_file_size_bytes))
        with self._errors(f"dump {self._name}"):
            self._forget()
            rows = self._spark.table(self._name).select(*self._spec.schema.names).coalesce(files)
            writer = rows.write.option("compression", self._codec)
            staging_of(self._spark).written(folder, writer.parquet)

    def drop(self) -> None:
        with self._errors(f"drop {self._name}"):
            self._drop()

    def drop_control(self) -> None:
        if self._control is not None:
            self._control[0].drop()
            self._control = None

    def _observe(self, at_ms: int, untagged_as: Tag | None = None) -> tuple[Observation, tuple[Version, ...]]:
        """The table now, and the new versions of any application.

        Some commands cannot write a tag: their step passes its own as `untagged_as`, for new versions of this
        application that have none.
        """
        with self._errors(f"read the metadata of {self._name}"), self._meter.step() as reading_cost:
            reading = self._read(at_ms)
            self._ledger.follow(reading.live, at_ms)
        versions = tuple(self._attributed(version, untagged_as, at_ms) for version in reading.versions)
        self._ledger.saw_versions(versions)
        storage_bytes = reading.data_bytes + reading.metadata_bytes
        cost = replace(reading_cost.cost, requests=None)  # only requests of Spark are counted
        observed = self._ledger.observation(cost, storage_bytes, reading.metadata_bytes)
        return observed, versions

    def _attributed(self, version: Version, tag: Tag | None, at_ms: int) -> Version:
        """Tags an untagged version that this application made.

        Likewise the untagged commit of a writer in another process, which was made before `at_ms`.
        """
        if version.tag is not None:
            return version
        context = self._spark.sparkContext
        if _is_of(context, version):
            return replace(version, tag=tag)
        if version.application_name == application_of("writer"):
            return replace(version, tag=Tag("writer", "commit", at_ms, version.change.added_rows or 0))
        return version

    @contextmanager
    def _errors(self, step: str) -> Iterator[None]:
        try:
            yield
        except (Py4JJavaError, PySparkException) as error:
            raise EngineError(
                f"cannot {step}: {one_line(error)}", code="step-failed", path=self.format_name
            ) from error


def _execute_all(
    executor: Executor[_Prepared], plan: Plan, staged: Staged[_Prepared], tag: Tag, answers: list[DataFrame]
) -> str | None:
    """Execute the actions in order until one fails, and add their results to `answers`; returns the error."""
    try:
        for position, action in enumerate(plan.actions):
            answer = executor.execute(action, staged.actions.get(position), tag)
            if answer is not None:
                answers.append(answer)
    except _REFUSED as error:
        return one_line(error)
    return None


def _is_of(context: SparkContext, version: Version) -> bool:
    """By id and name: the id of a local application is the millisecond in which it began.

    A version of metadata alone has no application, and among roles the maintainer writes it.
    """
    if version.application is None:
        is_maintainer = context.appName == application_of("maintainer")
        return context.appName == OWN_APPLICATION or (is_maintainer and version.id is None)
    return version.application == context.applicationId and version.application_name in (
        None, context.appName,
    )  # fmt: skip


def _tagged(versions: tuple[Version, ...], tag: Tag) -> tuple[Version, ...]:
    """The versions with this tag: another writer may have committed meanwhile."""
    return tuple(version for version in versions if version.tag == tag)


def rewritten_by(
    versions: tuple[Version, ...], new: tuple[Version, ...], observed: Observation
) -> frozenset[str] | None:
    """The partitions in which these of all `new` versions removed files; None if others removed some, too."""
    if not versions:
        return frozenset()
    changes = [version.change for version in new if version not in versions]
    if any(change.files_removed_count or change.delete_files_removed_count for change in changes):
        return None
    return observed.rewritten


def conflict_in(text: str, conflicts: Iterable[str]) -> str | None:
    """Why a commit lost against others', by the text of its error; None if it has none of the `conflicts`.

    The class of an error, with which the words may begin, is no part of the reason.
    """
    found = next((words for words in conflicts if words in text), None)
    if found is None:
        return None
    kind, _, _ = found.partition(": ")
    if not kind.endswith("Exception"):
        return text
    before, _, reason = text.rpartition(f"{kind}: ")
    return reason.removesuffix(")") if before.endswith("(") else reason


def one_line(error: Exception) -> str:
    """A Java or Spark error without its stack trace: its first line, and that of its root cause."""
    if not isinstance(error, Py4JJavaError):
        return first_error(error)
    chain = [error.java_exception]
    while (cause := chain[-1].getCause()) is not None:
        chain.append(cause)
    first, cause = (str(link.toString()).splitlines()[0] for link in (chain[0], chain[-1]))
    return first if cause in first else f"{first} ({cause})"
