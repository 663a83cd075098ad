"""The contract of an engine: what the replay asks of it, and what it answers.

An engine executes and never decides. What a step did to the table is the versions it made, each with its
own effect, so that a step is never charged with what another writer committed meanwhile. The engine keeps
the table state up to date itself: every answer that follows a change carries an `Observation`, whose cost
is not part of the cost of the change.
"""

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Literal, NewType, Protocol, cast, get_args

from bench.keys import TableKeys
from strategies.plan import Plan
from strategies.preview import PlanPreview
from strategies.state import TableState
from workloads.commit import CommitSpec
from workloads.partitioning import Partitioning
from workloads.schema import ORDERS, Schema

TicketId = NewType("TicketId", int)
Role = Literal["writer", "compactor", "maintainer", "reader"]
LOAD_STEP = "load"  # of the initial load
TAG_PROPERTY = "compactbench"  # what a tag is stored under


@dataclass(frozen=True, slots=True)
class Cost:
    """What a step cost: wall seconds, process CPU seconds (JVM, Python, children), CPU seconds of tasks."""

    wall_s: float = 0.0
    cpu_s: float = 0.0
    executor_cpu_s: float = 0.0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(
            self.wall_s + other.wall_s,
            self.cpu_s + other.cpu_s,
            self.executor_cpu_s + other.executor_cpu_s,
        )


NO_COST = Cost()


@dataclass(frozen=True, slots=True)
class Probe:
    """A timed query; its SQL names the table `orders`."""

    name: str
    sql: str
    primary: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    """One commit of the stream: its shape, and where in the change log its rows lie.

    With `is_cdc` they are changes (`workloads.fold.CHANGE_COLUMNS`), else plain orders.
    """

    spec: CommitSpec
    paths: tuple[Path, ...] = ()
    size_bytes: int = 0
    is_cdc: bool = False


