"""The contract of an engine: what the replay calls, and what it gets back.

An engine executes and never decides. A step returns the table versions it made, each with its own effect,
so that no step is charged for what another writer committed in the meantime. The engine keeps the table
state up to date itself: every method that changes the table also returns an `Observation`, whose cost is
separate from that of the change.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NewType, Protocol

from bench.engines.journal import Journal
from bench.engines.keys import TableKeys
from bench.engines.master import parse_master
from bench.errors import EngineError
from bench.results.records import PlanStatus, RoleId
from bench.results.values import (
    NO_CHANGE,
    NO_COST,
    Change,
    CommitWork,
    Cost,
    MaintenanceWork,
    RewriteWork,
    ScanWork,
    Session,
    TableFigures,
    sum_of_changes,
)
from strategies.plan import Plan
from strategies.preview import PlanPreview
from strategies.series import Files, Run, rows_of, size_of
from strategies.state import DeleteFile, TableState
from workloads.commit import CommitSpec
from workloads.partitioning import Partitioning
from workloads.recorded import RecordedChange
from workloads.schema import ORDERS, Schema

TicketId = NewType("TicketId", int)
TABLE_ID = "orders"  # the name in the SQL of probes
_ROLE = re.compile(r"(writer|compactor|maintainer|reader)(-[a-z0-9]+)?")
ExecutorCpuSource = Literal["processes", "tasks"]
LOAD_STEP = "load"  # the step name in the tag of the initial load
INLINE = "inline"  # the reason of a compaction that a commit ran by itself
TAG_PROPERTY = "compactbench"  # the name that a tag is stored under


@dataclass(frozen=True, slots=True)
class Probe:
    """A timed query."""

    name: str
    sql: str
    primary: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    """One commit of the stream: its shape, and the change-log files that hold its rows.

    With `is_cdc` the rows are changes (`workloads.fold.CHANGE_COLUMNS`), otherwise plain orders.
    """

    spec: CommitSpec
    paths: tuple[Path, ...] = ()
    size_bytes: int = 0
    is_cdc: bool = False


@dataclass(frozen=True, slots=True)
class CommitLayout:
    """The files that a format's writers are expected to write for a commit.

    Delete files include log files. Counts are None if they depend on the files that the table already has.
    """

    data_files_count: int | None
    delete_files_count: int | None = 0
    delete_bytes: int = 0

    @classmethod
    def of_recorded(cls, change: RecordedChange) -> "CommitLayout":
        deletes = [file for file in change.added if not file.is_data]
        data_count = len(change.added) - len(deletes)
        return cls(data_count, len(deletes), sum(file.size_bytes for file in deletes))


@dataclass(frozen=True, slots=True)
class Tag:
    """Identifies the step that made a version; stored in the version, so that any reader can attribute it.

    `role` is the id of a role, such as "writer" or "compactor-2"; `step` is unique in the run, such as
    "commit-12". `rows` is the number of rows that a commit of the stream delivered.
    """

    role: RoleId
    step: str
    at_ms: int
    rows: int = 0

    def __str__(self) -> str:
        """The tag as it is stored in the table: "writer/commit-12/720000/80"."""
        return f"{self.role}/{self.step}/{self.at_ms}/{self.rows}"

    @classmethod
    def parse(cls, text: str) -> "Tag | None":
        """None if the text is not one of our tags."""
        parts = text.split("/")
        if len(parts) != 4 or not _ROLE.fullmatch(parts[0]):
            return None
        if not (parts[2].isdecimal() and parts[3].isdecimal()):
            return None
        return cls(parts[0], parts[1], int(parts[2]), int(parts[3]))

    @classmethod
    def of_commit(cls, spec: CommitSpec, at_ms: int) -> "Tag":
        return cls("writer", LOAD_STEP if spec.is_initial else f"commit-{spec.index}", at_ms, spec.rows)

    @property
    def is_of_writer(self) -> bool:
        return self.role.startswith("writer")

    @property
    def is_stream_commit(self) -> bool:
        """False for the initial load."""
        return self.is_of_writer and self.step != LOAD_STEP


OWN_APPLICATION = "compactbench"


def application_of(role: str) -> str:
    """The name of the Spark application of a role that is a process; formats store it in versions."""
    return f"{OWN_APPLICATION}/{role}"


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a table and its effect: a snapshot, or the metadata that a command wrote without one.

    `id` and `operation` are the format's own; `id` is None if only metadata was written. `tag` is None if the
    command that made the version cannot write one. `rewritten` are the partitions with replaced files, and
    `application` is the id of the application that committed and `application_name` its name; they are None
    if the format does not record them.
    """

    id: str | None
    operation: str
    change: Change
    tag: Tag | None = None
    rewritten: frozenset[str] | None = None
    application: str | None = None
    application_name: str | None = None
    work: CommitWork = field(default_factory=CommitWork)
    maintenance: MaintenanceWork = field(default_factory=MaintenanceWork)


