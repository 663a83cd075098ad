"""The common part of Delta's and Hudi's engines: a table per folder, and commits that may compact."""

import threading
from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from pyspark.sql import DataFrame, SparkSession

from bench.engines.contract import TABLE_ID, Batch, InlineCompaction, TableSpec, Tag, Version
from bench.engines.ledger import AnyLedger
from bench.engines.spark import merge
from bench.engines.spark.engine import SparkEngine, Write
from bench.engines.spark.meter import Clocks, Measured, Meter
from bench.engines.spark.queries import ScanReader
from bench.engines.spark.rows import cached, loader, new_rows, with_partition_columns
from bench.engines.spark.session import use_namespace
from bench.engines.spark.staging import staging_of
from bench.engines.tickets import Planning
from bench.results.values import Cost

_CATALOG = "spark_catalog"  # which each of these formats replaces by its own
_INTERVAL_S = 0.005
_Prepared = TypeVar("_Prepared")


class FolderEngine(SparkEngine[_Prepared]):
    """One table in a folder of its own, with a name in Spark's own catalog."""

    def __init__(
        self, spark: SparkSession, meter: Meter, folder: Path, spec: TableSpec, namespace: str,
        ledger: AnyLedger, planning: Planning, reader: ScanReader,
    ) -> None:  # fmt: skip
        self._folder, self._namespace = folder, namespace
        self._location = str(folder / namespace / TABLE_ID)
        super().__init__(spark, meter, self._named(TABLE_ID), spec, ledger, planning, reader)

    def _named(self, table: str) -> str:
        """The full name of a table or view of the namespace."""
        return f"{_CATALOG}.{self._namespace}.{table}"

    def _create(self) -> None:
        self._spark.sql(f"CREATE DATABASE IF NOT EXISTS {_CATALOG}.{self._namespace}")

    def _use(self) -> None:
        use_namespace(self._spark, _CATALOG, self._namespace)

    @property
    @abstractmethod
    def _compacts_itself(self) -> bool:
        """Whether a commit may compact after its own version is visible."""

    @abstractmethod
    def _next_is_there(self) -> Callable[[], bool]:
        """Returns a function that tests whether the table has a version that it does not have now."""

    @abstractmethod
    def _inline(self, cost: Cost, versions: tuple[Version, ...]) -> InlineCompaction:
        """The compaction that a commit ran, named by the format's own command."""

    @abstractmethod
    def _append(self, rows: DataFrame, tag: Tag) -> None: ...

    @abstractmethod
    def _change(self, changes: DataFrame, tag: Tag) -> None:
        """Commit the last change of each key."""

    def _prepare(self, batch: Batch, tag: Tag) -> tuple[Write, DataFrame]:
        write, frame = self._prepare_changes(batch, tag) if batch.is_cdc else self._prepare_rows(batch, tag)
        return (partial(self._watched, write) if self._compacts_itself else write), frame

    def _prepare_rows(self, batch: Batch, tag: Tag) -> tuple[Callable[[], None], DataFrame]:
        """An initial load is not cached, since it may be of any size."""
        rows = new_rows(self._spark, self._spec, batch)
        if batch.spec.is_initial:
            return loader(self._spark, partial(self._append, rows, tag)), rows
        batch_rows = cached(self._spark, rows)
        return partial(self._append, batch_rows, tag), batch_rows

    def _prepare_changes(self, batch: Batch, tag: Tag) -> tuple[Callable[[], None], DataFrame]:
        paths = staging_of(self._spark).readable(batch.paths)
        frame = with_partition_columns(self._spark.read.parquet(*paths), self._spec.partitioning)
        last = merge.prepare(frame, self._spec.files_per_commit)
        return partial(self._change, last, tag), last

    def _watched(self, write: Callable[[], None]) -> Clocks | None:
        """A thread waits for the commit's own version, since a compaction may follow in the same call."""
        with CommitWatch(self._next_is_there(), self._meter.reading) as watch:
            write()
        return watch.reading

    def _split_inline(
        self, committing: Measured, committed: Clocks | None, untagged: tuple[Version, ...]
    ) -> tuple[Cost, tuple[InlineCompaction, ...]]:
        """The time after the commit's version is visible counts as the compaction, if there is one."""
        if not untagged or committed is None:
            return committing.cost, ()
        own = self._meter.between(committing.started, committed)
        rest = self._meter.between(committed, committing.ended)
        return own, (self._inline(rest, untagged),)


class CommitWatch:
    """Around a commit: `reading` are the clocks at which `is_there` first returned True.

    Some formats compact after a commit, in the same call, and do not report when the commit itself ended. A
    thread calls `is_there` every five milliseconds: testing for a file takes far less than 1 % of a core,
    listing a folder of 400 files about 5 %.
    """

    def __init__(self, is_there: Callable[[], bool], read: Callable[[], Clocks]) -> None:
        self._is_there, self._read = is_there, read
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._wait, name="commit-watch")
        self.reading: Clocks | None = None

    def _wait(self) -> None:
        while not self._is_there():
            if self._ended.wait(_INTERVAL_S):
                return
        self.reading = self._read()

    def __enter__(self) -> "CommitWatch":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
