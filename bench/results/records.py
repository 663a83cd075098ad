"""What is stored about a run: its manifest, and one record for each step.

    <out>/<scenario>/<UTC>-<format>-<mode>-<strategy>-r<repetition>/
        manifest.json   what ran, on what; written once, before the run starts
        events.jsonl    one record per line, append only; a finished run ends with a `run` record
        events.tables/  instead of it in simulated runs: a Parquet file per kind of record, once the run has
                        ended (`bench.results.column_files`)
        log.txt         what the worker and its JVM printed
        replaced.txt    if somebody had the run made again: why; its figures are not used

A run whose last record is not a `run` record was interrupted: it is kept and shown as such, and its
figures are not used.
"""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    TypeAdapter,
    field_validator,
    model_validator,
)

from bench.results.values import (
    BeyondFit,
    Change,
    CommitWork,
    Cost,
    Count,
    LiveFiles,
    MaintenanceWork,
    RewriteWork,
    ScanWork,
    Seconds,
    Session,
    Span,
    TableFigures,
)

Mode = Literal["real", "simulated"]
StepStatus = Literal["ok", "failed"]
# noop: nothing was committed; conflict: it lost against others; unfinished: it ran when the run ended
PlanStatus = Literal["ok", "noop", "vetoed", "failed", "conflict", "unfinished"]
Evaluated = Literal["not_due", "nothing_to_do", "planned"]
# Who did a step. A role with several processes numbers them: "compactor-2".
RoleId = Annotated[str, Field(pattern=r"^(writer|compactor|maintainer|reader|runner)(-[a-z0-9]+)?$")]

SCHEMA_VERSION = 5
READ_VERSIONS = (4, 5)  # in version 4 simulated runs had JSON lines, too
FAILED_STATUSES = ("failed", "vetoed")  # of a step after which the run continued
LOST_STATUSES = ("conflict", "unfinished")  # of a compaction beside commits, which cost CPU for nothing
NOT_DONE_STATUSES = (*FAILED_STATUSES, *LOST_STATUSES)  # of a step that was planned and changed nothing
MANIFEST = "manifest.json"
EVENTS = "events.jsonl"
EVENT_TABLES = "events.tables"  # a folder, whose name no scenario can have
REPLACED = "replaced.txt"
LOG = "log.txt"
# Values of the note "cpu", what counts as CPU: the driver's process alone, or with that the processes of the
# executors, or only their tasks; of roles that share a process, only what is each one's own.
DRIVER_CPU, EXECUTORS_CPU, TASKS_CPU = "process", "processes of a cluster", "driver and tasks"
THREADS_CPU = "tasks and threads of a role"
FEWER_CORES = "fewer than the roles have"  # of the note "cores": what the machine has, with a real clock

DELETE_WORDS = ("delete files", "deleted rows")  # unless a format has its own
VARIANT_LABEL = r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,29}$"

Int64 = Annotated[int, Field(ge=-(2**63), lt=2**63)]  # what exported tables can hold
Positive = Annotated[int, Field(gt=0, lt=2**63)]
Amount = Annotated[float, Field(ge=0, le=2**53)]  # of files or bytes, where it may be a mean
Weight = Annotated[float, Field(ge=0, le=2**53)]
Price = Annotated[float, Field(ge=0, le=1e9)]  # as in a scenario, likewise its rate of queries


def _checked_moment(text: str) -> str:
    try:
        datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError) as error:
        raise ValueError("must be a moment such as 2026-01-05T09:00:00Z") from error
    return text


Moment = Annotated[str, AfterValidator(_checked_moment)]


