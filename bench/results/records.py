"""What is stored about a run: its manifest, and one record for each step.

    <out>/<scenario>/<UTC>-<format>-<mode>-<strategy>-r<repetition>/
        manifest.json   what ran, on what; written once, before the run starts
        events.jsonl    one record per line, append only; a finished run ends with a `run` record
        log.txt         what the worker and its JVM printed

A run whose last record is not a `run` record was interrupted: it is kept and shown as such, and its
figures are not used.
"""

import json
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from bench.errors import first_error
from bench.results.values import Change, Cost, Count, LiveFiles, ScanWork, Seconds, Span, TableFigures

Mode = Literal["real", "simulated"]
StepStatus = Literal["ok", "failed"]
PlanStatus = Literal["ok", "noop", "vetoed", "failed"]  # noop: nothing was committed
Evaluated = Literal["not_due", "nothing_to_do", "planned"]
# What a step of a run was done as; a role that has several processes numbers them: "compactor-2".
RoleId = Annotated[str, Field(pattern=r"^(writer|compactor|maintainer|reader|runner)(-[a-z0-9]+)?$")]

SCHEMA_VERSION = 4
FAILED_STATUSES = ("failed", "vetoed")  # of a step after which the run continued
MANIFEST = "manifest.json"
EVENTS = "events.jsonl"
LOG = "log.txt"
# What counts as CPU, among the notes: the driver's process, with those of executors, or with their tasks.
DRIVER_CPU, EXECUTORS_CPU, TASKS_CPU = "process", "processes of a cluster", "driver and tasks"
SHARED_JVM = "shared_jvm"  # among the options of a run that shared its JVM with others (`run --quick`)
QUICK_WORDS = "made with --quick, in one JVM: timings are a first impression, not to be compared with others"

VARIANT_LABEL = r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,29}$"

Int64 = Annotated[int, Field(ge=-(2**63), lt=2**63)]  # what exported tables can hold
Positive = Annotated[int, Field(gt=0, lt=2**63)]
Amount = Annotated[float, Field(ge=0, le=2**53)]  # of files or bytes, where it may be a mean
Price = Annotated[float, Field(ge=0, le=1e9)]  # as in a scenario, likewise its rate of queries


def _checked_moment(text: str) -> str:
    """Raises ValueError unless it is a moment of time in ISO 8601."""
    try:
        datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError) as error:
        raise ValueError("must be a moment such as 2026-01-05T09:00:00Z") from error
    return text


class _VariantText(BaseModel):
    """A variant: the keys that it sets, in the notation of `--set`, and the name of its line of versions."""

    model_config = ConfigDict(extra="forbid")

    label: str = Field(pattern=VARIANT_LABEL)
    set: dict[str, JsonValue]
    versions: str | None = None


def _checked_variant(variant: dict[str, JsonValue] | None) -> dict[str, JsonValue] | None:
    """Raises ValueError unless it is what a run stores of its variant."""
    if variant is not None:
        _check(variant, _VariantText)
    return variant


class _PluginText(BaseModel):
    type: str


class _RuleText(BaseModel):
    trigger: _PluginText
    planner: _PluginText


class _StrategyText(BaseModel):
    label: str
    rules: tuple[_RuleText, ...] = ()


class _TableText(BaseModel):
    format: str | None = None


class _ScenarioText(BaseModel):
    strategies: tuple[_StrategyText, ...] = ()
    table: _TableText = _TableText()


