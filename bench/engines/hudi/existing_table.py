"""An existing Hudi table, found by its folder. Only the timeline and a listing are read."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bench.engines.existing import DeleteFacts, Shortfall, TableAddress, TableFacts
from bench.engines.folders import FolderTable, is_table_in, opened_folder
from bench.engines.hudi.existing_state import StateReading
from bench.engines.hudi.fitting import options_problem
from bench.engines.hudi.folder import METADATA_FOLDER, TableFolder
from bench.engines.hudi.history import read_history
from bench.engines.hudi.slices import has_buckets
from bench.engines.hudi.table_keys import partition_columns
from bench.engines.hudi.timeline_files import (
    PROPERTIES_FILE,
    EarlyTimelineFiles,
    TimelineError,
    TimelineFiles,
    table_properties,
)
from bench.text import human_bytes
from strategies.hudi.clustering_plan import GROUP_BYTES, SMALL_FILE_LIMIT, TARGET_BYTES, clustering_options
from strategies.hudi.commands import Command
from strategies.hudi.compaction_plan import compaction_settings
from strategies.hudi.compaction_strategies import uses_today
from strategies.hudi.files import FileSlice, HudiState
from strategies.hudi.planners import Clustering, Compaction, LogCompaction
from strategies.plan import Action, Native
from strategies.planner import Planner
from strategies.state import GIB, MIB, TableState
from workloads.history_file import TableHistory

# Hudi's defaults. In a scenario, the defaults follow from the target file size instead.
_CLUSTERING_DEFAULTS = {
    SMALL_FILE_LIMIT: str(300 * MIB), TARGET_BYTES: str(GIB), GROUP_BYTES: str(2 * GIB)
}  # fmt: skip
_INCREMENTAL = (
    ", and looks only at partitions written to since the last {} unless "
    "hoodie.table.services.incremental.enabled is false"
)
_VERSIONS = (6, 8, 9)
_EARLY_VERSIONS = (6,)
_FOLDERS = {"hoodie.timeline.path": "timeline", "hoodie.timeline.history.path": "history"}  # the defaults


@dataclass(frozen=True, slots=True)
class HudiTable(FolderTable):
    """A table at its last completed instant; `properties` are those in hoodie.properties."""

    location: str
    properties: Mapping[str, str]
    state: HudiState
    columns: tuple[str, ...]
    committed_at: str | None

    @property
    def facts(self) -> TableFacts:
        logs = self.state.delete_files
        return TableFacts(
            location=self.location,
            metadata=f"{self.location.rstrip('/')}/{METADATA_FOLDER}",
            format_version=None,
            version=self.state.version,
            committed_at=self.committed_at,
            partition_spec=", ".join(partition_columns(self.properties)),
            columns=self.columns,
            delete_files=[DeleteFacts.of("log_file", logs, has_rows=all(log.has_rows_count for log in logs))],
        )

    def narrowed(self, action: Action) -> tuple[Action, HudiState]:
        """A clustering gets Hudi's own defaults."""
        if isinstance(action, Native) and action.command == Command.CLUSTERING:
            return replace(action, options={**_CLUSTERING_DEFAULTS, **action.options}), self.state
        return action, self.state

    def shortfall(self, action: Action, state: TableState) -> Shortfall | None:
        """Of compaction and clustering only."""
        if not isinstance(action, Native):
            return None
        match action.command:
            case Command.COMPACTION:
                return self._compaction_shortfall(action)
            case Command.CLUSTERING:
                return self._clustering_shortfall(action)
            case _:
                return None

    def _compaction_shortfall(self, action: Native) -> Shortfall:
        settings = compaction_settings(action.options, today=None)
        options = ", ".join(f"{name}={text}" for name, text in action.options.items()) or "defaults"
        return self._shortfall(
            [candidate for candidate in self.state.free_slices(Command.COMPACTION) if candidate.logs],
            "in file slices with log files and without a pending plan",
            f"{action.arguments['strategy']} selects from them by its options ({options})"
            f"{_INCREMENTAL.format('compaction') if settings.is_incremental else ''}",
            {
                "target_io_mib": settings.target_io_mib,
                "log_bytes_min": settings.log_bytes_min,
                "log_files_min": settings.log_files_min,
            },
        )

    def _clustering_shortfall(self, action: Native) -> Shortfall:
        options = clustering_options(action.options, self.state.target_file_size_bytes)
        return self._shortfall(
            [
                candidate
                for candidate in self.state.free_slices(Command.CLUSTERING)
                if candidate.base_bytes < options.small_bytes
            ],
            f"below {human_bytes(options.small_bytes)} and without a pending plan",
            f"clustering works partition by partition"
            f"{_INCREMENTAL.format('clustering') if options.is_incremental else ''}",
            {"small_bytes": options.small_bytes, "groups_max": options.groups_max},
        )

    def _shortfall(
        self, candidates: Sequence[FileSlice], are: str, needs: str, thresholds: Mapping[str, int]
    ) -> Shortfall:
        by_partition = Counter(candidate.group.partition for candidate in candidates)
        return Shortfall(
            files_count=len(self.state.file_slices),
            candidates_count=len(candidates),
            candidates_together_count=max(by_partition.values(), default=0),
            candidates_are=are,
            needs=needs,
            thresholds=thresholds,
        )

    def planner_problem(self, planner: Planner) -> str | None:
        is_merge_on_read = self.properties.get("hoodie.table.type") == "MERGE_ON_READ"
        if isinstance(planner, Compaction | LogCompaction) and not is_merge_on_read:
            return "merges log files, and a COPY_ON_WRITE table has none: use another planner"
        if isinstance(planner, Compaction):
            return options_problem(planner) or self._dates_problem(planner)
        if isinstance(planner, Clustering) and has_buckets(self.state.file_slices):
            return (
                "makes new file groups, and this table has the file ids of a bucket index, which has a fixed "
                "number of file groups: use another planner"
            )
        return None

    def _dates_problem(self, planner: Compaction) -> str | None:
        """Hudi's partition-aware classes expect slashes in partition paths, and plan nothing otherwise."""
        paths = {group.partition for group in self.state.file_slices}
        if not paths or not uses_today(planner.strategy) or not all("-" in path for path in paths):
            return None
        return (
            f"expects partition paths such as 2026/01/01, and this table has {min(paths)}, for which Hudi "
            "plans nothing: use another strategy"
        )