@dataclass(frozen=True, slots=True)
class CommitLayout:
    """The files a format's writers are expected to make of a commit.

    `delete_bytes` are those of its delete and log files.
    """

    data_files_count: int
    delete_files_count: int = 0  # delete and log files
    delete_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Change:
    """What one table version added and removed, or several in all; metadata is counted apart."""

    files_added_count: int = 0
    files_removed_count: int = 0
    delete_files_added_count: int = 0
    delete_files_removed_count: int = 0
    added_bytes: int = 0  # data and delete files
    replaced_bytes: int = 0
    metadata_bytes: int = 0
    metadata_files_count: int = 0

    def __add__(self, other: "Change") -> "Change":
        return Change(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


@dataclass(frozen=True, slots=True)
class Tag:
    """What a step of ours writes into the versions it makes, so that every reader knows whose they are.

    `step` names it within the run, as "commit-12". `rows` are those a commit of the stream delivered.
    """

    role: Role
    step: str
    at_ms: int
    rows: int = 0

    def __str__(self) -> str:
        """As it stands in the table: "writer/commit-12/720000/80"."""
        return f"{self.role}/{self.step}/{self.at_ms}/{self.rows}"

    @classmethod
    def parse(cls, text: str) -> "Tag | None":
        """The tag of a text; None where it is none of ours."""
        parts = text.split("/")
        if len(parts) != 4 or parts[0] not in get_args(Role) or not (parts[2] + parts[3]).isdecimal():
            return None
        return cls(cast(Role, parts[0]), parts[1], int(parts[2]), int(parts[3]))

    @property
    def is_stream_commit(self) -> bool:
        """Whether it tags a commit of the stream; the initial load is none."""
        return self.role == "writer" and self.step != LOAD_STEP


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a table and its effect: a snapshot, or the metadata alone where a command makes none.

    `id` and `operation` are the format's own; `id` is None where only metadata was written. `tag` is None
    where the command that made the version takes none.
    """

    id: str | None
    operation: str
    change: Change
    tag: Tag | None = None


def total_change(versions: Iterable[Version]) -> Change:
    """The changes of several versions in all."""
    return sum((version.change for version in versions), Change())


@dataclass(frozen=True, slots=True)
class Observation:
    """The table as it stands at a version (None before the first), and what reading that cost."""

    cost: Cost
    version: str | None
    data_files_count: int
    delete_files_count: int
    live_bytes: int
    rows: int
    storage_bytes: int
    metadata_storage_bytes: int
    delete_rows: int = 0  # in the delete files: keys of equality deletes, positions of the others
    # What the format counts of its delete files besides, by the records' names.
    delete_counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class InlineCompaction:
    """A compaction that a commit ran by itself and waited for; its cost is not in that of the commit."""

    cost: Cost
    versions: tuple[Version, ...]
    action: str  # the format's own command, as the decision log names it


@dataclass(frozen=True, slots=True)
class CommitOutcome:
    """A commit that became visible. Reading, splitting and caching the batch is `prepare_s`, not cost."""

    cost: Cost
    prepare_s: float
    versions: tuple[Version, ...]
    observed: Observation
    compactions: tuple[InlineCompaction, ...] = ()

    @property
    def change(self) -> Change:
        """What its versions changed in all; what its own compactions changed is apart."""
        return total_change(self.versions)


@dataclass(frozen=True, slots=True)
class ScanWork:
    """What the scans of a query had to open; delete files count once per data file.

    None is what a format's reader does not report.
    """

    files_count: int | None = None
    delete_files_count: int | None = None
    opened_bytes: int | None = None
    metadata_files_count: int | None = None


@dataclass(frozen=True, slots=True)
class QueryOutcome:
    """One execution of a probe and the work its scans had."""

    cost: Cost
    planning_s: float
    execution_s: float
    work: ScanWork


@dataclass(frozen=True, slots=True)
class Ticket:
    """A plan accepted, to be completed later; a scheduled one is pending until then.

    `preview` has what each action would do to the table as it stood, by our own planner.
    """

    id: TicketId
    plan: Plan
    preview: PlanPreview
    scheduled_at_ms: int
    due_at_ms: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a plan. `status` is ok, noop (nothing committed), vetoed or failed (with `error`).

    `answer` is what the format's own commands said they did, by their own names.
    """

    status: str
    cost: Cost
    versions: tuple[Version, ...]
    observed: Observation
    error: str | None = None
    answer: Mapping[str, int] = field(default_factory=dict)

    @property
    def change(self) -> Change:
        """What its versions changed in all."""
        return total_change(self.versions)


@dataclass(frozen=True, slots=True)
class TableSpec:
    """How a table is made. `properties` are the format's own and win over the target file size.

    `keys` are [table] of the scenario, for the keys that only its format has; None for their defaults.
    `files_per_commit` None means as many writer tasks as the workload says, `upsert_mode` None the format's
    default way to update and delete rows.
    """

    target_file_size_bytes: int
    partitioning: Partitioning = field(default_factory=Partitioning)
    keys: TableKeys | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    files_per_commit: int | None = None
    upsert_mode: str | None = None
    schema: Schema = ORDERS


@dataclass(frozen=True, slots=True)
class SparkSettings:
    """Master, memory of the driver (which is everything on a local master) and further configuration."""

    master: str = "local[2]"
    driver_memory_bytes: int = 4 * 2**30
    conf: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_local(self) -> bool:
        """Whether tasks run inside the driver's own process."""
        return self.master.startswith("local")


@dataclass(frozen=True, slots=True)
class CatalogSettings:
    """Where tables are registered; empty `properties` mean a catalog of the run's own in its work folder."""

    # A namespace of the catalog's own name would be ambiguous to stored procedures, which take
    # `bench.orders` for table `orders` of a catalog `bench`.
    name: str = "lake"
    namespace: str = "bench"
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cores:
    """Cores of the three that share a table; on a local master all three are the one process."""

    writer: int = 2
    compactor: int = 2
    reader: int = 2


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """All an engine needs to open: its work folder, the table to make, and what it runs on.

    Spark and the catalog are for real tables; `cores` and a file of `coefficients` (None: those that
    come with the format) for simulated ones.
    """

    folder: Path
    table: TableSpec
    spark: SparkSettings = field(default_factory=SparkSettings)
    catalog: CatalogSettings = field(default_factory=CatalogSettings)
    cores: Cores = field(default_factory=Cores)
    coefficients: Path | None = None


class Engine(Protocol):
    """One table of one format in one mode. Raises EngineError when a step that must work fails."""

    capabilities: frozenset[str]  # members of `Capability`, and names of native commands

    def create(self) -> None:
        """Make the empty table."""

    def commit(self, batch: Batch, at_ms: int) -> CommitOutcome:
        """Make one batch visible."""

    def state(self, at_ms: int) -> TableState:
        """The table as a planner may see it; valid until the next change. No I/O."""

    def schedule(self, plan: Plan, at_ms: int, due_at_ms: int) -> Ticket:
        """Accept a plan. An explicit rewrite reads and writes its files now and commits on `complete`."""

    def complete(self, ticket: Ticket, at_ms: int) -> Outcome:
        """Carry the plan out, or commit what was prepared. A refusal or conflict is an outcome, no error."""

    def query(self, probe: Probe) -> QueryOutcome:
        """Run a probe once and read its whole answer."""

    def dump(self, folder: Path) -> None:
        """Write the table's payload columns to Parquet files in `folder`."""

    def sibling(self, name: str) -> "Engine":
        """An engine of the same kind for another, throw-away table."""

    def drop(self) -> None:
        """Remove the table and its files."""
