"""What every engine on Spark does alike; a format adds how its tables are created, written and read."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, TypeVar

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from bench.engines.contract import (
    LOAD_STEP,
    NO_COST,
    Batch,
    CommitOutcome,
    Observation,
    Outcome,
    Probe,
    QueryOutcome,
    TableSpec,
    Tag,
    Ticket,
    Version,
)
from bench.engines.ledger import AnyLedger
from bench.engines.spark.meter import Meter
from bench.engines.spark.queries import ScanReader, run_query
from bench.engines.tickets import Planning, Staged, Tickets, tag_of
from bench.errors import EngineError
from strategies.plan import Action, Plan, Rewrite
from strategies.state import DataFile, DeleteFile, TableState

TABLE = "orders"  # as the probes call it
_REFUSED = (Py4JJavaError, PySparkException, ValueError)  # what a step that may fail raises
_Prepared = TypeVar("_Prepared")


@dataclass(frozen=True, slots=True)
class TableReading:
    """A table as its metadata shows it: live files by key, and the versions since the reading before.

    Versions are in order. `data_bytes` and `metadata_bytes` are those of all files on storage.
    """

    live: Mapping[str, DataFile | DeleteFile]
    versions: tuple[Version, ...]
    data_bytes: int
    metadata_bytes: int


class SparkEngine(ABC, Generic[_Prepared]):
    """One table on Spark (see the `Engine` contract)."""

    capabilities: frozenset[str]
    format_name: str

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
        self._ledger = ledger
        self._tickets: Tickets[_Prepared] = Tickets(ledger, planning)

    @abstractmethod
    def _create(self) -> None:
        """Make the empty table, and the place it is in the current one, so that the probes find `orders`."""

    @abstractmethod
    def _prepare(self, batch: Batch, tag: Tag) -> tuple[Callable[[], None], DataFrame]:
        """What makes the batch visible, to be timed, and what is cached for it until then."""

    @abstractmethod
    def _stage(self, action: Rewrite) -> _Prepared:
        """Read and write the files of an explicit rewrite; nothing is committed."""

    @abstractmethod
    def _execute(self, action: Action, prepared: _Prepared | None, tag: Tag) -> DataFrame | None:
        """Execute one action, or commit what was staged of it; the command's answer, not yet read."""

    @abstractmethod
    def _answer(self, answers: list[DataFrame]) -> Mapping[str, int]:
        """The counts that commands answered with."""

    @abstractmethod
    def _read(self, at_ms: int) -> TableReading:
        """Read what is new of the table's metadata."""

    @abstractmethod
    def sibling(self, name: str) -> "SparkEngine[_Prepared]":
        """See `Engine.sibling`."""

    @abstractmethod
    def drop(self) -> None:
        """See `Engine.drop`."""

    def create(self) -> None:
        with self._errors(f"create {self._name}"):
            self._create()
        self._observe(at_ms=0)

    def commit(self, batch: Batch, at_ms: int) -> CommitOutcome:
        spec = batch.spec
        if not spec.rows:
            return CommitOutcome(NO_COST, 0.0, (), self._observe(at_ms)[0])
        tag = Tag("writer", LOAD_STEP if spec.is_initial else f"commit-{spec.index}", at_ms, spec.rows)
        with self._errors(f"commit {spec.index} to {self._name}"):
            with self._meter.step() as preparing:
                write, cached = self._prepare(batch, tag)
            with self._meter.step() as committing:
                write()
            cached.unpersist(blocking=True)
        observed, versions = self._observe(at_ms, tag)
        return CommitOutcome(committing.cost, preparing.cost.wall_s, versions, observed)

    def state(self, at_ms: int) -> TableState:
        return self._ledger.state(at_ms)

    def schedule(self, plan: Plan, at_ms: int, due_at_ms: int) -> Ticket:
        ticket, staged = self._tickets.issue(plan, self.capabilities, at_ms, due_at_ms)
        for position, action in enumerate(() if staged.veto else plan.actions):
            if isinstance(action, Rewrite) and staged.error is None:
                self._stage_into(staged, position, action)
        return ticket

    def _stage_into(self, staged: Staged[_Prepared], position: int, action: Rewrite) -> None:
        try:
            with self._meter.step() as staging:
                staged.actions[position] = self._stage(action)
        except _REFUSED as error:
            staged.error = first_line(error)
        staged.cost += staging.cost

    def complete(self, ticket: Ticket, at_ms: int) -> Outcome:
        staged, tag = self._tickets.redeem(ticket), tag_of(ticket, at_ms)
        cost, error, answers = staged.cost, staged.veto or staged.error, list[DataFrame]()
        if error is None:
            with self._meter.step() as acting:
                error = self._execute_all(ticket.plan, staged, tag, answers)
            cost += acting.cost
        with self._meter.step() as answering:
            answer = self._answer(answers)
        takes_no_tag = any(not isinstance(action, Rewrite) for action in ticket.plan.actions)
        observed, versions = self._observe(at_ms, tag, claims_untagged=takes_no_tag)
        observed = replace(observed, cost=observed.cost + answering.cost)
        status = staged.status(error, versions)
        self._tickets.ended(ticket, at_ms, status, versions, cost)
        return Outcome(status, cost, versions, observed, error, answer)

    def _execute_all(
        self, plan: Plan, staged: Staged[_Prepared], tag: Tag, answers: list[DataFrame]
    ) -> str | None:
        """Execute the actions in order until one fails; its error. `answers` are added to."""
        try:
            for position, action in enumerate(plan.actions):
                answer = self._execute(action, staged.actions.get(position), tag)
                if answer is not None:
                    answers.append(answer)
        except _REFUSED as error:
            return first_line(error)
        return None

    def query(self, probe: Probe) -> QueryOutcome:
        with self._errors(f"probe {probe.name!r}"):
            return run_query(self._spark, self._meter, probe.sql, self._reader)

    def dump(self, folder: Path) -> None:
        with self._errors(f"dump {self._name}"):
            self._spark.table(self._name).select(*self._spec.schema.names).write.parquet(f"file://{folder}")

    def _observe(
        self, at_ms: int, tag: Tag | None = None, *, claims_untagged: bool = False
    ) -> tuple[Observation, tuple[Version, ...]]:
        """The table as it stands now, and the versions that the step of `tag` made.

        Those are the ones that carry the tag. A step that called a command of the format, which takes no tag,
        also claims those without any.
        """
        with self._errors(f"read the metadata of {self._name}"), self._meter.step() as reading_cost:
            reading = self._read(at_ms)
            self._ledger.follow(reading.live, at_ms)
        own_tag = tag if claims_untagged else None
        versions = tuple(replace(version, tag=version.tag or own_tag) for version in reading.versions)
        self._ledger.saw_versions(versions)
        storage_bytes = reading.data_bytes + reading.metadata_bytes
        observed = self._ledger.observation(reading_cost.cost, storage_bytes, reading.metadata_bytes)
        return observed, tuple(version for version in versions if tag is not None and version.tag == tag)

    @contextmanager
    def _errors(self, step: str) -> Iterator[None]:
        try:
            yield
        except (Py4JJavaError, PySparkException) as error:
            raise EngineError(f"{self.format_name}: cannot {step}: {first_line(error)}") from error


def first_line(error: Exception) -> str:
    """The first telling line of a Java or Spark error, without the stack trace."""
    if isinstance(error, Py4JJavaError):
        return str(error.java_exception.toString()).splitlines()[0]
    return str(error).splitlines()[0]
