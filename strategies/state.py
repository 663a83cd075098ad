"""Table state: what a planner may know of a table, and nothing else.

Here is what every format shares. A format that needs more (a sequence number, a partition spec, a file group)
has classes of its own that extend these in `strategies/<format>/files.py`, with a function by which its
planners ask for their state and refuse another format's.

A state is a read-only view. Whoever keeps it (an engine's ledger) updates it incrementally;
`data_files` may therefore be a live view that is valid only until the next commit.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from types import MappingProxyType
from typing import Any, TypeVar, cast

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB

_DAY_MS = 24 * 60 * 60 * 1000
_UNIX_DAY = date(1970, 1, 1)

_Files = TypeVar("_Files", bound=Collection[Any])
_Derived = TypeVar("_Derived")


class StateError(Exception):
    """A table state that no table of its format can have; neither a plan nor its planner is at fault.

    It is no ValueError on purpose, so that code that answers a faulty action cannot take it for one.
    """


@dataclass(frozen=True, slots=True)
class DataFile:
    """A live data file.

    `partition` is a path such as "city=Oslo/day=2026-01-01", `%` and `/` in its values
    percent-encoded, null written `null` (and the text "null" `%6Eull`); it is "" without partitions.
    `added_at_ms` is the scenario time at which the file came into the table, for the output of a compaction
    the time of its commit; None where that is not known. Two readings of one file are equal whatever theirs.
    """

    path: str
    size_bytes: int
    rows: int
    partition: str = ""
    added_at_ms: int | None = field(default=None, kw_only=True, compare=False)

    @property
    def key(self) -> str:
        """What distinguishes the file from all others of the table."""
        return self.path


@dataclass(frozen=True, slots=True)
class DeleteFile:
    """A live file that says which rows of data files are deleted, in the same partition notation.

    Delta's deletion vectors belong here too, each of one data file. Hudi's log files do not, since they hold
    new rows as well: they are to be a collection `log_files` of Hudi's own state.
    """

    path: str
    size_bytes: int
    rows: int
    partition: str = ""

    @property
    def key(self) -> str:
        """What distinguishes the file from all others of the table; the path alone may not."""
        return self.path


@dataclass(frozen=True, slots=True)
class PartitionStats:
    """Sums over one partition, kept incrementally."""

    files_count: int = 0
    size_bytes: int = 0
    rows: int = 0
    delete_files_count: int = 0
    delete_size_bytes: int = 0
    delete_rows: int = 0


@dataclass(frozen=True, slots=True)
class CommitSeen:
    """A commit of the stream, as the history keeps it."""

    at_ms: int
    files_count: int
    size_bytes: int
    rows: int


@dataclass(frozen=True, slots=True)
class CompactionSeen:
    """A finished compaction, as the history keeps it. `status` is ok, noop, vetoed or failed.

    `kind` is the plan's own. `scheduled_at_ms` is when it was decided, `at_ms` when it ended.
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


@dataclass(frozen=True, slots=True)
class PendingPlan:
    """A compaction scheduled and not yet complete; its input files must not be planned again.

    `paths` are the keys of every file it names: rewritten, converted, or dropped deletes.
    """

    scheduled_at_ms: int
    due_at_ms: int
    reason: str
    paths: frozenset[str] = frozenset()


class DerivedValues:
    """Values computed from collections of files, each once.

    A value is kept under the function that computed it and the identity of the collection, which is kept with
    it: a collection with other files has a value of its own. A live view keeps its identity while its files
    change, so whoever keeps one starts new `DerivedValues` at each change (`bench.engines.ledger`).
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[Callable[..., Any], int], tuple[object, object]] = {}

    def of(self, compute: Callable[[_Files], _Derived], files: _Files) -> _Derived:
        """`compute(files)`, from the second time on as kept."""
        key = compute, id(files)
        if key not in self._kept:
            self._kept[key] = files, compute(files)  # holding `files` keeps others from taking its id
        return cast(_Derived, self._kept[key][1])


@dataclass(frozen=True, slots=True)
class TableState:
    """A table as a planner sees it at `observed_at_ms`.

    Times are scenario milliseconds since the stream began. `commits` and `compactions` are bounded
    histories, oldest first; `commits_total_count` counts every commit of the stream so far.
    `probe_latency_s` is that of the last probe there was, which ran `probe_latency_age_ms` ago; both are None
    until one has run.

    `version` is the table version the state is of, in the format's own terms (such as the id of a snapshot).
    Two of them can only be compared for equality; it is None where there is none, as before the first commit.
    `stream_epoch_ms` is where scenario time 0 lies in the calendar of the stream's dates, in milliseconds
    since 1970 UTC; None where that is not known.

    `note` is what the planner noted when its rule last fired; None at first, after a switch of strategies,
    and for planners that note nothing (see `strategies.strategy.Planner`).
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
    probe_rate_per_s: float = 0.0
    probe_latency_s: float | None = None
    properties: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    version: str | None = None
    probe_latency_age_ms: int | None = None
    stream_epoch_ms: int | None = None
    derived_values: DerivedValues = field(
        default_factory=DerivedValues, repr=False, compare=False, kw_only=True
    )
    note: object | None = field(default=None, kw_only=True)

    @property
    def size_bytes(self) -> int:
        """Bytes of all live data and delete files."""
        return sum(p.size_bytes + p.delete_size_bytes for p in self.partitions.values())

    @property
    def calendar_day(self) -> date | None:
        """The UTC day at `observed_at_ms`, comparable with partitions by day; None where it is not known."""
        if self.stream_epoch_ms is None:
            return None
        return _UNIX_DAY + timedelta(days=(self.stream_epoch_ms + self.observed_at_ms) // _DAY_MS)

    def derived(self, compute: Callable[[_Files], _Derived], files: _Files) -> _Derived:
        """`compute(files)`, computed once per version of the table; `files` is a collection of this state.

        `compute` is a function at module level that depends on nothing but `files`. A state made by `replace`
        with other files has values of its own for these, and shares those of the collections it kept.
        """
        return self.derived_values.of(compute, files)