def label_in(strategy: str, variant: str) -> str:
    """The label under which a strategy runs in a variant."""
    return f"{strategy} @ {variant}"


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Manifest(_Model):
    """What ran, and on what: all that runs must share to be pooled, and all that is needed to repeat them."""

    schema_version: Int64 = SCHEMA_VERSION
    run_id: str
    suite_id: str
    started_utc: Moment
    scenario: str
    scenario_hash: str  # without repetitions, strategies and variants
    description: str = ""
    command: str = ""  # repeats the runs; secrets hidden
    workload: str
    format: str
    format_title: str = ""  # its name in reports
    delete_words: tuple[str, str] = DELETE_WORDS  # the format's names for delete files and their rows
    mode: Mode
    strategy: str  # its label; in a variant, "label @ variant"
    strategy_hash: str = ""
    strategy_summary: str  # its rules in words
    # Position in tables: in the order of the scenario, each strategy before its variants.
    strategy_index: Int64 | None = None
    # label, set (the keys that it changes, as --set takes them); None for the scenario as it is
    variant: dict[str, JsonValue] | None = None
    repetition: Int64
    position: Int64  # how many runs of its scenario and mode were in the results folder before it
    seed: Int64
    duration_ms: Positive
    commit_interval_ms: Positive
    target_file_size_bytes: Positive
    primary_probe: str
    probe_every_ms: Positive
    side_probe_every_ms: Positive  # for probes that are not primary
    speed: Annotated[float, Field(gt=0, le=1_000)] = 1.0  # of scenario time, with a real clock
    probe_phase: Literal["random", "fixed"]  # where in each window of `probe_every_ms` the probes run
    # By tick from 1 on, how many queries arrive until the next one, relative to the mean; None: alike.
    query_weights: tuple[Weight, ...] | None = None
    memory_bytes: Positive  # of the process that compacts
    cores: Positive | None  # available to a compaction; None if a cluster does not report it
    price_per_core_hour: Price | None = None
    price_per_gb_hour: Price | None = None  # of memory, decimal
    price_per_storage_gb_month: Price | None = None  # decimal GB, a month of 30 days
    price_per_1000_puts: Price | None = None
    price_per_1000_gets: Price | None = None
    currency: str = "USD"
    drops_versions: bool | None = None  # whether any rule or maintenance drops old versions
    job_start_s: Seconds = 0.0  # start-up time of a compaction's process
    queries_per_h: Price | None = None  # assumed query rate of readers
    change_log_hash: str
    verify: Literal["end", "each", "off"]
    versions: dict[str, str]  # python, java, spark, scala, format, compactbench, ...
    machine: dict[str, JsonValue]  # cpu, cores, ram_bytes, system, load_before_suite
    git: dict[str, JsonValue]  # commit, dirty; empty outside a checkout
    options: dict[str, JsonValue]  # effective Spark configuration, table properties, writer, notes
    notes: dict[str, str]  # facts of the method, such as "fsync": "off"; see `provenance.notes`
    scenario_text: dict[str, JsonValue]  # the scenario with all defaults filled in
    dataset: dict[str, JsonValue] = {}  # facts about the rows: see `provenance.dataset`
    option_defaults: dict[str, dict[str, str]] = {}  # values of unset options, by planner

    @field_validator("variant")
    @classmethod
    def _without_jars(cls, variant: dict[str, JsonValue] | None) -> dict[str, JsonValue] | None:
        """Earlier runs also named the jars of a variant, of which `versions` has the versions."""
        return variant and {key: value for key, value in variant.items() if key != "versions"}

    @model_validator(mode="after")
    def _check_query_weights(self) -> "Manifest":
        ticks_count = self.duration_ms // self.commit_interval_ms
        if self.query_weights is not None and len(self.query_weights) != ticks_count:
            raise ValueError(f"query_weights must have one for each of {ticks_count} ticks")
        return self

    @property
    def variant_label(self) -> str | None:
        return None if self.variant is None else str(self.variant["label"])

    @property
    def group_key(self) -> tuple[str, str, str]:
        """What runs have in common that are compared with each other: scenario, workload and mode."""
        return self.scenario, self.workload, self.mode

    @property
    def is_live(self) -> bool:
        """Whether the roles worked at the same time, at real time."""
        return self.mode == "real" and self.is_at_once

    @property
    def is_at_once(self) -> bool:
        """Whether commits and compactions overlapped: at real time, or in a simulation of it."""
        return self.notes.get("clock") == "real"

    @property
    def lasted_ms(self) -> int:
        """How long the stream takes at the pace at which its steps come."""
        return round(self.duration_ms / self.speed)

    @property
    def is_cdc(self) -> bool:
        """Whether the stream updates or deletes rows."""
        return "upsert_mode" in self.options

    @property
    def is_imported(self) -> bool:
        """Whether the stream is the history of an existing table."""
        return "notes" in self.dataset

    @property
    def counts_tasks_only(self) -> bool:
        """Whether CPU outside of the driver is that of Spark tasks, without the rest of their processes."""
        return self.notes.get("cpu") == TASKS_CPU

    @property
    def has_executors(self) -> bool:
        return self.notes.get("cpu") in (EXECUTORS_CPU, TASKS_CPU)


