"""An existing Delta table, found by its folder. Only the log is read, and nothing is written."""

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import cast

from bench.engines.delta.actions import LogError, Metadata, Struct
from bench.engines.delta.columns import Layout, planner_problem
from bench.engines.delta.description import description_of
from bench.engines.delta.history import read_history
from bench.engines.delta.ledger import delta_ledger
from bench.engines.delta.log import LOG_FOLDER, DeltaLog, live_actions
from bench.engines.delta.predicate import PredicateError, comparable_type, matching_partitions
from bench.engines.delta.state import live_files
from bench.engines.existing import DeleteFacts, Shortfall, TableAddress, TableFacts, committed_text
from bench.engines.folders import FolderTable, is_table_in, opened_folder
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
from strategies.state import TableState
from workloads.history_file import TableHistory


@dataclass(frozen=True, slots=True)
class DeltaTable(FolderTable):
    """A table at its last version, whose commit is in `log_file`."""

    location: str
    log_file: str
    committed_ms: int | None
    metadata: Metadata
    schema: Struct
    state: DeltaState

    @property
    def facts(self) -> TableFacts:
        return TableFacts(
            location=self.location,
            metadata=self.log_file,
            format_version=None,
            version=self.state.version,
            committed_at=committed_text(self.committed_ms),
            partition_spec=", ".join(self.metadata["partitionColumns"]),
            columns=tuple(_names(self.schema)),
            delete_files=[DeleteFacts.of("deletion_vector", self.state.delete_files)],
        )

    def narrowed(self, action: Action) -> tuple[Action, DeltaState]:
        """The action without its `where`, and the state of the partitions that match it."""
        if not isinstance(action, Native) or "where" not in action.arguments:
            return action, self.state
        arguments = {key: text for key, text in action.arguments.items() if key != "where"}
        partitions = self._matching(action.arguments["where"])
        files = tuple(file for file in self.state.data_files if file.partition in partitions)
        return replace(action, arguments=arguments), replace(self.state, data_files=files)

    def _matching(self, where: str) -> frozenset[str]:
        types = {column: self._type_of(column) for column in self.metadata["partitionColumns"]}
        try:
            return frozenset(matching_partitions(self.state.partitions, types, where))
        except PredicateError as error:
            names = ", ".join(types) or "none"
            raise ScenarioError(
                f"{value_text(where)} cannot be evaluated, {error}: use =, <, >, IN, IS NULL, AND, OR, NOT "
                f"with partition columns ({names}) and literals, or leave it out",
                code="unsupported",
                path="where",
            ) from error

    def _type_of(self, column: str) -> str:
        (column_type,) = (field["type"] for field in self.schema["fields"] if field["name"] == column)
        comparable = comparable_type(column_type)
        if comparable is None:
            raise ScenarioError(
                f"cannot be evaluated for partition column {column} of type {value_text(column_type)}: leave "
                "it out",
                code="unsupported",
                path="where",
            )
        return comparable

    def shortfall(self, action: Action, state: TableState) -> Shortfall | None:
        """Of OPTIMIZE only."""
        if isinstance(action, Native) and action.command != Command.OPTIMIZE:
            return None
        if not isinstance(action, Native | Compact):
            return None
        table = state_as(DeltaState, state)
        options = optimize_options(action.options, state.target_file_size_bytes)
        shortfall = _clustering_shortfall if table.clustering_columns else _merging_shortfall
        return shortfall(table, options)

    def planner_problem(self, planner: Planner) -> str | None:
        """Only DATE and string columns may hold days."""
        names, by = list(_names(self.schema)), tuple(self.metadata["partitionColumns"])
        leaves = (name for name, next_ in pairwise((*names, "")) if not next_.startswith(f"{name}."))
        has_days = any(self._type_of(column) in ("DATE", "VARCHAR") for column in by)
        layout = Layout(tuple(leaves), by, self.state.clustering_columns, has_days, self.state.properties)
        return planner_problem(layout, planner)


def _merging_shortfall(table: DeltaState, options: OptimizeOptions) -> Shortfall:
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
    return is_table_in(LOG_FOLDER, name)


def open_existing(address: TableAddress) -> DeltaTable:
    """Read the table in a folder as it is now. Raises ScenarioError."""
    with opened_folder(address, LOG_FOLDER, "Delta", LogError) as location:
        log, now_ms = DeltaLog(location), round(time.time() * 1000)
        commits = list(log.from_start())
        table = description_of(commits, log.folder)
        times_ms = (commit.committed_ms for commit in commits if commit.committed_ms)
        first_ms = table.metadata.get("createdTime") or next(times_ms, now_ms)
        ledger = delta_ledger(
            table.target_bytes, table.properties, table.clustering_columns, stream_epoch_ms=first_ms
        )
        columns, names = table.partition_columns, table.logical_names
        dated = (commit for commit in commits if not commit.is_checkpoint)
        committed_ms = {action.key: commit.committed_ms for commit in dated for action in commit.added}
        for action in live_actions(commits):
            data, *vectors = live_files(action.renamed(names), columns)
            ledger.add([data], max((action.fields.get("modificationTime") or first_ms) - first_ms, 0))
            # A file keeps its modification time when it gets a vector. A checkpoint does not say when it did.
            at_ms = committed_ms.get(action.key)
            ledger.add(vectors, None if at_ms is None else max(at_ms - first_ms, 0))
        last = commits[-1]
        ledger.version = str(last.version)
        state = ledger.state(max(now_ms - first_ms, 0))
        return DeltaTable(
            location, log.path_of(last.version), last.committed_ms, table.metadata, table.schema, state
        )


def import_history(address: TableAddress, since_ms: int | None) -> TableHistory:
    """The history of the table in a folder. Raises ScenarioError."""
    with opened_folder(address, LOG_FOLDER, "Delta", LogError) as location:
        return read_history(DeltaLog(location), since_ms)


def _names(struct: Struct, prefix: str = "") -> Iterator[str]:
    """The full names of all columns and of their fields, such as a and a.b."""
    for field in struct["fields"]:
        yield f"{prefix}{field['name']}"
        if isinstance(field["type"], dict) and field["type"].get("type") == "struct":
            yield from _names(cast(Struct, field["type"]), f"{prefix}{field['name']}.")