def _checked_scenario(text: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Raises ValueError unless its strategies and its table, if it has any, are those of a scenario."""
    _check(text, _ScenarioText)
    return text


def _check(text: dict[str, JsonValue], model: type[BaseModel]) -> None:
    try:
        model.model_validate_json(json.dumps(text))  # its errors speak of JSON
    except ValidationError as error:
        raise ValueError(first_error(error)) from error


Moment = Annotated[str, AfterValidator(_checked_moment)]


def label_in(strategy: str, variant: str) -> str:
    """The label under which a strategy runs in a variant."""
    return f"{strategy} @ {variant}"


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


DELETE_WORDS = ("delete files", "deleted rows")  # in general


class Manifest(_Model):
    """What ran, and on what: what runs must share to be pooled, and what is needed to repeat them."""

    schema_version: Int64 = SCHEMA_VERSION
    run_id: str
    suite_id: str
    started_utc: Moment
    scenario: str
    scenario_hash: str  # of everything but repetitions and the choice of strategies and variants
    description: str = ""
    command: str = ""  # repeats the runs; secrets hidden
    workload: str
    format: str
    format_title: str = ""  # what people call it
    delete_words: tuple[str, str] = DELETE_WORDS  # what it calls delete files, and the rows in them
    mode: Mode
    strategy: str  # its label; in a variant, "label @ variant"
    strategy_hash: str = ""
    strategy_summary: str  # its rules in words
    strategy_index: Int64 | None = None  # its place in tables: as in the scenario, each before its variants
    # See `_VariantText`; None for the scenario as it is.
    variant: Annotated[dict[str, JsonValue] | None, AfterValidator(_checked_variant)] = None
    repetition: Int64
    position: Int64  # how many runs of the suite ran before this one
    seed: Int64
    duration_ms: Positive
    commit_interval_ms: Positive
    target_file_size_bytes: Positive
    primary_probe: str
    probe_every_ms: Positive
    side_probe_every_ms: Positive  # of the probes that are not primary
    probe_phase: Literal["random", "fixed"]  # where in each window of `probe_every_ms` the probes run
    memory_bytes: Positive  # of the process that compacts
    cores: Positive | None  # that a compaction may use; None where a cluster does not say
    price_per_core_hour: Price | None = None
    price_per_gb_hour: Price | None = None  # of memory, decimal
    price_per_storage_gb_month: Price | None = None  # decimal GB, a month of 30 days
    price_per_1000_puts: Price | None = None
    price_per_1000_gets: Price | None = None
    currency: str = "USD"
    drops_versions: bool | None = None  # whether a rule, of maintenance too, drops old versions of the table
    job_start_s: Seconds = 0.0  # start-up of the process of each compaction
    queries_per_h: Price | None = None  # how often readers are assumed to query the table
    change_log_hash: str
    verify: Literal["end", "each", "off"]
    versions: dict[str, str]  # python, java, spark, scala, format, compactbench, ...
    machine: dict[str, JsonValue]  # cpu, cores, ram_bytes, system, load_before_suite
    git: dict[str, JsonValue]  # commit, dirty; empty outside a checkout
    options: dict[str, JsonValue]  # effective Spark configuration, table properties, writer, notes
    notes: dict[str, str]  # short facts of the method, such as "fsync": "off"; see `provenance.notes`
    # The scenario as it was resolved.
    scenario_text: Annotated[dict[str, JsonValue], AfterValidator(_checked_scenario)]
    dataset: dict[str, JsonValue] = {}  # facts about the rows: see `provenance.dataset`
    option_defaults: dict[str, dict[str, str]] = {}  # by planner: the value of an option that is not set

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        label = self.variant_label
        if label is not None and not self.strategy.endswith(label_in("", label)):
            raise ValueError(f"strategy: {self.strategy!r} is not one of variant {label!r}")
        for where, recorded in self._formats().items():
            if recorded not in (None, self.format):
                raise ValueError(f"format: {self.format!r}, but {where} is {recorded!r}")
        return self

    def _formats(self) -> dict[str, JsonValue]:
        """What else says which format the tables have; None where it does not say."""
        changes = {} if self.variant is None else _VariantText.model_validate(self.variant).set
        return {
            "scenario_text.table.format": _ScenarioText.model_validate(self.scenario_text).table.format,
            'variant.set."table.format"': changes.get("table.format"),
        }

    @property
    def variant_label(self) -> str | None:
        """The label of its variant; None for the scenario as it is."""
        return None if self.variant is None else str(self.variant["label"])

    @property
    def is_cdc(self) -> bool:
        """Whether the stream updates or deletes rows."""
        return "upsert_mode" in self.options

    @property
    def counts_tasks_only(self) -> bool:
        """Whether the CPU of its executors is that of their tasks, without the rest of their processes."""
        return self.notes.get("cpu") == TASKS_CPU

    @property
    def has_executors(self) -> bool:
        """Whether its tasks ran in processes of their own, beside the driver's."""
        return self.notes.get("cpu") in (EXECUTORS_CPU, TASKS_CPU)

    @property
    def is_quick(self) -> bool:
        """Whether the run shared its JVM with other runs: its timings are for a look only."""
        return bool(self.options.get(SHARED_JVM))


class BaseRecord(_Model):
    """Fields of every record: when, who, which version of which table, and at what cost.

    `span` covers the step on the clock of the run; None for steps outside the replay. Of a step in two
    phases it is the second one, so that no step of a role ends after the next has begun.
    """

    tick: Count  # 0 before the stream begins, then the number of the commit
    at_ms: Int64  # scenario milliseconds
    written_utc: Moment  # when the step had ended
    table_id: str = "orders"
    role: RoleId = "runner"
    version: str | None = None  # of the table when the step had ended; None if it has none yet
    span: Span | None = None
    cost: Cost = Cost()
    status: str = "ok"  # each kind lists its values
    error: str | None = None


class PhaseRecord(BaseRecord):
    """A step outside the stream, engine start or warm-up; only `wall_s` of its cost is known."""

    kind: Literal["phase"] = "phase"
    status: StepStatus = "ok"
    name: str


class WarmUpRecord(BaseRecord):
    """One round of the warm-up: commits to a planner's own throw-away table until it acts.

    The cost is that of the planner's plans. `status` is that of the last one, or nothing_to_do. Without
    `acted` none of them changed the table.
    """

    kind: Literal["warm_up"] = "warm_up"
    status: Literal[PlanStatus, "nothing_to_do"] = "ok"
    planner: str  # by the name a scenario gives it; "" in a scenario that has none
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
    """One commit. Preparing the batch (read, split, cache) is not in its cost.

    A tick without rows to commit has none.
    """

    kind: Literal["commit"] = "commit"
    status: StepStatus = "ok"
    is_initial: bool = False
    rows: Count = 0
    ingested_bytes: Count = 0  # change-log bytes of the same rows
    change: Change = Change()
    prepare_s: Seconds = 0.0
    waited_s: Seconds = 0.0  # for compactions that the commit itself ran; these have their own records
    versions: list[str] = []  # created by the commit


class ObserveRecord(BaseRecord):
    """The table after a commit or compaction; the cost is that of reading its state.

    Each tick has one "commit", even if it had no rows to commit.
    """

    kind: Literal["observe"] = "observe"
    status: StepStatus = "ok"
    after: Literal["initial", "commit", "compaction", "maintenance"]
    table: TableFigures


class QueryRecord(BaseRecord):
    """One query of a probe. `wall_s` of its cost is planning plus execution.

    On the cadence, every probe runs right after the commit ("after_commit") and once more at the end of the
    tick, after any compaction and maintenance ("settled"). Off it, the primary one runs just before and
    after a compaction ("before", "after").
    """

    kind: Literal["query"] = "query"
    status: StepStatus = "ok"
    probe: str
    primary: bool
    when: Literal["after_commit", "settled", "before", "after"]
    planning_s: Seconds = 0.0
    execution_s: Seconds = 0.0
    work: ScanWork = ScanWork()


class ControlRecord(BaseRecord):
    """One control query, at the start of each tick of the cadence: the same work every time.

    Its time changes with the machine and with what the compiler has done so far, never with the table.
    """

    kind: Literal["control"] = "control"
    status: StepStatus = "ok"


class DecisionRecord(BaseRecord):
    """One evaluation of a rule: verdict not_due, nothing_to_do or planned (in `status`).

    The cost (CPU of Python alone) is that of its trigger and planner. `state_wall_s` and `state_cpu_s` are
    what it took to read the table state that the evaluation needed; they are 0 for further rules of the same
    tick, which share the state, and for an interval that is not over, which needs none.
    """

    kind: Literal["decision"] = "decision"
    status: Evaluated
    strategy: str  # the label in force, which a switch may have changed
    rule: Count
    trigger: str  # by the name a scenario gives it: registered, or module:Class
    planner: str
    reason: str | None = None
    detail: str = ""
    actions: list[str] = []
    figures: dict[str, float] | None = None  # reported by the planner about the table, if the trigger fired
    state_wall_s: Seconds = 0.0
    state_cpu_s: Seconds = 0.0


class CompactionRecord(BaseRecord):
    """One plan executed: status ok, noop (nothing committed), vetoed or failed.

    A plan that is staged reads and writes its files when it is scheduled (`staged`) and commits them later
    (`span`); its cost is that of both. `before` and `after` are the table as it was observed around the step.
    The queries around a compaction are found in the records of queries (`bench.results.query_effect`).
    """

    kind: Literal["compaction"] = "compaction"
    status: PlanStatus = "ok"
    reason: str
    actions: list[str]
    plan_kind: str = ""  # the planner's own word, such as "minor"; "" if it has none
    executor: str = ""  # what executed the plan; "" is the engine's own
    scheduled_at_ms: Count
    staged: Span | None = None
    before: LiveFiles
    after: LiveFiles
    change: Change = Change()
    forecast: dict[str, Amount] | None = None  # our planner's expectation, by field of `change`
    answer: dict[str, int] | None = None  # reported by the format's own command, under its own names
    versions: list[str] = []  # created by the plan
    # The partitions whose files it replaced or dropped, including files of the commit that ran it; None if
    # there are too many to name.
    partitions: list[str] | None = None
    # Whether it ordered rows by value, and whether it converted deletes; None if that is not known.
    is_sorted: bool | None = None
    is_converting: bool | None = None
    is_inline: bool = False  # run by a commit, which waited for it

    @property
    def is_beside_stream(self) -> bool:
        """Whether it ran while the stream went on."""
        return self.cost.is_shared and not self.is_inline


class MaintenanceRecord(BaseRecord):
    """Snapshot expiry or manifest rewriting on the scenario's own schedule, the same for every strategy.

    Its cost is not the same: a strategy that makes more snapshots has more to expire.
    """

    kind: Literal["maintenance"] = "maintenance"
    status: PlanStatus = "ok"
    command: str
    change: Change = Change()
    versions: list[str] = []  # created by it; the expiry of snapshots creates none
    freed_bytes: Int64 = 0  # storage bytes released, minus the metadata it wrote


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
    """The last record of a run that ended by itself; one that failed has an `error`."""

    kind: Literal["run"] = "run"
    status: Literal["finished", "failed"]
    loop_s: Seconds = 0.0  # replay of the stream, without engine start, warm-up and content check
    measured_s: Seconds = (
        0.0  # of it: commits, their preparation, queries, decisions, compactions, maintenance
    )
    observe_s: Seconds = 0.0  # of it: state reads
    own_s: Seconds = 0.0  # of it: the rest, compactbench's own code
    other_cores: float | None = None  # the mean number that other processes used meanwhile; None: not known
    timings_invalid: bool = False  # checked after every compaction, which distorts timings
    # The memory that executors had been given beside the driver; None: tasks ran in the driver.
    executors_memory_bytes: Count | None = None
    # The final content as compacted files; None if it was not measured, as with --verify off.
    content_bytes: Count | None = None
    # Live data files at the end: (lower bound in bytes, count), powers of 2.
    file_sizes: list[tuple[Positive, Positive]] = []


Record = Annotated[
    PhaseRecord
    | WarmUpRecord
    | CommitRecord
    | ObserveRecord
    | QueryRecord
    | ControlRecord
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
