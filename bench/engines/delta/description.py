"""What the log of a Delta table says of the table itself, beside its files."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from bench.engines.delta.actions import SCHEMA, LogError, Metadata, Protocol, Struct, checked
from bench.engines.delta.log import LogCommit
from strategies.state import GIB

_TARGET_PROPERTY = "delta.targetFileSize"  # of Databricks and delta-rs; OPTIMIZE on Spark ignores it
_DEFAULT_TARGET_BYTES = GIB  # spark.databricks.delta.optimize.maxFileSize
_READER_VERSIONS = (1, 2, 3)
# Reader features with which files and partitions are read correctly here.
_READER_FEATURES = frozenset({
    "columnMapping", "deletionVectors", "timestampNtz", "typeWidening", "typeWidening-preview",
    "v2Checkpoint", "vacuumProtocolCheck", "variantType", "variantType-preview",
})  # fmt: skip

_Action = TypeVar("_Action")


@dataclass(frozen=True, slots=True)
class Description:
    """A table as of the last of its commits.

    `logical_names` are the names of its columns by those in the log, which differ with column mapping.
    """

    metadata: Metadata
    schema: Struct
    clustering_columns: tuple[str, ...]
    logical_names: Mapping[str, str]

    @property
    def partition_columns(self) -> tuple[str, ...]:
        return tuple(self.metadata["partitionColumns"])

    @property
    def properties(self) -> Mapping[str, str]:
        configuration = self.metadata.get("configuration") or {}
        return {name: text for name, text in configuration.items() if text is not None}

    @property
    def target_bytes(self) -> int:
        text = self.properties.get(_TARGET_PROPERTY, "")
        return int(text) if text.isdecimal() and int(text) else _DEFAULT_TARGET_BYTES


def description_of(commits: Sequence[LogCommit], folder: str) -> Description:
    """Raises LogError if the table needs a feature that this reader does not know."""
    _check_protocol(_last((commit.protocol for commit in commits), folder, "protocol"), folder)
    metadata = _last((commit.metadata for commit in commits), folder, "metaData")
    schema = checked(SCHEMA.validate_json, metadata["schemaString"], f"{folder}, metaData.schemaString")
    clustered = (c.clustering_columns for c in reversed(commits) if c.clustering_columns is not None)
    return Description(metadata, schema, next(clustered, ()), _logical_names(schema))


def _logical_names(schema: Struct) -> Mapping[str, str]:
    """The names of columns by those that the files have for them."""
    named = ((column, column.get("metadata") or {}) for column in schema["fields"])
    return {
        metadata.get("delta.columnMapping.physicalName") or column["name"]: column["name"]
        for column, metadata in named
    }


def _last(actions: Iterable[_Action | None], folder: str, name: str) -> _Action:
    known = [action for action in actions if action is not None]
    if not known:
        raise LogError(f"{folder}: no version has the action {name}")
    return known[-1]


def _check_protocol(protocol: Protocol, folder: str) -> None:
    version = protocol["minReaderVersion"]
    if version not in _READER_VERSIONS:
        known = ", ".join(map(str, _READER_VERSIONS))
        raise LogError(f"{folder}: minReaderVersion {version} is not supported, only {known}")
    unknown = set(protocol.get("readerFeatures") or ()) - _READER_FEATURES
    if unknown:
        raise LogError(
            f"{folder}: the table feature {', '.join(sorted(unknown))} is not supported, only "
            f"{', '.join(sorted(_READER_FEATURES))}"
        )
