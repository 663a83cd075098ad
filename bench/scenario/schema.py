"""The schema of a scenario file: its keys, their types and defaults."""

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, create_model, model_validator

from bench.engines.contract import CatalogSettings, ExecutorCpuSource
from bench.engines.keys import (
    Duration,
    Identifier,
    Keys,
    Listed,
    Rate,
    Size,
    TableKeys,
    Texts,
    flat,
    matching,
    value_text,
)
from bench.engines.registry import FORMATS
from bench.names import known_text
from bench.results.records import VARIANT_LABEL
from bench.scenario.cadence import Phase
from bench.scenario.plugins import ARRIVAL, PLANNER, TRIGGER, WORKLOAD, name_of
from bench.scenario.values import OptionError, refusals, together, validated
from strategies.planner import Planner
from strategies.state import OWN_EXECUTOR
from strategies.strategy import Rule
from strategies.triggers import Trigger
from workloads.arrival import Arrival
from workloads.commit import FILES_MAX, Workload

WARM_UP_ROUNDS = 4  # times level off after three or four: docs/decisions/measuring-queries.md
COMPACTION_MEMORY_MIN_BYTES = 128 * 2**20  # DuckDB needs some megabytes for each column of a row group
REPETITIONS_MAX = 1_000  # a report reads all runs at once


class ProbeKeys(Keys):
    """[[probes]]"""

    name: Annotated[str, matching(r"[a-z0-9_-]{1,60}", "1 to 60 of a-z, 0-9, _ and -")] = Field(
        examples=["min_order"]
    )
    sql: str = Field(examples=["SELECT count(*) FROM orders"])
    primary: bool | None = None


class Queries(Keys):
    """[queries]: how often readers ask. `arrival` says how the rate of their queries varies over time."""

    arrival: Annotated[Arrival, ARRIVAL]


class RuleKeys(Keys):
    """An entry of [[maintenance]]: `trigger` says when to evaluate the table, `planner` what to do then."""

    trigger: Annotated[Trigger, TRIGGER]
    planner: Annotated[Planner, PLANNER]

    @property
    def rule(self) -> Rule:
        return Rule(self.trigger, self.planner)


class StrategyRuleKeys(RuleKeys):
    """An entry of a strategy's `rules`: `trigger` says when to evaluate the table, `planner` what to do then.

    `delay` replaces the scenario's compaction_delay. With `inline` each commit evaluates the rule and waits
    until its plan is done, or, with a delay, scheduled. `executor` executes its plans, by default Spark.
    """

    delay_ms: Duration | None = Field(default=None, alias="delay", examples=["10min"])
    inline: bool = False
    executor: str | None = Field(default=None, examples=["spark"])

    @property
    def rule(self) -> Rule:
        executor = None if self.executor == OWN_EXECUTOR else self.executor
        return Rule(self.trigger, self.planner, self.delay_ms, self.inline, executor)


class WriterKeys(Keys):
    """A strategy's `writer`; `upsert_mode` is one of its format's ways to update and delete rows.

    With `commit_every` it keeps the rows of several commit intervals back and commits them together.
    """

    files_per_commit: int | None = Field(default=None, ge=1, le=FILES_MAX)
    upsert_mode: str | None = None
    commit_every_ms: Duration | None = Field(default=None, alias="commit_every", examples=["1h"])


class StrategyKeys(Keys):
    """[[strategies]]"""

    label: str = Field(examples=["every-10min"])
    rules: Listed[StrategyRuleKeys] = ()
    writer: WriterKeys = WriterKeys()
    properties: Texts = Field(default={})


class VariantKeys(Keys):
    """[[variants]]: the scenario with some of its keys changed.

    `set` holds keys and values as in the file (`table = { format_version = 3 }` or
    `"table.format_version" = 3`) or as `--set` takes them (`"strategies[amoro].properties" = { ... }`);
    tables are merged into those of the scenario. Every strategy runs in the scenario without changes, and in
    a variant unless `only` lists the labels of others.
    """

    label: Annotated[
        str,
        matching(VARIANT_LABEL, "1 to 30 letters, digits, dots, hyphens, + and _, a letter or digit first"),
    ]
    changes: dict[str, Any] = Field(default={}, alias="set")
    only: Listed[str] = ()


