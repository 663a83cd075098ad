"""The schema of a scenario file: its keys, their types and defaults."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Literal, get_args

from pydantic import ConfigDict, Field, ValidationError, create_model, model_validator
from pydantic.fields import FieldInfo

from bench.engines.contract import CatalogSettings, ExecutorCpuSource
from bench.engines.registry import FORMATS
from bench.keys import (
    Duration,
    Identifier,
    Keys,
    Size,
    TableKeys,
    Texts,
    flat,
    known_text,
    value_text,
)
from bench.results.records import VARIANT_LABEL
from bench.scenario.cadence import Phase
from bench.scenario.values import KeyPath, OptionError

WARM_UP_ROUNDS = 4  # compaction and query times level off after three or four (see bench/DESIGN.md)


class ProbeKeys(Keys):
    """[[probes]]"""

    name: str = Field(
        pattern=r"^[a-z0-9_-]{1,60}$", description="1 to 60 of a-z, 0-9, _ and -", examples=["min_order"]
    )
    sql: str = Field(examples=["SELECT count(*) FROM orders"])
    primary: bool | None = None


class RuleKeys(Keys):
    """An entry of [[maintenance]]; both tables are plug-ins."""

    trigger: dict[str, Any]
    planner: dict[str, Any]


class StrategyRuleKeys(RuleKeys):
    """An entry of a strategy's `rules`.

    `delay` takes the place of the scenario's compaction_delay. What a `concurrent` rule plans is executed
    meanwhile, beside the stream. With `inline` each commit evaluates the rule, and waits until what it plans
    is done, or with a delay until it is scheduled.
    """

    delay_ms: Duration | None = Field(default=None, alias="delay", examples=["10min"])
    concurrent: bool = False
    inline: bool = False


class WriterKeys(Keys):
    """A strategy's `writer`; `upsert_mode` is one of its format's ways to update and delete rows.

    A writer with `commit_every` keeps the rows of several commit intervals and commits them together.
    """

    files_per_commit: int | None = Field(default=None, ge=1)
    upsert_mode: str | None = None
    commit_every_ms: Duration | None = Field(default=None, alias="commit_every", examples=["1h"])


class SwitchKeys(Keys):
    """An entry of a strategy's `switch`."""

    at_ms: Duration = Field(alias="at", examples=["30min"])
    strategy: str


class StrategyKeys(Keys):
    """[[strategies]]"""

    label: str = Field(examples=["every-10min"])
    rules: tuple[StrategyRuleKeys, ...] = ()
    writer: WriterKeys = WriterKeys()
    properties: Texts = Field(default={})
    switch: tuple[SwitchKeys, ...] = ()


class VariantKeys(Keys):
    """[[variants]]: the scenario once more, with some of its keys set to something else.

    `set` holds keys and their values as the file does (`table = { format_version = 3 }` or, the same,
    `"table.format_version" = 3`), or with an entry of a list as `--set` takes it
    (`"strategies[amoro].properties" = { ... }`); tables are merged into the scenario's. `versions` is the
    name of a line of `bench.runtime.LINES`. Every strategy runs in every variant, and in the scenario as it
    is.
    """

    label: str = Field(
        pattern=VARIANT_LABEL,
        description="1 to 30 letters, digits, dots, hyphens, + and _, a letter or digit first",
    )
    changes: dict[str, Any] = Field(default={}, alias="set")
    versions: str | None = None


class Share(Keys):
    """The resources of the writer, the compactor or the reader."""

    cores: int | None = Field(default=None, ge=1, lt=2**31)
    memory_bytes: Size | None = Field(default=None, alias="memory", gt=0)


class Resources(Keys):
    """[resources]: honoured by simulations; a single local process gives all three the same."""

    writer: Share = Share()
    compactor: Share = Share()
    reader: Share = Share()


Price = Annotated[float | None, Field(ge=0, le=1e9, allow_inf_nan=False)]


class Prices(Keys):
    """[prices]: what the platform charges; a part of the money that has no price is left out of the sum."""

    core_hour: Price = None
    gb_hour: Price = None
    storage_gb_month: Price = None
    put_per_1000: Price = None
    get_per_1000: Price = None
    job_start_ms: Duration = Field(default=0, alias="job_start")
    queries_per_hour: Price = None
    currency: str = Field(
        default="USD", pattern=r"^[^\s\d]{1,8}$", description="1 to 8 characters without spaces and digits"
    )


OWN_SPARK_KEYS = ("master", "driver_memory", "executor_cpu", "staging")


