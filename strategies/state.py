"""Table state: everything that a planner may know about a table, whatever its format.

A format that needs more (a sequence number, a partition spec, a file group) extends these classes in
`strategies/<format>/files.py`. A state is a read-only view: its owner, an engine's ledger, updates it
incrementally, so `data_files` may be a live view that is valid only until the next commit.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeVar, cast

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB

OWN_EXECUTOR = "spark"  # the name of the executor of plans that the engine itself is

_DAY_MS = 24 * 60 * 60 * 1000
_UNIX_DAY = date(1970, 1, 1)

Place = tuple[str, int]

_Files = TypeVar("_Files", bound=Collection[Any])
_Derived = TypeVar("_Derived")


class StateError(Exception):
    """A table state that no table of its format can have; not a ValueError, which is an invalid action."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A live data file.

    `partition` is a path such as "city=Oslo/day=2026-01-01". In its values `%` and `/` are percent-encoded,
    null is written `null` and the string "null" `%6Eull`. It is "" in an unpartitioned table.

    `added_at_ms` is the scenario time of the commit that added the file, None if it is unknown. Comparisons
    ignore it, so that a file is equal to itself however its state was read. If the metadata does not say how
    many rows the file has, `has_rows_count` is False and `rows` is 0.

    A file is a run of length 1, see `strategies.series`.
    """

    count: ClassVar[int] = 1
    start: ClassVar[int] = 0
    key_step: ClassVar[int] = 0

    path: str
    size_bytes: int
    rows: int
    partition: str = ""
    added_at_ms: int | None = field(default=None, kw_only=True, compare=False)
    has_rows_count: bool = field(default=True, kw_only=True)

    @property
    def key(self) -> str:
        """Unique in the table."""
        return self.path

    @property
    def place(self) -> Place:
        """The partition and the layout it is of: a merge never mixes files of two places."""
        return self.partition, 0

    @property
    def origin(self) -> str:
        return self.key

    @property
    def first(self) -> Self:
        return self

    def files(self) -> tuple[Self]:
        return (self,)

    def slice(self, start: int, end: int) -> Self:
        return self


@dataclass(frozen=True, slots=True)
class DeleteFile:
    """A live file that marks rows of data files as deleted, or a deletion vector of one data file.

    `partition` and `added_at_ms` are as in `DataFile`.
    """

    count: ClassVar[int] = 1
    start: ClassVar[int] = 0

    path: str
    size_bytes: int
    rows: int
    partition: str = ""
    added_at_ms: int | None = field(default=None, kw_only=True, compare=False)

    @property
    def key(self) -> str:
        """Unique in the table, which the path alone may not be."""
        return self.path

    @property
    def origin(self) -> str:
        return self.key

    def slice(self, start: int, end: int) -> Self:
        return self


@dataclass(frozen=True, slots=True)
class PartitionStats:
    """Totals of one partition, updated incrementally."""

    files_count: int = 0
    size_bytes: int = 0
    rows: int = 0
    delete_files_count: int = 0
    delete_size_bytes: int = 0
    delete_rows: int = 0

    def __add__(self, other: "PartitionStats") -> "PartitionStats":
        return PartitionStats(
            self.files_count + other.files_count,
            self.size_bytes + other.size_bytes,
            self.rows + other.rows,
            self.delete_files_count + other.delete_files_count,
            self.delete_size_bytes + other.delete_size_bytes,
            self.delete_rows + other.delete_rows,
        )


@dataclass(frozen=True, slots=True)
class CommitSeen:
    """A commit of the stream in a table's history."""

    at_ms: int
    files_count: int
    size_bytes: int
    rows: int


@dataclass(frozen=True, slots=True)
class CompactionSeen:
    """A compaction in a table's history, planned at `scheduled_at_ms` and finished at `at_ms`.

    `status` is ok, noop, vetoed or failed. `kind` and `reason` come from the plan; a compaction that a commit
    ran by itself has no kind, and the reason "inline". `query_before_s` and `query_after_s` are the latencies
    of the primary probe around it, in the same tick before and the first one after. They are None if it did
    not run (yet), if nothing was committed, and if a commit waited for the compaction. `executor` is the name
    of what executed it. `replaced` has the totals of the data files that it replaced, by partition, None if
    they are unknown.
    """

    at_ms: int
    status: str
    reason: str
    files_removed_count: int
    files_added_count: int
    replaced_bytes: int
    added_bytes: int
    wall_s: float
    cpu_s: float
    kind: str = ""
    scheduled_at_ms: int | None = None
    query_before_s: float | None = None
    query_after_s: float | None = None
    executor: str | None = None
    replaced: Mapping[str, PartitionStats] | None = None


@dataclass(frozen=True, slots=True)
class ProbeSeen:
    """A run of the primary probe, by a long-lived session where there is one.

    The counts are of the files that it opened, a delete file once for each data file that it applies to; None
    if they are unknown.
    """

    at_ms: int
    latency_s: float
    cpu_s: float
    data_files_count: int | None
    delete_files_count: int | None


