"""What a scenario file may say: its keys, their types and defaults."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    model_validator,
)

from bench.engines.contract import UpsertMode
from bench.scenario.values import (
    KeyPath,
    OptionError,
    bytes_text,
    duration_ms_text,
    duration_text,
    flat,
    known_text,
    value_text,
)
from strategies.iceberg.procedures import option_texts
from strategies.quantities import parse_bytes, parse_duration_ms, parse_duration_s

FORMATS: Mapping[str, str] = {
    "iceberg": "Apache Iceberg by Spark; format_version 2 or 3",
    "delta": "Delta Lake; has no engine yet",
    "hudi": "Apache Hudi; has no engine yet",
}
FORMATS_WITH_ENGINE = frozenset({"iceberg"})


def _flat_texts(value: object) -> object:
    """Properties as text: true/false in lower case, keys ending in "-bytes" also take sizes."""
    if not isinstance(value, Mapping):
        return value
    table = flat(value)
    if not all(isinstance(item, str | int | float) for item in table.values()):
        return table
    return option_texts(table)  # type: ignore[arg-type]  # checked the line before


Duration = Annotated[int, BeforeValidator(parse_duration_ms), PlainSerializer(duration_ms_text)]
Seconds = Annotated[float, BeforeValidator(parse_duration_s), PlainSerializer(duration_text)]
Size = Annotated[int, BeforeValidator(parse_bytes), PlainSerializer(bytes_text)]
Texts = Annotated[dict[str, str], BeforeValidator(_flat_texts)]
Identifier = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,59}$")]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class TableKeys(_Table):
    """[table]"""

    format: Literal["iceberg", "delta", "hudi"] = Field(examples=["iceberg"])
    format_version: Literal[2, 3] = 2
    target_file_size_bytes: Size = Field(alias="target_file_size", examples=["128MiB"])
    partitioning: Literal["none", "day", "bucket", "city"] = "none"
    buckets: int | None = Field(default=None, ge=1)
    properties: Texts = {}


class ProbeKeys(_Table):
    """[[probes]]"""

    name: str = Field(pattern=r"^[a-z0-9_-]{1,60}$", examples=["min_order"])
    sql: str = Field(examples=["SELECT count(*) FROM orders"])
    primary: bool | None = None


class RuleKeys(_Table):
    """An entry of a strategy's `rules`; both tables are plug-ins."""

    trigger: dict[str, Any]
    planner: dict[str, Any]


class WriterKeys(_Table):
    """A strategy's `writer`; `upsert_mode` says how commits update and delete rows."""

    files_per_commit: int | None = Field(default=None, ge=1)
    upsert_mode: UpsertMode = "equality-delete"


class SwitchKeys(_Table):
    """An entry of a strategy's `switch`."""

    at_ms: Duration = Field(alias="at", examples=["30min"])
    strategy: str


class StrategyKeys(_Table):
    """[[strategies]]"""

    label: str = Field(examples=["every-10min"])
    rules: tuple[RuleKeys, ...] = ()
    writer: WriterKeys = WriterKeys()
    properties: Texts = {}
    switch: tuple[SwitchKeys, ...] = ()


class ExpireSnapshotsKeys(_Table):
    """When the scenario expires snapshots, and which it keeps."""

    every_ms: Duration = Field(alias="every", gt=0, examples=["10min"])
    retain_ms: Duration = Field(alias="retain", examples=["20min"])
    retain_last: int = Field(default=1, ge=1)


class RewriteManifestsKeys(_Table):
    """When the scenario rewrites manifests."""

    every_ms: Duration = Field(alias="every", gt=0, examples=["30min"])


class Maintenance(_Table):
    """[maintenance]: what every strategy's table gets alike, accounted apart from compaction."""

    expire_snapshots: ExpireSnapshotsKeys | None = None
    rewrite_manifests: RewriteManifestsKeys | None = None


class Share(_Table):
    """What one of writer, compactor and reader may use."""

    cores: int | None = Field(default=None, ge=1)
    memory_bytes: Size | None = Field(default=None, alias="memory", gt=0)


class Resources(_Table):
    """[resources]: honoured by simulation; one local process gives all three the same."""

    writer: Share = Share()
    compactor: Share = Share()
    reader: Share = Share()


