"""An existing Delta table, found by its folder. Only its log is read, and nothing is written."""

import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import cast

from bench.engines.delta.actions import SCHEMA, Column, LogError, Metadata, Struct, checked
from bench.engines.delta.columns import Layout, planner_problem
from bench.engines.delta.ledger import delta_ledger
from bench.engines.delta.log import LOG_FOLDER, DeltaLog, FileAction, LogCommit, live_actions
from bench.engines.delta.predicate import PredicateError, comparable_type, matching_partitions
from bench.engines.delta.state import live_files
from bench.engines.existing import (
    DeleteFacts,
    Shortfall,
    TableAddress,
    TableFacts,
    reading,
    resolved,
    table_folder,
)
from bench.engines.keys import value_text
from bench.errors import ScenarioError
from bench.text import human_bytes, human_percent
from strategies.delta.clustering import small_cubes
from strategies.delta.commands import Command
from strategies.delta.compaction import is_due, vectors_of
from strategies.delta.files import DeltaState
from strategies.delta.optimize_options import OptimizeOptions, optimize_options
from strategies.plan import Action, Compact, Native, state_as
from strategies.planner import Planner
from strategies.preview import Preview
from strategies.state import GIB, TableState

# Upper ends of size classes as fractions of the target.
SIZE_CLASSES = (0.01, 0.1, 0.5, 1.0)