def total_maintenance(versions: Iterable[Version]) -> MaintenanceWork:
    """What the versions removed, as far as any of them states it."""
    works = [version.maintenance for version in versions]
    deleted = [w.deleted_files_count for w in works if w.deleted_files_count is not None]
    expired = [w.expired_versions_count for w in works if w.expired_versions_count is not None]
    return MaintenanceWork(sum(deleted) if deleted else None, sum(expired) if expired else None)


def total_change(versions: Iterable[Version]) -> Change:
    return sum_of_changes(version.change for version in versions)


def change_of(added: Iterable[Run[Any] | DeleteFile], removed: Iterable[Run[Any] | DeleteFile]) -> Change:
    """What a version changed that added and removed these files, apart from metadata.

    Rows are None where a data file does not state them.
    """
    new, new_deletes = _by_kind(added)
    old, old_deletes = _by_kind(removed)
    return Change(
        files_added_count=len(new),
        files_removed_count=len(old),
        delete_files_added_count=len(new_deletes),
        delete_files_removed_count=len(old_deletes),
        added_bytes=size_of(new) + sum(delete.size_bytes for delete in new_deletes),
        replaced_bytes=size_of(old) + sum(delete.size_bytes for delete in old_deletes),
        added_rows=_known_rows(new),
        replaced_rows=_known_rows(old),
        added_delete_rows=sum(delete.rows for delete in new_deletes),
    )


def metadata_change(size_bytes: int, files_count: int) -> Change:
    """What a version changed that wrote these bytes of metadata, apart from data and delete files."""
    return replace(NO_CHANGE, metadata_bytes=size_bytes, metadata_files_count=files_count)


def _by_kind(files: Iterable[Run[Any] | DeleteFile]) -> tuple[Files[Any], list[DeleteFile]]:
    data, deletes = list[Run[Any]](), list[DeleteFile]()
    for file in files:
        if isinstance(file, DeleteFile):
            deletes.append(file)
        else:
            data.append(file)
    return Files(data), deletes


def _known_rows(files: Files[Any]) -> int | None:
    return rows_of(files) if all(run.first.has_rows_count for run in files.runs) else None


@dataclass(frozen=True, slots=True)
class Observation:
    """The table at one version (None before the first one), and the cost of reading it.

    `rewritten` are the partitions in which files have been removed since the last observation; after a plan,
    those in which the plan has removed some, and None if others have, too.
    """

    cost: Cost
    version: str | None
    table: TableFigures
    rewritten: frozenset[str] | None = frozenset()


@dataclass(frozen=True, slots=True)
class InlineCompaction:
    """A compaction that a commit ran by itself and waited for. The commit's own cost excludes it.

    Its versions do not carry the tag of the commit.
    """

    cost: Cost
    versions: tuple[Version, ...]
    action: str  # the format's own command, as the decision log names it
    is_sorted: bool | None = None  # whether rows were ordered by value; None if unknown
    work: RewriteWork = field(default_factory=RewriteWork)


@dataclass(frozen=True, slots=True)
class CommitOutcome:
    """A visible commit. Its cost excludes `prepare_s`, for reading, splitting and caching the batch."""

    cost: Cost
    prepare_s: float
    versions: tuple[Version, ...]
    observed: Observation
    compactions: tuple[InlineCompaction, ...] = ()
    work: CommitWork = field(default_factory=CommitWork)

    @property
    def change(self) -> Change:
        """The change of the commit without its inline compactions."""
        return total_change(self.versions)


@dataclass(frozen=True, slots=True)
class QueryOutcome:
    """One execution of a probe, and what its scans had to open."""

    cost: Cost
    planning_s: float
    execution_s: float
    work: ScanWork