class Prices(_Table):
    """[prices]: of a GB-hour of memory in money, and of a storage request in (modelled) seconds."""

    gb_hour: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    currency: str = Field(default="USD", pattern=r"^[^\s\d]{1,8}$")
    request_s: Seconds | None = Field(default=None, alias="request")


class Spark(_Table):
    """[spark]: the session; every key that begins with "spark." is Spark's own."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, str]

    master: str = Field(default="local[2]", pattern=r"^\S+$")
    driver_memory_bytes: Size = Field(default=4 * 2**30, alias="driver_memory")

    @model_validator(mode="before")
    @classmethod
    def _flatten(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        own = {key: item for key, item in value.items() if key in ("master", "driver_memory")}
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


class Catalog(_Table):
    """[catalog]: an Iceberg catalog that is already there; the table's namespace in it."""

    name: Identifier = "bench"
    namespace: Identifier = "bench"
    properties: Texts = Field(examples=[{"type": "rest", "uri": "http://localhost:8181"}])


class ScenarioKeys(_Table):
    """The whole file."""

    description: str = ""
    seed: int = Field(ge=0, examples=[20260101])
    duration_ms: Duration = Field(alias="duration", examples=["60min"])
    commit_interval_ms: Duration = Field(alias="commit_interval", examples=["1min"])
    clock: Literal["virtual", "real"] = "virtual"
    repetitions: int = Field(default=1, ge=1)
    probe_every_ms: Duration | None = Field(default=None, alias="probe_every")
    compaction_delay_ms: Duration = Field(default=0, alias="compaction_delay")
    table: TableKeys
    workload: dict[str, Any] = Field(examples=["append"])
    probes: tuple[ProbeKeys, ...] = ()
    strategies: tuple[StrategyKeys, ...] = Field(min_length=1)
    maintenance: Maintenance = Maintenance()
    resources: Resources = Resources()
    prices: Prices = Prices()
    spark: Spark = Field(default_factory=lambda: Spark.model_validate({}))
    catalog: Catalog | None = None


def parse(document: Mapping[str, Any]) -> ScenarioKeys:
    """The keys of a file that was read. Raises OptionError for the first that is wrong."""
    try:
        return ScenarioKeys.model_validate_json(json.dumps(document, default=str))
    except ValidationError as error:
        # A misspelt key is both unknown and missing: the unknown one leads to the remedy.
        found = sorted(error.errors(), key=lambda detail: detail["type"] != "extra_forbidden")
        raise _option_error(found[0], document) from None


def _option_error(detail: Any, document: Any) -> OptionError:
    path: KeyPath = detail["loc"]
    model = _model_at(path[:-1])
    last = str(path[-1]) if path else ""
    if detail["type"] == "extra_forbidden":
        return OptionError(path, f"unknown key; {known_text(last, _keys(model))}", detail["input"])
    if detail["type"] == "missing":
        return OptionError(path, f"is missing{_example(model, last)}")
    text = detail["msg"].removeprefix("Value error, ").replace("Input should", "must")
    text = text.replace("an object", "a table").replace("a valid array", "a list")  # pydantic speaks JSON
    return OptionError(path, text, _given(document, path, detail["input"]))


def _given(document: Any, path: KeyPath, parsed: object) -> object:
    """What the file says at `path`; `parsed` where the schema has moved it."""
    try:
        for part in path:
            document = document[part]
    except KeyError:
        return parsed
    return document


def _model_at(path: KeyPath) -> type[_Table]:
    """The model of the table at `path`, list positions left out of account."""
    model: Any = ScenarioKeys
    for part in path:
        if isinstance(part, str):
            field = next(f for name, f in model.model_fields.items() if part in (name, f.alias))
            model = _model_in(field.annotation)
    return model  # type: ignore[no-any-return]


def _model_in(annotation: Any) -> Any:
    found = (_model_in(part) for part in get_args(annotation))
    is_model = isinstance(annotation, type) and issubclass(annotation, _Table)
    return annotation if is_model else next((model for model in found if model), None)


def _keys(model: type[_Table]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _example(model: type[_Table], key: str) -> str:
    field = next((f for name, f in model.model_fields.items() if key in (name, f.alias)), None)
    if field is None or not field.examples:
        return ""
    return f", e.g. {key} = {value_text(field.examples[0])}"