class Share(Keys):
    """The resources of the writer, the compactor or the reader."""

    cores: int | None = Field(default=None, ge=1, lt=2**31)
    memory_bytes: Size | None = Field(default=None, alias="memory", gt=0)


class Resources(Keys):
    """[resources]: honoured by simulations, and with a real clock on real tables.

    In other real runs one Spark application does everything.

    In simulations, `core_speed` is how fast a core is, relative to those that the coefficients were measured
    on. In simulations with a real clock, steps that run at the same time have `shared_cores` together, each
    at most the cores of its role.
    """

    core_speed: float | None = Field(default=None, ge=0.01, le=100)
    shared_cores: float | None = Field(default=None, ge=0.01, lt=2**31)
    writer: Share = Share()
    compactor: Share = Share()
    reader: Share = Share()


class WriterRole(Keys):
    """[roles.writer]: a commit that loses against others is done again up to `retries` times.

    It waits for `backoff` before, and twice as long each time.
    """

    retries: int = Field(default=10, ge=0, le=1_000)
    backoff_ms: Duration = Field(default=100, alias="backoff", le=60_000)


class ReaderRole(Keys):
    """[roles.reader]: the mean rate of queries, which come at random; by default as often as probes run."""

    rate_per_s: Rate | None = Field(default=None, alias="rate", examples=["2/s"])


COMPACTORS_MAX = 64


class CompactorRole(Keys):
    """[roles.compactor]: how many compactors follow the strategy at the same time."""

    count: int = Field(default=1, ge=1, le=COMPACTORS_MAX)


DRAIN_MS = 120_000  # for a compaction that runs when the stream ends


class Roles(Keys):
    """[roles]: real tables with a real clock, on which each role is a process.

    `oversubscribe` allows more cores of roles than the machine has; `pin` binds each to cores of its own.
    """

    oversubscribe: bool = False
    pin: bool = False
    writer: WriterRole = WriterRole()
    reader: ReaderRole = ReaderRole()
    compactor: CompactorRole | None = None

    @property
    def compactors_count(self) -> int:
        return self.compactor.count if self.compactor else 1


Price = Annotated[float | None, Field(ge=0, le=1e9, allow_inf_nan=False)]


class PresetPrices(Keys):
    """The keys of [prices] that a preset may have."""

    core_hour: Price = None
    gb_hour: Price = None
    storage_gb_month: Price = None
    put_per_1000: Price = None
    get_per_1000: Price = None
    job_start_ms: Duration = Field(default=0, alias="job_start")
    queries_per_hour: Price = None
    currency: Annotated[str, matching(r"[^\s\d]{1,8}", "1 to 8 characters without spaces and digits")] = "USD"


class Prices(PresetPrices):
    """[prices]: what the platform charges; the money leaves out what has no price.

    `preset` names prices that ship with compactbench (`compactbench list prices`), or a .toml file of your
    own with keys of [prices], by its path from the scenario. The keys beside it win.
    """

    preset: str | None = None  # None once its prices are read, so that results have prices and no name


OWN_SPARK_KEYS = ("master", "driver_memory", "executor_cpu", "staging")