@dataclass(frozen=True, slots=True)
class Ticket:
    """An accepted plan, pending until it is completed.

    `preview` is what our own planner expects of each action, given the table at scheduling. `staging_s`
    are the wall seconds of staging, which the cost of the outcome includes. `expected` is the modelled cost
    until it can commit, zero where that is not known. `executor` None is the engine's own.
    """

    id: TicketId
    plan: Plan
    preview: PlanPreview
    scheduled_at_ms: int
    due_at_ms: int
    staging_s: float = 0.0
    executor: str | None = None
    expected: Cost = NO_COST


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a plan. `status` is ok, noop (nothing was committed), vetoed or failed (with an `error`).

    `answer` holds the counts that the format's own commands returned, by name.
    """

    status: PlanStatus
    cost: Cost
    versions: tuple[Version, ...]
    observed: Observation
    error: str | None = None
    answer: Mapping[str, int] = field(default_factory=dict)
    work: RewriteWork = field(default_factory=RewriteWork)
    maintenance: MaintenanceWork = field(default_factory=MaintenanceWork)

    @property
    def change(self) -> Change:
        return total_change(self.versions)


@dataclass(frozen=True, slots=True)
class TableSpec:
    """How to create a table. `properties` are the format's own and override the target file size.

    `keys` is [table] of the scenario, for the keys that only its format has; None means their defaults.
    `files_per_commit` None means as many writer tasks as the workload specifies, and `upsert_mode` None the
    format's default. `stream_epoch_ms` is scenario time 0 in the calendar of the stream's dates, in
    milliseconds since 1970 UTC; None if that is unknown.
    """

    target_file_size_bytes: int
    partitioning: Partitioning = field(default_factory=Partitioning)
    keys: TableKeys | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    files_per_commit: int | None = None
    upsert_mode: str | None = None
    schema: Schema = ORDERS
    stream_epoch_ms: int | None = None


@dataclass(frozen=True, slots=True)
class SparkSettings:
    """The master, the driver's memory (all the memory on a local master) and further configuration.

    `executor_cpu` is the source of the CPU of executors outside the driver. `staging` is a folder that they
    share with the driver if they do not see its file system: it is removed when the session ends, and noted
    in `staging_journal` until then. A `role` that is a thread gets a session of the application that runs in
    this process; None opens an application.
    """

    master: str = "local[2]"
    driver_memory_bytes: int = 4 * 2**30
    conf: Mapping[str, str] = field(default_factory=dict)
    executor_cpu: ExecutorCpuSource = "processes"
    staging: str | None = None
    staging_journal: Journal | None = None
    application: str = OWN_APPLICATION
    counts_run_delay: bool = False
    role: str | None = None

    @property
    def is_local(self) -> bool:
        """Tasks run inside the driver's own process."""
        return parse_master(self.master).kind == "local"

    @property
    def is_on_this_machine(self) -> bool:
        """All executors run on the machine of the driver."""
        return parse_master(self.master).kind != "cluster"


CATALOG_KINDS = frozenset({"type", "catalog-impl"})  # properties that select a catalog


@dataclass(frozen=True, slots=True)
class CatalogSettings:
    """Where tables are registered: in the default catalog within the run's work folder, or in a shared one.

    `properties` configure the shared catalog, or override those of the default one, such as its cache. In a
    shared catalog the namespaces of the run are noted in the `journal` until they are dropped.
    """

    # A namespace of the catalog's own name would be ambiguous to stored procedures, which take
    # `bench.orders` for table `orders` of a catalog `bench`.
    name: str = "lake"
    namespace: str = "bench"
    properties: Mapping[str, str] = field(default_factory=dict)
    journal: Journal | None = None

    @property
    def is_shared(self) -> bool:
        """The catalog is the user's and outlives the run."""
        return self.journal is not None