class Spark(Keys):
    """[spark]: the session; every key that begins with "spark." is Spark's own."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, str]

    master: str = Field(
        default="local[2]", pattern=r"^\S+$", description='text without spaces, such as "local[2]"'
    )
    driver_memory_bytes: Size = Field(default=4 * 2**30, alias="driver_memory")
    executor_cpu: ExecutorCpuSource | None = None  # None: "processes"
    staging: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z][\w+.-]*:/\S+$",
        description='a URI such as "hdfs://host/folder" or "file:///mnt/shared"',
    )

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
        """Spark's own settings, by name."""
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
    commit_interval_ms: Duration = Field(alias="commit_interval", examples=["1min"])
    clock: Literal["virtual", "real"] = "virtual"
    repetitions: int = Field(default=1, ge=1)
    probe_every_ms: Duration | None = Field(default=None, alias="probe_every")
    side_probe_every_ms: Duration | None = Field(default=None, alias="side_probe_every")
    probe_phase: Phase = "random"
    compaction_delay_ms: Duration = Field(default=0, alias="compaction_delay")
    warm_up_rounds: int = Field(default=WARM_UP_ROUNDS, ge=1, le=10_000)
    table: TableKeys
    workload: dict[str, Any] = Field(examples=["append"])
    probes: tuple[ProbeKeys, ...] = ()
    strategies: tuple[StrategyKeys, ...] = Field(
        min_length=1, description='at least one strategy: write [[strategies]] with a label, such as "never"'
    )
    maintenance: tuple[RuleKeys, ...] = ()
    variants: tuple[VariantKeys, ...] = ()
    resources: Resources = Resources()
    prices: Prices = Prices()
    spark: Spark = Field(default_factory=lambda: Spark.model_validate({}))
    catalog: Catalog | None = None


_OF_RULES = "[[maintenance]] with `trigger = {...}` and `planner = {...}`, as in a strategy's rules"


def parse(document: Mapping[str, Any]) -> ScenarioKeys:
    """The keys of a file's document. Raises OptionError for the first error."""
    _check_format(document.get("table"))
    if isinstance(document.get("maintenance"), Mapping):
        raise OptionError(
            ("maintenance",), f"is a list of rules: write one {_OF_RULES}", document["maintenance"]
        )
    try:
        return _model(document).model_validate_json(json.dumps(document, default=str))
    except ValidationError as error:
        # A misspelt key is both unknown and missing: the unknown one leads to the remedy.
        details = sorted(error.errors(), key=lambda detail: detail["type"] != "extra_forbidden")
        raise _option_error(details[0], document) from None


def _check_format(table: object) -> None:
    """The format is checked first, since it determines which keys [table] may have."""
    if not isinstance(table, Mapping):
        return
    path = ("table", "format")
    if "format" not in table:
        raise OptionError(path, f"is missing, e.g. format = {value_text(next(iter(FORMATS)))}")
    name = table["format"]
    if not isinstance(name, str) or name not in FORMATS:
        raise OptionError(path, f"unknown format; {known_text(str(name), FORMATS)}", name)


def _model(document: Mapping[str, Any]) -> type[ScenarioKeys]:
    """The model of a whole file, with the [table] of the format that it names."""
    table = document.get("table")
    return _of_format(FORMATS[table["format"]].table.keys) if isinstance(table, Mapping) else ScenarioKeys


@cache
def _of_format(table_keys: type[TableKeys]) -> type[ScenarioKeys]:
    return create_model("ScenarioKeys", __base__=ScenarioKeys, table=(table_keys, ...))


# Pydantic words these in terms of Python; the field's description says what it may be.
_DESCRIBED = ("string_pattern_mismatch", "too_short")


def _option_error(detail: Any, document: Mapping[str, Any]) -> OptionError:
    path: KeyPath = detail["loc"]
    *above, last = [part for part in path if isinstance(part, str)] or [""]
    model = _model_at(_model(document), above)
    if detail["type"] == "extra_forbidden":
        return OptionError(path, f"unknown key; {known_text(last, _keys(model))}", detail["input"])
    if detail["type"] == "missing":
        return OptionError(path, f"is missing{_example(model, last)}")
    if detail["type"] in _DESCRIBED:
        return OptionError(path, f"must be {_description(_field(model, last))}", detail["input"])
    text = detail["msg"].removeprefix("Value error, ").replace("Input should", "must")
    text = text.replace("an object", "a table").replace("a valid array", "a list")  # they are terms of JSON
    return OptionError(path, text, _given(document, path, detail["input"]))


def _given(document: Any, path: KeyPath, parsed: object) -> object:
    """The file's value at `path`, or `parsed` if the schema has moved it."""
    try:
        for part in path:
            document = document[part]
    except KeyError:
        return parsed
    return document


def _model_at(whole: type[ScenarioKeys], names: Sequence[str]) -> type[Keys]:
    """The model of the table at the path of these names, positions in lists left out."""
    model: Any = whole
    for name in names:
        model = _model_in(_field(model, name).annotation)
    return model  # type: ignore[no-any-return]


def _field(model: type[Keys], key: str) -> FieldInfo:
    return next(field for name, field in model.model_fields.items() if key in (name, field.alias))


def _description(field: FieldInfo) -> str | None:
    """What a key may be; of a list, what its entries may be."""
    entries = (info for part in get_args(field.annotation) for info in getattr(part, "__metadata__", ()))
    return field.description or next((info.description for info in entries), None)


def _model_in(annotation: Any) -> Any:
    models = (_model_in(part) for part in get_args(annotation))
    is_model = isinstance(annotation, type) and issubclass(annotation, Keys)
    return annotation if is_model else next((model for model in models if model), None)


def _keys(model: type[Keys]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _example(model: type[Keys], key: str) -> str:
    field = next((f for name, f in model.model_fields.items() if key in (name, f.alias)), None)
    if field is None or not field.examples:
        return ""
    return f", e.g. {key} = {value_text(field.examples[0])}"