class BaseRecord(_Model):
    """Fields of every record: when, who, which version of which table, and at what cost.

    `span` is the time of the step on the clock of the run; None for steps outside the replay. For a step in
    two phases it is the second phase, so that no step of a role ends after the next one has begun.
    """

    tick: Count  # 0 before the stream begins; each commit interval of the stream has the next number
    at_ms: Int64  # scenario milliseconds
    written_utc: Moment  # when the record was written, in a simulation with some thousand others
    table_id: str = "orders"
    role: RoleId = "runner"
    version: str | None = None  # of the table at the end of the step; None before the first
    span: Span | None = None
    cost: Cost = Cost()
    status: str = "ok"  # each kind of record restricts it
    error: str | None = None


class PhaseRecord(BaseRecord):
    """A step outside the stream, engine start or warm-up; only `wall_s` of its cost is known."""

    kind: Literal["phase"] = "phase"
    status: StepStatus = "ok"
    name: str


class WarmUpRecord(BaseRecord):
    """One round of the warm-up: commits to a planner's own throw-away table until it acts.

    The cost is the cost of the planner's plans. `status` is the status of the last plan, or nothing_to_do.
    `acted` is whether a plan changed the table.
    """

    kind: Literal["warm_up"] = "warm_up"
    status: Literal[PlanStatus, "nothing_to_do"] = "ok"
    planner: str  # its name in scenarios; "" if the scenario has no planner
    options: str = ""  # the planner with its options, in words
    round: Count
    commits_count: Count
    acted: bool
    actions: list[str] = []
    change: Change = Change()  # by the last plan
    delete_rows_before: Count = 0  # in all live delete files
    delete_rows_after: Count = 0
    round_s: Seconds = 0.0  # wall time of the round: commits, queries and plans


class CommitRecord(BaseRecord):
    """One commit. Its cost excludes preparing the batch (read, split, cache).

    A tick without rows to commit has no such record.
    """

    kind: Literal["commit"] = "commit"
    status: StepStatus = "ok"
    is_initial: bool = False
    rows: Count = 0
    ingested_bytes: Count = 0  # of these rows in the change log
    change: Change = Change()
    work: CommitWork = CommitWork()
    prepare_s: Seconds = 0.0
    # For compactions that the commit ran itself, which have records of their own; with a real clock also for
    # the commit before it, and for tries that others' commits made fail.
    waited_s: Seconds = 0.0
    versions: list[str] = []  # created by the commit
    # With a real clock: why earlier tries of the batch failed, and the CPU that they took.
    conflicts: list[str] | None = None
    wasted_cpu_s: Seconds | None = None


class ObserveRecord(BaseRecord):
    """The table after a step; the cost is the cost of reading its state.

    Each tick has one after "commit", even if there were no rows to commit.
    """

    kind: Literal["observe"] = "observe"
    status: StepStatus = "ok"
    after: Literal["initial", "commit", "compaction", "maintenance"]
    table: TableFigures


class QueryRecord(BaseRecord):
    """One query of a probe. `wall_s` of its cost is planning plus execution.

    At a tick of the cadence, every probe runs right after the commit ("after_commit") and again at the end of
    the tick, after any compaction and maintenance ("settled"). At other ticks, the primary probe runs just
    before and after a compaction ("before", "after"). Each of them is run by every kind of session that the
    engine has; results without the field hold new sessions only. With real tables and a real clock, readers
    ask by a schedule of their own ("due"). A query that was due and never asked has failed without a span.
    """

    kind: Literal["query"] = "query"
    status: StepStatus = "ok"
    probe: str
    primary: bool
    when: Literal["after_commit", "settled", "before", "after", "due"]
    session: Session = "new"
    waited_s: Seconds | None = None  # since it was due, of a query that is "due"
    planning_s: Seconds = 0.0
    execution_s: Seconds = 0.0
    work: ScanWork = ScanWork()


class ControlRecord(BaseRecord):
    """One control query, at the start of each tick of the cadence: the same work every time.

    Its duration depends on the machine and on the JIT compiler's progress, never on the table.
    """

    kind: Literal["control"] = "control"
    status: StepStatus = "ok"


class SpeedRecord(BaseRecord):
    """One reading of the machine's speed: how long a fixed piece of work took (`bench.replay.fixed_work`).

    It is read at the start of each tick of the cadence. Unlike the control query it depends on the machine
    alone, since the JVM has no part in it. The CPU of its cost is that of the one thread that did the work.
    """

    kind: Literal["speed"] = "speed"
    status: StepStatus = "ok"


