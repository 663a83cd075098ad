"""The actions of a Delta log, checked as they are read.

Fields that are not read are kept, since any writer may add its own. Numbers are whole and fit into a Java
long.

Source: Delta transaction log protocol, "Actions", "Per-file Statistics", "Schema Serialization Format".
"""

from collections.abc import Callable
from typing import Annotated, Any, Literal, NotRequired, TypeVar

from pydantic import ConfigDict, Discriminator, Field, Tag, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from bench.errors import first_error

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


def checked(check: Callable[[Any], _Checked], content: object, place: str) -> _Checked:
    """`check(content)`, where a ValidationError becomes a LogError that names the place in the log."""
    try:
        return check(content)
    except ValidationError as error:
        raise LogError(f"{place} is damaged: {first_error(error)}") from error


@with_config(_STRICT)
class Vector(TypedDict):
    storageType: Literal["u", "i", "p"]
    pathOrInlineDv: str
    offset: NotRequired[Count | None]
    sizeInBytes: Count
    cardinality: Count


@with_config(_ONLY_THIS)
class StoredStats(TypedDict):
    numRecords: NotRequired[Count | None]


@with_config(_STRICT)
class Remove(TypedDict):
    path: Text
    dataChange: NotRequired[bool | None]
    deletionTimestamp: NotRequired[Instant | None]
    size: NotRequired[Count | None]
    deletionVector: NotRequired[Vector | None]


@with_config(_STRICT)
class Add(TypedDict):
    """A checkpoint may have `stats_parsed` instead of `stats`."""

    path: Text
    size: Count
    dataChange: NotRequired[bool | None]
    partitionValues: NotRequired[Texts | None]
    modificationTime: NotRequired[Instant | None]
    stats: NotRequired[str | None]
    stats_parsed: NotRequired[StoredStats | None]
    tags: NotRequired[Texts | None]
    deletionVector: NotRequired[Vector | None]
    clusteringProvider: NotRequired[str | None]


@with_config(_STRICT)
class CommitInfo(TypedDict):
    timestamp: NotRequired[Instant | None]
    inCommitTimestamp: NotRequired[Instant | None]
    operation: NotRequired[str | None]
    operationParameters: NotRequired[dict[str, Any] | None]
    operationMetrics: NotRequired[dict[str, Any] | None]
    userMetadata: NotRequired[str | None]


@with_config(_STRICT)
class Metadata(TypedDict):
    schemaString: str
    partitionColumns: list[Text]
    configuration: NotRequired[Texts | None]
    createdTime: NotRequired[Instant | None]


@with_config(_STRICT)
class Protocol(TypedDict):
    minReaderVersion: int
    readerFeatures: NotRequired[list[str] | None]


@with_config(_STRICT)
class DomainMetadata(TypedDict):
    """The `configuration` has a notation of its own in each domain."""

    domain: str
    configuration: NotRequired[Any]
    removed: NotRequired[bool | None]


@with_config(_ONLY_THIS)
class LogLine(TypedDict):
    """A line of a commit, or a row of a checkpoint, with the actions that are read."""

    add: NotRequired[Add]
    remove: NotRequired[Remove]
    commitInfo: NotRequired[CommitInfo | None]
    metaData: NotRequired[Metadata]
    protocol: NotRequired[Protocol]
    domainMetadata: NotRequired[DomainMetadata]


@with_config(_STRICT)
class Clustering(TypedDict):
    clusteringColumns: list[list[Text]]


def _kind_of_type(column_type: object) -> str:
    if not isinstance(column_type, dict):
        return "name"
    return "struct" if column_type.get("type") == "struct" else "nested"


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
    name: Text
    type: ColumnType
    metadata: NotRequired[ColumnMetadata | None]


@with_config(_STRICT)
class Struct(TypedDict):
    fields: list[Column]


LOG_LINE = TypeAdapter[LogLine](LogLine)
STATS = TypeAdapter[StoredStats](StoredStats)
CLUSTERING = TypeAdapter[Clustering](Clustering)
SCHEMA = TypeAdapter[Struct](Struct)
NAMES = TypeAdapter[list[str]](list[str])