@dataclass(frozen=True, slots=True)
class Cores:
    """Cores of the writer, the compactor and the reader. On a local master one process does all three."""

    writer: int = 2
    compactor: int = 2
    reader: int = 2


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Everything an engine needs to open: its work folder, the table to create, and the resources.

    `spark` and `catalog` are for real tables, `cores` and `coefficients` for simulated ones. `coefficients`
    None means the file that ships with the format. `is_jvm_warm`: a simulated JVM has compiled its code
    before the stream begins; otherwise it is as new as that of a real run. `core_speed` is relative to the
    cores of the coefficients. `has_real_clock`: simulated compactions take scenario time, and commit what
    they read when they began. `compaction_memory_bytes` bounds executors without Spark; None is their
    default. On a shared table other roles commit, too; an engine that `only_reads` such a table does not.
    """

    folder: Path
    table: TableSpec
    spark: SparkSettings = field(default_factory=SparkSettings)
    catalog: CatalogSettings = field(default_factory=CatalogSettings)
    cores: Cores = field(default_factory=Cores)
    coefficients: Path | None = None
    is_jvm_warm: bool = False
    core_speed: float = 1.0
    has_real_clock: bool = False
    compaction_memory_bytes: int | None = None
    scratch: Path | None = None
    is_shared_table: bool = False
    only_reads: bool = False

    @property
    def scratch_folder(self) -> Path:
        return self.scratch or self.folder


class CommitConflictError(EngineError):
    """A commit that the format refused, because of what others have committed since it began.

    Nothing of it is in the table. `reason` is the format's, and `cost` what it took.
    """

    def __init__(self, step: str, reason: str, cost: Cost) -> None:
        super().__init__(f"{step} conflicts with what others have committed: {reason}", code="conflict")
        self.reason, self.cost = reason, cost


class Table(Protocol):
    """One table: its state, its versions, and the commits of the stream."""

    table_id: str

    def create(self) -> None:
        """Create the empty table."""

    def begin(self, batch: Batch) -> None:
        """Begin a commit, which `commit` ends; plans that are completed in between come before it.

        Only a simulation needs to be told: a real commit begins and ends within `commit`. Raises
        CommitConflictError if a pending plan keeps it from committing.
        """

    def commit(self, batch: Batch, at_ms: int) -> CommitOutcome:
        """Raises CommitConflictError if it lost against what others have committed."""

    def state(self, at_ms: int) -> TableState:
        """The table as a planner sees it, valid until the next change. Does no I/O.

        Without queries and compactions, whose history the replay keeps.
        """

    def dump(self, folder: Path) -> None:
        """Write the table's payload columns to Parquet files in `folder`, with the codec of its own files.

        They are as few and as large as compacted ones, up to the target size each.
        """

    def drop(self) -> None:
        """Remove the table and its files."""


class Prober(Protocol):
    """Queries one table."""

    # By which a probe is run, in this order; planners see the last one's latency.
    sessions: tuple[Session, ...]

    def query(self, probe: Probe, session: Session = "new") -> QueryOutcome:
        """Run a probe once and read its whole result.

        A new session has read nothing of the table's metadata. A long-lived one runs the probe on a version
        that it has queried before, so the new one has to have run first.
        """

    def make_control(self, probe: Probe, batches: Sequence[Batch]) -> None:
        """Commit `batches` to the table of the control query, which runs `probe` and never changes again.

        Does nothing if the engine has no control query.
        """

    def drop_control(self) -> None:
        """Remove the table of the control query and its files, if there is one."""

    def control(self) -> Cost | None:
        """Run the control query: constant work through the same code as the probe.

        Its cost reflects the machine and the runtime, such as a compiler that warms up, not the table. None
        if the engine has no control query, and before `make_control`.
        """


class Compactor(Protocol):
    """Executes plans on one table, with the executor that a rule chooses (`Rule.executor`)."""

    capabilities: frozenset[str]  # of its own executor: members of `Capability`, names of native commands

    def schedule(self, plan: Plan, at_ms: int, due_at_ms: int, executor: str | None = None) -> Ticket:
        """Accept a plan. An explicit rewrite reads and writes its files now and commits on `complete`.

        `executor` None is the engine's own.
        """

    def complete(self, ticket: Ticket, at_ms: int) -> Outcome:
        """Execute the plan, or commit what was prepared. Refusals and conflicts are outcomes, not errors."""


class Engine(Table, Prober, Compactor, Protocol):
    """A table of one format in one mode. Raises EngineError when a step that must work fails."""

    def sibling(self, name: str) -> "Engine":
        """An engine of the same kind for another, throw-away table."""


class SharedEngine(Engine, Protocol):
    """An engine on a table that other roles commit to as well."""

    def attach(self) -> None:
        """Begin with a table that another role has created."""

    def refresh(self, at_ms: int) -> Observation:
        """Read what has been committed since the last look; the table now."""