_TARGET_PROPERTY = "delta.targetFileSize"  # of Databricks and delta-rs; OPTIMIZE on Spark does not heed it
_DEFAULT_TARGET_BYTES = GIB  # spark.databricks.delta.optimize.maxFileSize
_TARGET_DIGITS_MAX = 18  # of a Java long
_READER_VERSIONS = (1, 2, 3)
# The features that a reader has to know, as far as files and partitions are read correctly with them.
_READER_FEATURES = frozenset({
    "columnMapping", "deletionVectors", "timestampNtz", "typeWidening", "typeWidening-preview",
    "v2Checkpoint", "vacuumProtocolCheck", "variantType", "variantType-preview",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class DeltaTable:
    """A table at its last version, with the `metaData` action that holds for it and its schema."""

    location: str
    log_file: str
    committed_ms: int | None
    metadata: Metadata
    schema: Struct
    state: DeltaState

    @property
    def facts(self) -> TableFacts:
        """What the log says about the table."""
        committed = (
            None if self.committed_ms is None else datetime.fromtimestamp(self.committed_ms / 1000, UTC)
        )
        vectors = self.state.delete_files
        return TableFacts(
            location=self.location,
            metadata=self.log_file,
            format_version=None,
            version=self.state.version,
            committed_at=committed.isoformat(timespec="milliseconds") if committed else None,
            partition_spec=", ".join(self.metadata["partitionColumns"]),
            columns=tuple(_names(self.schema)),
            delete_files=[
                DeleteFacts(
                    "deletion_vector",
                    len(vectors),
                    sum(v.size_bytes for v in vectors),
                    sum(v.rows for v in vectors),
                )
            ],
            size_classes=SIZE_CLASSES,
        )

    def narrowed(self, action: Action) -> tuple[Action, DeltaState]:
        """The action without its predicate, and the state with only the partitions that match it."""
        if not isinstance(action, Native) or "where" not in action.arguments:
            return action, self.state
        arguments = {key: text for key, text in action.arguments.items() if key != "where"}
        partitions = self._matching(action.arguments["where"])
        files = tuple(file for file in self.state.data_files if file.partition in partitions)
        return replace(action, arguments=arguments), replace(self.state, data_files=files)

    def _matching(self, where: str) -> frozenset[str]:
        """The partitions of a predicate. Raises ScenarioError if it cannot be evaluated."""
        types = {column: self._type_of(column) for column in self.metadata["partitionColumns"]}
        try:
            return frozenset(matching_partitions(self.state.partitions, types, where))
        except PredicateError as error:
            names = ", ".join(types) or "none"
            raise ScenarioError(
                f"where = {value_text(where)} selects partitions that cannot be determined: {error}; write "
                f"it with =, <, >, IN, IS NULL, AND, OR and NOT over partition columns ({names}) and "
                "literals, or leave it out"
            ) from error

    def _type_of(self, column: str) -> str:
        (found,) = (field["type"] for field in self.schema["fields"] if field["name"] == column)
        comparable = comparable_type(found)
        if comparable is None:
            raise ScenarioError(
                f"{self.location}: the partition column {column} is of type {value_text(found)}, by which "
                "`where` cannot be evaluated; leave `where` out"
            )
        return comparable

    def shortfall(self, action: Action, state: TableState) -> Shortfall | None:
        """The thresholds of OPTIMIZE that exclude every file; None for any other action."""
        if isinstance(action, Native) and action.command != Command.OPTIMIZE:
            return None
        if not isinstance(action, Native | Compact):
            return None
        table = state_as(DeltaState, state)
        options = optimize_options(action.options, state.target_file_size_bytes)
        shortfall = _clustering_shortfall if table.clustering_columns else _merging_shortfall
        return shortfall(table, options)

    def planner_problem(self, planner: Planner) -> str | None:
        """See `columns.planner_problem`. Only columns of dates and of texts may hold days."""
        names, by = list(_names(self.schema)), tuple(self.metadata["partitionColumns"])
        leaves = (name for name, next_ in pairwise((*names, "")) if not next_.startswith(f"{name}."))
        has_days = any(self._type_of(column) in ("DATE", "VARCHAR") for column in by)
        layout = Layout(tuple(leaves), by, self.state.clustering_columns, has_days, self.state.properties)
        return planner_problem(layout, planner)

    def dropped_deletes(self, action: Action, preview: Preview) -> Collection[str]:
        """None beside those of the files that are rewritten."""
        return ()

    def is_files_out_exact(self, preview: Preview) -> bool:
        """Not where rows are sorted into several files, whose number is only aimed at."""
        return all(len(group.tasks) == 1 for group in preview.groups)

    def is_deletes_exact(self) -> bool:
        """A deletion vector names its data file."""
        return True


def _merging_shortfall(table: DeltaState, options: OptimizeOptions) -> Shortfall:
    """Why OPTIMIZE merges no file."""
    due = is_due(table, options)
    candidates = Counter(file.partition for file in table.data_files if due(file))
    ratio = human_percent(options.max_deleted_rows_ratio)
    return Shortfall(
        files_count=len(table.data_files),
        candidates_count=candidates.total(),
        candidates_together_count=max(candidates.values(), default=0),
        candidates_are=f"below {human_bytes(options.min_file_bytes)} or have more than {ratio} deleted rows",
        needs="OPTIMIZE merges 2 or more of one partition, up to "
        f"{human_bytes(options.max_file_bytes)} together",
        thresholds={
            "min_file_bytes": options.min_file_bytes,
            "max_file_bytes": options.max_file_bytes,
            "max_deleted_rows_ratio": options.max_deleted_rows_ratio,
            "needed_count": 2,
        },
    )


def _clustering_shortfall(table: DeltaState, options: OptimizeOptions) -> Shortfall:
    """Why OPTIMIZE clusters no file."""
    candidates = small_cubes(
        table.data_files, vectors_of(table), table.clustering_columns, options.min_cube_bytes
    )
    return Shortfall(
        files_count=len(table.data_files),
        candidates_count=sum(map(len, candidates)),
        candidates_together_count=max(map(len, candidates), default=0),
        candidates_are=f"outside of Z-cubes or in a Z-cube below {human_bytes(options.min_cube_bytes)}",
        needs="OPTIMIZE clusters files outside of Z-cubes, and 2 or more such Z-cubes by the same columns, "
        f"up to {human_bytes(options.max_cube_bytes)} together",
        thresholds={"min_cube_bytes": options.min_cube_bytes, "max_cube_bytes": options.max_cube_bytes},
        together_in="Z-cube",
    )


def is_table_at(name: str) -> bool:
    """Whether there is a Delta table or the log of one, if only a damaged one; False if it cannot be told."""
    location = resolved(name)
    if LOG_FOLDER in location.split("/"):
        return True
    try:
        return DeltaLog(location).is_there() or Path(location, LOG_FOLDER).is_symlink()
    except (OSError, ValueError):
        return False


def open_existing(address: TableAddress) -> DeltaTable:
    """The table in a folder, as it is now. Raises ScenarioError with the problem and a remedy."""
    location = table_folder(address, LOG_FOLDER, "Delta tables")
    with reading(location, LogError):
        return _opened(location, round(time.time() * 1000))


def _opened(location: str, now_ms: int) -> DeltaTable:
    log = DeltaLog(location)
    if not log.is_folder():
        raise ScenarioError(
            f"{location}: is not a Delta table: it has no folder {log.folder}; give the table's folder"
        )
    commits = list(log.from_start())
    _check_protocol(commits, log.folder)
    set_by = next((commit for commit in reversed(commits) if commit.metadata is not None), None)
    if set_by is None or set_by.metadata is None:
        raise LogError(f"{log.folder}: no version has the action metaData, so the table has no schema")
    metadata, last = set_by.metadata, commits[-1]
    schema = checked(
        SCHEMA.validate_json, metadata["schemaString"], f"{set_by.log_file}, metaData.schemaString"
    )
    _check_columns(metadata, schema, set_by.log_file)
    properties = {
        name: text for name, text in (metadata.get("configuration") or {}).items() if text is not None
    }
    first_ms = metadata.get("createdTime") or next(
        (c.committed_ms for c in commits if c.committed_ms), now_ms
    )
    target_bytes = _target_bytes(properties, set_by.log_file)
    ledger = delta_ledger(target_bytes, properties, _clustering(commits), stream_epoch_ms=first_ms)
    columns, names = tuple(metadata["partitionColumns"]), _logical_names(schema)
    for action in live_actions(commits):
        added_ms = max((action.fields.get("modificationTime") or first_ms) - first_ms, 0)
        named = action.renamed(names)
        _check_partition(named, columns)
        files = live_files(named, columns)
        try:
            ledger.add(files, added_ms)
        except ValueError as error:
            raise LogError(f"{action.place}: {error}") from error
    ledger.version = str(last.version)
    state = ledger.state(max(now_ms - first_ms, 0))
    return DeltaTable(location, log.path_of(last.version), last.committed_ms, metadata, schema, state)


def _check_protocol(commits: Sequence[LogCommit], folder: str) -> None:
    """Raises LogError unless this reader knows all that the table asks of readers."""
    set_by = next((commit for commit in reversed(commits) if commit.protocol is not None), None)
    if set_by is None or set_by.protocol is None:
        raise LogError(f"{folder}: no version has the action protocol, which says what a reader must know")
    version = set_by.protocol["minReaderVersion"]
    if version not in _READER_VERSIONS:
        known = ", ".join(map(str, _READER_VERSIONS))
        raise LogError(
            f"{set_by.log_file}: protocol.minReaderVersion = {version}: versions {known} can be read"
        )
    unknown = set(set_by.protocol.get("readerFeatures") or ()) - _READER_FEATURES
    if unknown:
        raise LogError(
            f"{set_by.log_file}: protocol.readerFeatures: {', '.join(sorted(unknown))} cannot be read, "
            f"only {', '.join(sorted(_READER_FEATURES))}"
        )


def _check_columns(metadata: Metadata, schema: Struct, log_file: str) -> None:
    """Raises LogError if a partition column is not in the schema, or if the log cannot tell columns apart."""
    missing = sorted(set(metadata["partitionColumns"]) - {column["name"] for column in schema["fields"]})
    if missing:
        raise LogError(f"{log_file}: metaData.partitionColumns: {', '.join(missing)}: not in the schema")
    stored = Counter(_stored_name(column) for column in schema["fields"])
    twice = [name for name, count in stored.items() if count > 1]
    if twice:
        raise LogError(f"{log_file}: metaData.schemaString: several columns are stored as {', '.join(twice)}")


def _check_partition(action: FileAction, columns: Sequence[str]) -> None:
    """Raises LogError unless a file has a value, or null, for each column of the partitions and no other."""
    names = (action.fields.get("partitionValues") or {}).keys()
    if names != set(columns):
        raise LogError(
            f"{action.place}: is damaged: partitionValues names {', '.join(sorted(names)) or 'no column'}, "
            f"and the table is partitioned by {', '.join(columns) or 'none'}"
        )


def _stored_name(column: Column) -> str:
    """What the log calls a column; column mapping makes it differ from its name."""
    return (column.get("metadata") or {}).get("delta.columnMapping.physicalName") or column["name"]


def _logical_names(schema: Struct) -> Mapping[str, str]:
    """The names of columns by those in the log."""
    return {_stored_name(column): column["name"] for column in schema["fields"]}


def _clustering(commits: Sequence[LogCommit]) -> tuple[str, ...]:
    set_by = (c.clustering_columns for c in reversed(commits) if c.clustering_columns is not None)
    return next(set_by, ())


def _target_bytes(properties: Mapping[str, str], log_file: str) -> int:
    """The target that the table names as a number of bytes; otherwise that of OPTIMIZE."""
    text = properties.get(_TARGET_PROPERTY, "")
    if not text.isdecimal():
        return _DEFAULT_TARGET_BYTES
    if len(text) > _TARGET_DIGITS_MAX:
        raise LogError(
            f"{log_file}: metaData.configuration.{_TARGET_PROPERTY} = {value_text(text)}: has more than "
            f"{_TARGET_DIGITS_MAX} digits"
        )
    return int(text) or _DEFAULT_TARGET_BYTES


def _names(struct: Struct, prefix: str = "") -> Iterator[str]:
    """The full names of all columns of a schema, fields of structs included."""
    for field in struct["fields"]:
        yield f"{prefix}{field['name']}"
        if isinstance(field["type"], dict) and field["type"].get("type") == "struct":
            yield from _names(cast(Struct, field["type"]), f"{prefix}{field['name']}.")
