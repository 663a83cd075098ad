"""An existing Delta table, found by its folder. Only its log is read, and nothing is written."""

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

from bench.engines.delta.columns import Layout, planner_problem
from bench.engines.delta.ledger import delta_ledger
from bench.engines.delta.log import DeltaLog, Fields, LogCommit, LogError, live_actions
from bench.engines.delta.state import CLUSTERING_DOMAIN, clustering_columns, live_files
from bench.engines.format import DeleteFacts, Shortfall, TableAddress, TableFacts
from bench.errors import ScenarioError
from bench.keys import value_text
from bench.text import human_bytes, human_percent
from strategies.delta.clustering import small_cubes
from strategies.delta.commands import Command
from strategies.delta.compaction import is_due, vectors_of
from strategies.delta.files import DeltaState, delta_state
from strategies.delta.optimize_options import OptimizeOptions, optimize_options
from strategies.partitions import decoded, fields_of, is_null
from strategies.plan import Action, Compact, Native
from strategies.preview import Preview
from strategies.state import GIB, TableState
from strategies.strategy import Planner

# Upper ends of size classes as fractions of the target.
SIZE_CLASSES = (0.01, 0.1, 0.5, 1.0)

_TARGET_PROPERTY = "delta.targetFileSize"  # of Databricks and delta-rs; OPTIMIZE on Spark does not heed it
_DEFAULT_TARGET_BYTES = GIB  # spark.databricks.delta.optimize.maxFileSize
_UNREADABLE = {"catalogManaged", "catalogOwned-preview"}  # features with commits that are not in the log
_DUCKDB_TYPES = {
    "string": "VARCHAR", "long": "BIGINT", "integer": "INTEGER", "short": "SMALLINT", "byte": "TINYINT",
    "double": "DOUBLE", "float": "FLOAT", "boolean": "BOOLEAN", "date": "DATE", "timestamp": "TIMESTAMP",
    "timestamp_ntz": "TIMESTAMP", "binary": "BLOB",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class DeltaTable:
    """A table at its last version, with the `metaData` action that holds for it and its schema."""

    location: str
    log_file: str
    committed_ms: int | None
    metadata: Fields
    schema: Fields
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
            has_rows_count=all(file.has_rows_count for file in self.state.data_files),
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
        except duckdb.Error as error:
            names = ", ".join(types) or "none"
            raise ScenarioError(
                f"where = {value_text(where)}: the partitions it selects cannot be determined: "
                f"{str(error).splitlines()[0]}; write it with =, <, >, IN, IS NULL, AND, OR and NOT over "
                f"partition columns ({names}) and literals, or leave it out"
            ) from error

    def _type_of(self, column: str) -> str:
        found = next((field["type"] for field in self.schema["fields"] if field["name"] == column), "string")
        if isinstance(found, str) and found.startswith("decimal"):
            return found
        return _DUCKDB_TYPES.get(found, "VARCHAR") if isinstance(found, str) else "VARCHAR"

    def shortfall(self, action: Action, state: TableState) -> Shortfall | None:
        """The thresholds of OPTIMIZE that exclude every file; None for any other action."""
        if isinstance(action, Native) and action.command != Command.OPTIMIZE:
            return None
        if not isinstance(action, Native | Compact):
            return None
        table = delta_state(state)
        options = optimize_options(action.options, state.target_file_size_bytes)
        shortfall = _clustering_shortfall if table.clustering_columns else _merging_shortfall
        return shortfall(table, options)

    def planner_problem(self, planner: Planner) -> str | None:
        """See `columns.planner_problem`. Only columns of dates and of texts may hold days."""
        names, by = list(_names(self.schema)), tuple(self.metadata["partitionColumns"])
        following = (*names[1:], "")
        leaves = (
            name for name, next_ in zip(names, following, strict=True) if not next_.startswith(f"{name}.")
        )
        has_days = any(self._type_of(column) in ("DATE", "VARCHAR") for column in by)
        layout = Layout(tuple(leaves), by, self.state.clustering_columns, has_days, self.state.properties)
        return planner_problem(layout, planner)

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


def is_table_at(location: str) -> bool:
    """Whether there is a Delta table; False where that cannot be found out."""
    try:
        return DeltaLog(_resolved(location)).exists()
    except (OSError, ValueError):
        return False


def open_existing(address: TableAddress) -> DeltaTable:
    """The table in a folder, as it is now. Raises ScenarioError with the problem and a remedy."""
    if address.branch is not None:
        raise ScenarioError(f"--branch {address.branch}: Delta tables have no branches; leave it out")
    if address.catalog is not None or address.properties:
        raise ScenarioError(
            "--catalog, --catalog-property: Delta tables are found by their folders; give the path or URI"
        )
    location = _resolved(address.name)
    try:
        return _opened(location, round(time.time() * 1000))
    except LogError as error:
        raise ScenarioError(f"{error}; check the table with its own engine") from error
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise ScenarioError(
            f"{location}: cannot be read: {type(error).__name__}: {error}; check the path and the credentials"
        ) from error


def _resolved(name: str) -> str:
    return name if "://" in name else str(Path(name).expanduser().absolute())


def _opened(location: str, now_ms: int) -> DeltaTable:
    log = DeltaLog(location)
    if not log.exists():
        raise ScenarioError(
            f"{location}: is not a Delta table: it has no folder {log.folder}; give the table's folder"
        )
    commits = list(log.from_start())
    metadata = next(commit.metadata for commit in reversed(commits) if commit.metadata is not None)
    features = {name for commit in commits for name in commit.reader_features}
    if features & _UNREADABLE:
        raise LogError(f"{location}: its commits are kept by a catalog ({', '.join(features & _UNREADABLE)})")
    first_ms = metadata.get("createdTime") or next(
        (c.committed_ms for c in commits if c.committed_ms), now_ms
    )
    clustering = _clustering(commits)
    properties = dict(metadata.get("configuration") or {})
    target_bytes = _target_bytes(properties)
    ledger = delta_ledger(target_bytes, properties, clustering, stream_epoch_ms=first_ms)
    schema = json.loads(metadata["schemaString"])
    columns, names = tuple(metadata["partitionColumns"]), _logical_names(schema)
    for action in live_actions(commits):
        added_ms = max(int(action.fields.get("modificationTime") or first_ms) - first_ms, 0)
        ledger.add(live_files(action.renamed(names), columns), added_ms)
    ledger.version = str(commits[-1].version)
    state = ledger.state(max(now_ms - first_ms, 0))
    last = commits[-1]
    return DeltaTable(location, log.path_of(last.version), last.committed_ms, metadata, schema, state)


def _logical_names(schema: Fields) -> Mapping[str, str]:
    """The names of columns by those in the log, where column mapping makes them differ."""
    physical = {
        field["name"]: field.get("metadata", {}).get("delta.columnMapping.physicalName")
        for field in schema["fields"]
    }
    return {stored: name for name, stored in physical.items() if stored is not None}


def _clustering(commits: Sequence[LogCommit]) -> tuple[str, ...]:
    set_by = [commit.domains[CLUSTERING_DOMAIN] for commit in commits if CLUSTERING_DOMAIN in commit.domains]
    return clustering_columns(set_by[-1]) if set_by else ()


def _target_bytes(properties: Mapping[str, str]) -> int:
    """The target that the table names as a number of bytes; otherwise that of OPTIMIZE."""
    text = properties.get(_TARGET_PROPERTY, "")
    return int(text) if text.isdecimal() and int(text) else _DEFAULT_TARGET_BYTES


def _names(struct: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """The full names of all columns of a schema, fields of structs included."""
    for field in struct["fields"]:
        yield f"{prefix}{field['name']}"
        if isinstance(field["type"], dict) and field["type"].get("type") == "struct":
            yield from _names(field["type"], f"{prefix}{field['name']}.")


def matching_partitions(partitions: Iterable[str], types: Mapping[str, str], where: str) -> list[str]:
    """Those partitions whose values meet a predicate; `types` are the columns of it, by DuckDB's names.

    Raises duckdb.Error if it cannot be evaluated.
    """
    with duckdb.connect() as database:
        database.execute("SET enable_external_access = false")
        database.execute("SET TimeZone = 'UTC'")
        columns = "".join(f', "{name}" {type_}' for name, type_ in types.items())
        database.execute(f"CREATE TABLE partitions (path VARCHAR{columns})")
        marks = ", ".join("?" * (1 + len(types)))
        rows = [(path, *_values(path, types)) for path in partitions]
        if rows:
            database.executemany(f"INSERT INTO partitions VALUES ({marks})", rows)  # noqa: S608  own names
        predicate = where.replace("`", '"')
        query = f"SELECT path FROM partitions WHERE {predicate}"  # noqa: S608  the user's own predicate
        if len(database.extract_statements(query)) != 1:
            raise duckdb.ParserException("it is more than a predicate")
        return [path for (path,) in database.execute(query).fetchall()]


def _values(path: str, types: Mapping[str, str]) -> Iterator[str | None]:
    values = fields_of(path)
    for name in types:
        value = values.get(name, "null")
        yield None if is_null(value) else decoded(value)
