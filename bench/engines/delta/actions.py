"""The actions of a Delta log, checked as they are read.

Fields that are not read are kept as they are, since writers may add any. Numbers must be whole and within
Java's long, and times within the years of a calendar.

Source: Delta transaction log protocol, "Actions", "Per-file Statistics", "Schema Serialization Format".
"""

from collections.abc import Callable
from typing import Annotated, Any, Literal, NotRequired, TypeVar

from pydantic import ConfigDict, Discriminator, Field, Tag, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from bench.engines.keys import value_text

CLUSTERING_DOMAIN = "delta.clustering"

_STRICT = ConfigDict(strict=True, extra="allow")
_ONLY_THIS = ConfigDict(strict=True, extra="ignore")

Count = Annotated[int, Field(ge=0, lt=2**63)]
Instant = Annotated[int, Field(ge=-62_135_596_800_000, lt=253_402_300_800_000)]  # ms; years 1 to 9999
Text = Annotated[str, Field(min_length=1)]
Texts = dict[str, str | None]


_Checked = TypeVar("_Checked")


class LogError(ValueError):
    """The log is damaged, or uses a feature that this reader does not understand."""


def checked(check: Callable[[Any], _Checked], given: object, place: str) -> _Checked:
    """What `check` makes of what was found at a place in the log. Raises LogError, which names the place."""
    try:
        return check(given)
    except ValidationError as error:
        raise LogError(f"{place}: is damaged: {_problem(error)}") from error


def _problem(error: ValidationError) -> str:
    """The first problem with its key and value."""
    detail = error.errors(include_url=False)[0]
    key, problem = ".".join(map(str, detail["loc"])), str(detail["msg"])
    if not key or detail["type"] == "missing":
        return f"{key}: {problem}" if key else problem
    return f"{key} = {value_text(detail['input'])}: {problem}"


@with_config(_STRICT)
class Vector(TypedDict):
    """The descriptor of a deletion vector."""

    storageType: Literal["u", "i", "p"]
    pathOrInlineDv: str
    offset: NotRequired[Count | None]
    sizeInBytes: Count
    cardinality: Count


@with_config(_ONLY_THIS)
class StoredStats(TypedDict):
    """The statistics of a file, as far as they are used."""

    numRecords: NotRequired[Count | None]


@with_config(_STRICT)
class Remove(TypedDict):
    """A file that is removed."""

    path: Text
    deletionTimestamp: NotRequired[Instant | None]
    deletionVector: NotRequired[Vector | None]


@with_config(_STRICT)
class Add(TypedDict):
    """A file that is added. Checkpoints may have its statistics parsed."""

    path: Text
    size: Count
    partitionValues: NotRequired[Texts | None]
    modificationTime: NotRequired[Instant | None]
    stats: NotRequired[str | None]
    stats_parsed: NotRequired[StoredStats | None]
    tags: NotRequired[Texts | None]
    deletionVector: NotRequired[Vector | None]
    clusteringProvider: NotRequired[str | None]


@with_config(_STRICT)
class CommitInfo(TypedDict):
    """What is recorded about a commit."""

    timestamp: NotRequired[Instant | None]
    inCommitTimestamp: NotRequired[Instant | None]
    operation: NotRequired[str | None]
    operationParameters: NotRequired[dict[str, Any] | None]
    userMetadata: NotRequired[str | None]


@with_config(_STRICT)
class Metadata(TypedDict):
    """The metadata of the table from then on."""

    schemaString: str
    partitionColumns: list[Text]
    configuration: NotRequired[Texts | None]
    createdTime: NotRequired[Instant | None]


@with_config(_STRICT)
class Protocol(TypedDict):
    """What a reader and a writer must know from then on."""

    minReaderVersion: int
    readerFeatures: NotRequired[list[str] | None]


@with_config(_STRICT)
class DomainMetadata(TypedDict):
    """The configuration of a metadata domain, of which each has its own notation."""

    domain: str
    configuration: NotRequired[Any]
    removed: NotRequired[bool | None]


@with_config(_ONLY_THIS)
class LogLine(TypedDict):
    """A line of a commit or a row of a checkpoint, with the actions that are read."""

    add: NotRequired[Add]
    remove: NotRequired[Remove]
    commitInfo: NotRequired[CommitInfo | None]
    metaData: NotRequired[Metadata]
    protocol: NotRequired[Protocol]
    domainMetadata: NotRequired[DomainMetadata]


@with_config(_STRICT)
class Clustering(TypedDict):
    """The configuration of the metadata domain `CLUSTERING_DOMAIN`."""

    clusteringColumns: list[list[Text]]


def _kind_of_type(found: object) -> str:
    if not isinstance(found, dict):
        return "name"
    return "struct" if found.get("type") == "struct" else "nested"


ColumnType = Annotated[
    Annotated[str, Tag("name")]
    | Annotated["Struct", Tag("struct")]
    | Annotated[dict[str, Any], Tag("nested")],
    Discriminator(_kind_of_type),
]

ColumnMetadata = TypedDict(
    "ColumnMetadata", {"delta.columnMapping.physicalName": NotRequired[Text | None]}
)  # fmt: skip


@with_config(_STRICT)
class Column(TypedDict):
    """A column, or a field of one."""

    name: Text
    type: ColumnType
    metadata: NotRequired[ColumnMetadata | None]


@with_config(_STRICT)
class Struct(TypedDict):
    """A schema, or the type of a column that has fields."""

    fields: list[Column]


LOG_LINE = TypeAdapter[LogLine](LogLine)
STATS = TypeAdapter[StoredStats](StoredStats)
CLUSTERING = TypeAdapter[Clustering](Clustering)
SCHEMA = TypeAdapter[Struct](Struct)
NAMES = TypeAdapter[list[str]](list[str])