class Spark(Keys):
    """[spark]: the session; every key that begins with "spark." is Spark's own."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, str]

    master: Annotated[str, matching(r"\S+", 'text without spaces, such as "local[2]"')] = "local[2]"
    driver_memory_bytes: Size = Field(default=4 * 2**30, alias="driver_memory")
    executor_cpu: ExecutorCpuSource | None = None  # None: "processes"
    staging: (
        Annotated[
            str,
            matching(r"[A-Za-z][\w+.-]*:/\S+", 'a URI such as "hdfs://host/folder" or "file:///mnt/shared"'),
        ]
        | None
    ) = None

    @model_validator(mode="before")
    @classmethod
    def _flatten(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        own = {key: item for key, item in value.items() if key in OWN_SPARK_KEYS}
        other = flat({key: item for key, item in value.items() if key not in own})
        return {**own, **{k: _spark_text(item) for k, item in other.items()}}

    @property
    def settings(self) -> Mapping[str, str]:
        return self.__pydantic_extra__


def _spark_text(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


class Catalog(Keys):
    """[catalog]: an existing catalog, if the format uses one, and the table's namespace in it."""

    name: Identifier = CatalogSettings().name
    namespace: Identifier = CatalogSettings().namespace
    properties: Texts = Field(examples=[{"type": "rest", "uri": "http://localhost:8181"}])


class ScenarioKeys(Keys):
    """The whole file; `table` has the keys of its format."""

    description: str = ""
    seed: int = Field(ge=0, lt=2**63, examples=[20260101])
    duration_ms: Duration = Field(alias="duration", examples=["60min"])
    commit_interval_ms: Duration = Field(alias="commit_interval", gt=0, examples=["1min"])
    clock: Literal["virtual", "real"] = "virtual"
    speed: float | None = Field(default=None, gt=0, le=1_000, allow_inf_nan=False)
    drain_ms: Duration | None = Field(default=None, alias="drain")
    repetitions: int = Field(default=1, ge=1, le=REPETITIONS_MAX)
    probe_every_ms: Duration | None = Field(default=None, alias="probe_every")
    side_probe_every_ms: Duration | None = Field(default=None, alias="side_probe_every")
    probe_phase: Phase = "random"
    page_cache: Literal["cold"] | None = None
    jvm: Literal["warm"] | None = None
    compaction_delay_ms: Duration = Field(default=0, alias="compaction_delay")
    compaction_memory_bytes: Size | None = Field(
        default=None, alias="compaction_memory", ge=COMPACTION_MEMORY_MIN_BYTES
    )
    warm_up_rounds: int = Field(default=WARM_UP_ROUNDS, ge=1, le=10_000)
    table: TableKeys
    workload: Annotated[Workload, WORKLOAD]
    probes: Listed[ProbeKeys] = ()
    queries: Queries | None = None
    strategies: Listed[StrategyKeys] = Field(min_length=1)
    maintenance: Listed[RuleKeys] = ()
    variants: Listed[VariantKeys] = ()
    resources: Resources = Resources()
    roles: Roles | None = None
    prices: Prices = Prices()
    spark: Spark = Field(default_factory=lambda: Spark.model_validate({}))
    catalog: Catalog | None = None

    @property
    def workload_name(self) -> str:
        return name_of(type(self.workload))


def parse(document: Mapping[str, Any], folder: Path) -> ScenarioKeys:
    """A document's keys, with plug-ins built; their paths are relative to `folder`. Raises OptionError."""
    table, context = document.get("table"), {"folder": folder}
    if not isinstance(table, Mapping):
        return validated(ScenarioKeys, document, context)
    try:
        of_format = FORMATS[_format_of(table)].table.keys
    except OptionError as error:  # the other keys of [table] depend on it
        others = refusals([partial(validated, with_table(Any), document, context)])
        raise together([error, *others]) from None
    return validated(with_table(of_format), document, context)


def _format_of(table: Mapping[str, Any]) -> str:
    path, name = ("table", "format"), table.get("format")
    if name is None:
        problem = f"is missing, e.g. format = {value_text(next(iter(FORMATS)))}"
        raise OptionError(path, problem, code="missing")
    if not isinstance(name, str) or name not in FORMATS:
        problem = f"unknown format; {known_text(str(name), FORMATS)}"
        raise OptionError(path, problem, name, code="unknown-name")
    return name


@cache
def with_table(table: Any) -> type[ScenarioKeys]:
    """The model of the whole file, with this type of [table]."""
    return create_model("ScenarioKeys", __base__=ScenarioKeys, table=(table, ...))