def is_table_at(name: str) -> bool:
    return is_table_in(METADATA_FOLDER, name)


def open_existing(address: TableAddress) -> HudiTable:
    """Read the table in a folder as it is now. Raises ScenarioError."""
    with opened_folder(address, METADATA_FOLDER, "Hudi", TimelineError) as location:
        properties, _, reading = _read(location)
        return HudiTable(location, properties, *reading.read(properties))


def import_history(address: TableAddress, since_ms: int | None) -> TableHistory:
    """The history of the table in a folder. Raises ScenarioError."""
    with opened_folder(address, METADATA_FOLDER, "Hudi", TimelineError) as location:
        properties, files, reading = _read(location)
        return read_history(reading, files, properties, since_ms)


def _read(location: str) -> tuple[Mapping[str, str], TimelineFiles, StateReading]:
    folder, now_ms = TableFolder(location), round(time.time() * 1000)
    properties = table_properties(folder)
    _check_properties(properties, folder.place(PROPERTIES_FILE))
    is_early = int(properties["hoodie.table.version"]) in _EARLY_VERSIONS
    files = EarlyTimelineFiles(folder) if is_early else TimelineFiles(folder)
    return properties, files, StateReading(files, folder.list(), now_ms)


def _check_properties(properties: Mapping[str, str], place: str) -> None:
    """Raises TimelineError for a table that would not be read correctly."""
    version = properties.get("hoodie.table.version", "")
    if version not in map(str, _VERSIONS):
        known = ", ".join(map(str, _VERSIONS))
        raise TimelineError(
            f"{place}: hoodie.table.version {version} is not supported, only {known} (Hudi 0.14 and later)"
        )
    for name, default in _FOLDERS.items():
        if properties.get(name, default) not in (default, ""):
            raise TimelineError(f"{place}: {name} is {properties[name]}, only {default} is supported")
    base = properties.get("hoodie.table.base.file.format", "PARQUET")
    if base.upper() != "PARQUET":
        raise TimelineError(f"{place}: hoodie.table.base.file.format is {base}, only PARQUET is supported")