class DecisionRecord(BaseRecord):
    """One evaluation of a rule: `status` is its verdict.

    The cost (Python's CPU only) is the cost of its trigger and planner. `state_wall_s` and `state_cpu_s` are
    the cost of reading the table state for the evaluation: 0 for the other rules of a tick, which share the
    state, and for a trigger that does not need it, such as an interval that has not elapsed.
    """

    kind: Literal["decision"] = "decision"
    status: Evaluated
    strategy: str
    rule: Count
    trigger: str  # its name in scenarios: registered, or module:Class
    planner: str
    reason: str | None = None
    detail: str = ""
    actions: list[str] = []
    figures: dict[str, float] | None = None  # reported by the planner about the table, if the trigger fired
    state_wall_s: Seconds = 0.0
    state_cpu_s: Seconds = 0.0


class CompactionRecord(BaseRecord):
    """One executed plan.

    A staged plan reads and writes its files when it is scheduled (`staged`) and commits them later (`span`);
    the cost includes both. `before` and `after` are the table as observed around the step. The queries around
    it have records of their own (`bench.results.query_effect`).
    """

    kind: Literal["compaction"] = "compaction"
    status: PlanStatus = "ok"
    reason: str
    actions: list[str]
    plan_kind: str = ""  # the planner's own word, such as "minor"; "" if it has none
    executor: str = ""  # "" is the engine itself
    scheduled_at_ms: Count
    staged: Span | None = None
    before: LiveFiles
    after: LiveFiles
    change: Change = Change()
    work: RewriteWork = RewriteWork()
    forecast: dict[str, Amount] | None = None  # by our own planner, by field of `change`
    answer: dict[str, int] | None = None  # figures that the format's command returned, under its names
    versions: list[str] = []  # created by the plan
    # Whose files it replaced or dropped, including files of the commit that ran it; None if there are too
    # many to name.
    partitions: list[str] | None = None
    is_sorted: bool | None = None  # whether it ordered rows by value
    is_converting: bool | None = None  # whether it converted deletes
    is_inline: bool = False  # run by a commit, which waited for it


class MaintenanceRecord(BaseRecord):
    """One step of maintenance, such as snapshot expiry, on a schedule that all strategies share.

    Its cost differs between strategies: one that creates more snapshots has more to expire.
    """

    kind: Literal["maintenance"] = "maintenance"
    status: PlanStatus = "ok"
    command: str
    change: Change = Change()
    work: MaintenanceWork = MaintenanceWork()
    versions: list[str] = []  # created by the step; expiring snapshots creates none
    freed_bytes: Int64 = 0  # storage released, minus the metadata written


class ContentRecord(BaseRecord):
    """The table's content compared with the folded change log."""

    kind: Literal["content"] = "content"
    status: Literal["equal", "differs"]
    expected_rows: Count
    found_rows: Count
    expected_hash: str
    found_hash: str
    differences: list[str] = []


class RunRecord(BaseRecord):
    """The last record of a run that ended by itself; a failed run has an `error`."""

    kind: Literal["run"] = "run"
    status: Literal["finished", "failed"]
    records_count: Count | None = None  # before this one; None in runs that did not count them
    # Of the run's id and the records before this one (`bench.results.order`); None in runs from before it.
    records_sha256: str | None = None
    loop_s: Seconds = 0.0  # replay of the stream, without engine start, warm-up and content check
    # Parts of `loop_s`: measured steps with the preparation of commits, reading of table states, and
    # compactbench's own code.
    measured_s: Seconds = 0.0
    observe_s: Seconds = 0.0
    own_s: Seconds = 0.0
    other_cores: float | None = None  # mean number of cores that other processes used during the run
    timings_invalid: bool = False  # the content was checked after every compaction, which distorts timings
    executors_memory_bytes: Count | None = None  # in addition to the driver's; None: tasks ran in the driver
    content_bytes: Count | None = None  # the final content as compacted files; None with --verify off
    beyond_fit: BeyondFit = BeyondFit()
    # Histogram of the live data files at the end: (lower bound in bytes, a power of 2; count).
    file_sizes: list[tuple[Positive, Positive]] = []


Record = Annotated[
    PhaseRecord
    | WarmUpRecord
    | CommitRecord
    | ObserveRecord
    | QueryRecord
    | ControlRecord
    | SpeedRecord
    | DecisionRecord
    | CompactionRecord
    | MaintenanceRecord
    | ContentRecord
    | RunRecord,
    Field(discriminator="kind"),
]
_RECORD: TypeAdapter[Any] = TypeAdapter(Record)


def parse_record(line: bytes) -> Any:
    """One record. Raises pydantic.ValidationError if the line is not a record."""
    return _RECORD.validate_json(line)