@dataclass(frozen=True, slots=True)
class CostPriors:
    """What compactions and queries are expected to cost before any has been seen.

    A compaction costs `fixed_cpu_s`, `cpu_s_per_file` for each data file that it replaces, and
    `cpu_s_per_mib` for each MiB that it reads or writes. A query takes `query_s_per_file` longer for each
    data file that it opens, `query_s_per_million_rows` for the rows that it reads, and `query_s_per_delete`
    for each pair of a data file and a delete file that applies to it. A conversion of such deletes costs
    `conversion_cpu_s`, and `cpu_s_per_delete` for each pair.
    """

    fixed_cpu_s: float
    cpu_s_per_file: float
    cpu_s_per_mib: float
    query_s_per_file: float
    query_s_per_million_rows: float
    query_s_per_delete: float
    conversion_cpu_s: float
    cpu_s_per_delete: float


@dataclass(frozen=True, slots=True)
class PendingPlan:
    """A compaction that is scheduled and not yet complete; no other plan may name its files.

    `paths` are the keys of the files it rewrites, converts or drops. `role` is the id of the role that
    scheduled it.
    """

    scheduled_at_ms: int
    due_at_ms: int
    reason: str
    paths: frozenset[str] = frozenset()
    role: str = "compactor"


class DerivedValues:
    """A cache of values computed from collections of files.

    The cache key is the function and the identity of the collection. A live view keeps its identity while its
    files change, so its owner starts with new `DerivedValues` at each change (`bench.engines.ledger`).
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[Callable[..., Any], int], tuple[object, object]] = {}

    def of(self, compute: Callable[[_Files], _Derived], files: _Files) -> _Derived:
        key = compute, id(files)
        if key not in self._kept:
            # The reference to `files` keeps it alive, so that no later collection can get its id.
            self._kept[key] = files, compute(files)
        return cast(_Derived, self._kept[key][1])


@dataclass(frozen=True, slots=True)
class TableState:
    """A table as a planner sees it at `observed_at_ms`.

    Times are scenario milliseconds since the stream began. `commits`, `compactions` and `probes` are bounded
    histories, oldest first; `commits_total_count` counts every commit of the stream so far. The state of an
    existing table has no history. `executor` is that of the rule that is evaluated, and `cost_priors` are by
    executor, empty if there are none.
    `probe_rate_per_s` is how often readers ask from now to the next commit, None if it is unknown.
    `probe_latency_s` is the latency of the most recent probe, by a long-lived session where there is one,
    which ran `probe_latency_age_ms` ago; both are None until a probe has run.

    `version` is the id of the table version in the format's own terms, such as that of a snapshot; None
    before the first commit. Versions can only be compared for equality. `stream_epoch_ms` is the calendar
    time of scenario time 0, in milliseconds since 1970 UTC, or None. `table_id` identifies the table
    within a run. `note` is the planner's own (`strategies.planner.Answer`).
    """

    observed_at_ms: int
    target_file_size_bytes: int
    data_files: Collection[DataFile] = ()
    delete_files: Collection[DeleteFile] = ()
    partitions: Mapping[str, PartitionStats] = field(default_factory=lambda: MappingProxyType({}))
    commits_total_count: int = 0
    commits: tuple[CommitSeen, ...] = ()
    compactions: tuple[CompactionSeen, ...] = ()
    pending: tuple[PendingPlan, ...] = ()
    probe_rate_per_s: float | None = None
    probe_latency_s: float | None = None
    properties: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    version: str | None = None
    probe_latency_age_ms: int | None = None
    stream_epoch_ms: int | None = None
    derived_values: DerivedValues = field(
        default_factory=DerivedValues, repr=False, compare=False, kw_only=True
    )
    note: object | None = field(default=None, kw_only=True)
    probes: tuple[ProbeSeen, ...] = field(default=(), kw_only=True)
    executor: str = field(default=OWN_EXECUTOR, kw_only=True)
    cost_priors: Mapping[str, CostPriors] = field(default_factory=lambda: MappingProxyType({}), kw_only=True)
    table_id: str = field(default="orders", kw_only=True)

    @property
    def size_bytes(self) -> int:
        """Data and delete files together."""
        return sum(p.size_bytes + p.delete_size_bytes for p in self.partitions.values())

    @property
    def busy(self) -> frozenset[str]:
        """The keys of the files in pending plans, which no other plan may name."""
        return frozenset[str]().union(*(plan.paths for plan in self.pending))

    @property
    def calendar_day(self) -> date | None:
        """The UTC day at `observed_at_ms`, comparable with daily partitions; None if unknown."""
        if self.stream_epoch_ms is None:
            return None
        return _UNIX_DAY + timedelta(days=(self.stream_epoch_ms + self.observed_at_ms) // _DAY_MS)

    def derived(self, compute: Callable[[_Files], _Derived], files: _Files) -> _Derived:
        """`compute(files)`, computed once per version of the table; `files` is a collection of this state.

        `compute` must be a module-level function that depends on nothing but `files`.
        """
        return self.derived_values.of(compute, files)
