"""The values that engines return and records store: the cost of a step, its change, and the table after it.

A figure that is not known is None.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import ConfigDict, Field

Count = Annotated[int, Field(ge=0, le=2**53)]  # of rows, files or bytes; floats represent it exactly
Seconds = Annotated[float, Field(ge=0, le=1e12)]  # sums of them are finite, too
Factor = Annotated[float, Field(ge=0, le=1e15, allow_inf_nan=False)]
Session = Literal["new", "long-lived"]  # what queries: see `bench.engines.contract.Prober`
_Number = TypeVar("_Number", int, float)
_Value = TypeVar("_Value", bound=Any)


class _Stored:
    """A value of records, which check what engines have made: what cannot be read must not be written."""

    __slots__ = ()
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", allow_inf_nan=False, revalidate_instances="always"
    )


@dataclass(frozen=True, slots=True)
class Span(_Stored):
    """When a phase of a step began and ended: seconds since the replay began, measured or modelled."""

    started_s: Seconds
    ended_s: Seconds

    @property
    def wall_s(self) -> float:
        return self.ended_s - self.started_s


@dataclass(frozen=True, slots=True)
class SparkWork(_Stored):
    """What Spark ran for a step: jobs, the stages with tasks, and their tasks.

    `read_rows` and `read_bytes` are what tasks read, as far as their readers count it: from files, repeated
    reads of footers included, and from the cached batch of a commit, whose rows are blocks. Hudi's writers
    and services do not count what they read. `shuffled_bytes` were written for other tasks, `spilled_bytes`
    to disk for lack of memory. What tasks write is in `Change`: some writers do not count it.
    """

    jobs_count: Count | None = None
    stages_count: Count | None = None
    tasks_count: Count | None = None
    read_rows: Count | None = None
    read_bytes: Count | None = None
    shuffled_bytes: Count | None = None
    spilled_bytes: Count | None = None

    def __add__(self, other: "SparkWork") -> "SparkWork":
        if other is NO_SPARK_WORK or self is other is UNKNOWN_SPARK_WORK:  # as always in simulations
            return self
        return other if self is NO_SPARK_WORK else _sum_of_fields(self, other)


UNKNOWN_SPARK_WORK = SparkWork()
NO_SPARK_WORK = SparkWork(0, 0, 0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Cost(_Stored):
    """The cost of a step, and its peak use of memory.

    `cpu_s` is process CPU (JVM, Python, children, executors of a cluster) during the step, or of roles that
    share a process, the CPU of their own threads and tasks. Three parts of it are known separately:
    `executor_cpu_s` of the Spark tasks, `jit_cpu_s` of compiler threads and `gc_cpu_s` of garbage collection.
    The rest is planning, commit, the gateway and Python. Older results have costs that are `is_shared`:
    another step of the run overlapped in the same process, and `cpu_s`, its parts and `requests` are of both.

    `peak_rss_bytes` is resident memory of JVM and Python, `peak_heap_bytes` the JVM's heap including garbage.
    `requests` are requests to S3 by kind: GET, HEAD, PUT, POST, LIST and DELETE. `spark` is
    unknown in simulations and in older results. `run_delay_s` is for how long runnable threads waited for a
    core, in seconds of threads; it is known of roles that are processes and work at the same time.
    """

    wall_s: Seconds = 0.0
    cpu_s: Seconds = 0.0
    executor_cpu_s: Seconds = 0.0
    jit_cpu_s: Seconds | None = None
    gc_cpu_s: Seconds | None = None
    peak_rss_bytes: Count | None = None
    peak_heap_bytes: Count | None = None
    is_shared: bool = False
    requests: Mapping[str, Count] | None = None
    spark: SparkWork = UNKNOWN_SPARK_WORK
    run_delay_s: Seconds | None = None

    def __add__(self, other: "Cost") -> "Cost":
        """The cost of both steps: a sum is known if both sides are, a peak is the highest known one."""
        return Cost(
            self.wall_s + other.wall_s,
            self.cpu_s + other.cpu_s,
            self.executor_cpu_s + other.executor_cpu_s,
            _sum(self.jit_cpu_s, other.jit_cpu_s),
            _sum(self.gc_cpu_s, other.gc_cpu_s),
            _highest(self.peak_rss_bytes, other.peak_rss_bytes),
            _highest(self.peak_heap_bytes, other.peak_heap_bytes),
            self.is_shared or other.is_shared,
            _sum_by_kind(self.requests, other.requests),
            self.spark + other.spark,
            self._delay_s_with(other),
        )

    def _delay_s_with(self, other: "Cost") -> float | None:
        """What took no time has waited for nothing."""
        if not self.wall_s:
            return other.run_delay_s
        return _sum(self.run_delay_s, other.run_delay_s) if other.wall_s else self.run_delay_s

    @property
    def mean_cores(self) -> float:
        """The cores that the step used on average; 0 if it took no time."""
        return self.cpu_s / self.wall_s if self.wall_s else 0.0

    def on_cores(self, speed: float) -> "Cost":
        """The cost on cores that are so many times as fast."""
        if speed == 1:
            return self
        return replace(
            self,
            wall_s=self.wall_s / speed,
            cpu_s=self.cpu_s / speed,
            executor_cpu_s=self.executor_cpu_s / speed,
            jit_cpu_s=None if self.jit_cpu_s is None else self.jit_cpu_s / speed,
        )

    @property
    def own_cpu_s(self) -> float | None:
        """The CPU of the step; None if it cannot be separated from the CPU of another step."""
        return None if self.is_shared else self.cpu_s


def _sum(left: _Number | None, right: _Number | None) -> _Number | None:
    return None if left is None or right is None else left + right


def _sum_of_fields(left: _Value, right: _Value) -> _Value:
    """The sum of two values with the same fields, each of which is a number or unknown."""
    names = [one.name for one in fields(left)]
    added: _Value = type(left)(*(_sum(getattr(left, name), getattr(right, name)) for name in names))
    return added


def _sum_by_kind(left: Mapping[str, int] | None, right: Mapping[str, int] | None) -> Mapping[str, int] | None:
    return None if left is None or right is None else dict(Counter(left) + Counter(right))


def _highest(left: int | None, right: int | None) -> int | None:
    return max((peak for peak in (left, right) if peak is not None), default=None)


# The cost of doing nothing, whose sums are all known.
NO_COST = Cost(jit_cpu_s=0.0, gc_cpu_s=0.0, requests={}, spark=NO_SPARK_WORK)


@dataclass(frozen=True, slots=True)
class Change(_Stored):
    """What one or more table versions added and removed."""

    files_added_count: Count = 0  # data files
    files_removed_count: Count = 0
    delete_files_added_count: Count = 0
    delete_files_removed_count: Count = 0
    added_bytes: Count = 0  # data and delete files
    replaced_bytes: Count = 0  # of the data and delete files that were replaced or dropped
    metadata_bytes: Count = 0
    metadata_files_count: Count = 0
    added_rows: Count | None = None  # of the data files that were added, deleted rows included
    replaced_rows: Count | None = None
    added_delete_rows: Count | None = None  # keys and positions in the delete files that were added

    def __add__(self, other: "Change") -> "Change":
        return Change(
            self.files_added_count + other.files_added_count,
            self.files_removed_count + other.files_removed_count,
            self.delete_files_added_count + other.delete_files_added_count,
            self.delete_files_removed_count + other.delete_files_removed_count,
            self.added_bytes + other.added_bytes,
            self.replaced_bytes + other.replaced_bytes,
            self.metadata_bytes + other.metadata_bytes,
            self.metadata_files_count + other.metadata_files_count,
            _sum(self.added_rows, other.added_rows),
            _sum(self.replaced_rows, other.replaced_rows),
            _sum(self.added_delete_rows, other.added_delete_rows),
        )


NO_CHANGE = Change(added_rows=0, replaced_rows=0, added_delete_rows=0)  # of data; the start of a sum


def sum_of_changes(changes: Iterable[Change]) -> Change:
    return sum(changes, NO_CHANGE)


@dataclass(frozen=True, slots=True)
class LiveFiles(_Stored):
    """Counts and sizes of the live files of a table at one version."""

    data_files_count: Count
    live_bytes: Count  # data and delete files
    rows: Count | None = None  # in the data files, deleted rows included
    delete_files_count: Count = 0  # delete and log files
    delete_rows: Count | None = 0  # keys of equality deletes, positions of other delete files
    equality_files_count: Count | None = None  # of the delete files; None if the format has no such files


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFigures(LiveFiles):
    """A table at one version: its live files, and everything on storage.

    The keys of the mappings are partitions; None if there are too many to name.
    """

    storage_bytes: Count  # all files of the table, old versions and metadata included
    metadata_storage_bytes: Count
    oldest_delete_at_ms: Count | None = None  # scenario time of the oldest delete file; None without any
    delete_bytes_by_partition: Mapping[str, Count] | None = None  # partitions that have delete files
    data_bytes_by_partition: Mapping[str, Count] | None = None

    @property
    def live(self) -> LiveFiles:
        return LiveFiles(
            self.data_files_count,
            self.live_bytes,
            self.rows,
            self.delete_files_count,
            self.delete_rows,
            self.equality_files_count,
        )

    def without_partitions_above(self, limit: int) -> "TableFigures":
        """The figures without the mappings that name more than `limit` partitions."""
        deletes, data = self.delete_bytes_by_partition, self.data_bytes_by_partition
        if max(len(deletes or ()), len(data or ())) <= limit:
            return self
        return replace(
            self,
            delete_bytes_by_partition=None if len(deletes or ()) > limit else deletes,
            data_bytes_by_partition=None if len(data or ()) > limit else data,
        )


@dataclass(frozen=True, slots=True)
class ScanWork(_Stored):
    """What the scans of a query opened; None if the format's reader does not report it.

    `read_rows` are the rows of data files that scans read, deleted ones included: in a simulation all rows of
    the opened files, on real tables without those of skipped row groups. `columns_count` adds up the table's
    columns that each scan reads for the query. `delete_bytes` is the part of `opened_bytes` in delete files,
    and `merged_bytes` the part in Hudi's base files whose rows the reader merges with those of log files.
    """

    files_count: Count | None = None
    delete_files_count: Count | None = None  # each delete file once for each data file it applies to
    opened_bytes: Count | None = None
    metadata_files_count: Count | None = None
    read_rows: Count | None = None
    columns_count: Count | None = None
    delete_bytes: Count | None = None
    merged_bytes: Count | None = None


@dataclass(frozen=True, slots=True)
class CommitWork(_Stored):
    """What a commit did besides the files it wrote and replaced, which are in its `Change`.

    `partitions_count` are the partitions with new files. A MERGE scans files for the rows that it changes;
    other commits scan none, and their figures are None. `checkpointed_files_count` are the files in the
    checkpoint of Delta's log that the commit wrote, tombstones included, 0 without a checkpoint.
    `looked_up_files_count` are the base files whose keys Hudi's index read. Both are None in other formats.
    """

    partitions_count: Count | None = None
    scanned_files_count: Count | None = None
    scanned_rows: Count | None = None  # deleted ones included
    checkpointed_files_count: Count | None = None
    looked_up_files_count: Count | None = None


@dataclass(frozen=True, slots=True)
class MaintenanceWork(_Stored):
    """What maintenance removed: data and delete files from storage, and versions that readers had."""

    deleted_files_count: Count | None = None
    expired_versions_count: Count | None = None


# How far beyond the greatest measured amount of work times may be extrapolated.
BEYOND_MAX = 3.0


@dataclass(frozen=True, slots=True)
class BeyondFit(_Stored):
    """What a simulation priced beyond what its coefficients were fitted to.

    `unfitted_operations` had no measured step. `extrapolated` amounts of work were greater than any measured,
    by operation and coefficient: "query s_per_file": 4.2 is 4.2 times the greatest measured number of files.
    `unmeasured` are those of which no measured step had any; None in runs of earlier versions.
    """

    unfitted_operations: tuple[str, ...] = ()
    extrapolated: Mapping[str, Factor] = field(default_factory=dict)
    unmeasured: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class RewriteWork(_Stored):
    """What a compaction rewrites and converts, by the preview of its plan; None without a preview.

    The files, rows and bytes read are those of data files that are rewritten, in groups; each task writes a
    file. Converted data files stay, and only their keys are read. Delete files count once for each rewritten
    or converted data file they apply to, with their keys or positions as `applied_delete_rows`. What the
    compaction wrote is in its `Change`.
    """

    groups_count: Count | None = None
    tasks_count: Count | None = None
    read_files_count: Count | None = None
    read_rows: Count | None = None
    read_data_bytes: Count | None = None
    converted_files_count: Count | None = None
    converted_rows: Count | None = None
    applied_delete_files_count: Count | None = None
    applied_delete_rows: Count | None = None
    applied_delete_bytes: Count | None = None

    def __add__(self, other: "RewriteWork") -> "RewriteWork":
        return other if self is NO_REWRITE_WORK else _sum_of_fields(self, other)


NO_REWRITE_WORK = RewriteWork(0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
