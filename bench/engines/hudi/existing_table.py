"""An existing Hudi table, found by its folder. Only its timeline and its listing are read."""

import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from bench.engines.existing import (
    DeleteFacts,
    Shortfall,
    TableAddress,
    TableFacts,
    reading,
    resolved,
    table_folder,
)
from bench.engines.hudi.existing_state import StateReading
from bench.engines.hudi.fitting import options_problem
from bench.engines.hudi.folder import METADATA_FOLDER, TableFolder
from bench.engines.hudi.timeline_files import (
    PROPERTIES_FILE,
    EarlyTimelineFiles,
    TimelineError,
    TimelineFiles,
    table_properties,
)
from bench.engines.keys import value_text
from bench.errors import ScenarioError
from bench.text import human_bytes
from strategies.hudi.cluster import Clustering
from strategies.hudi.clustering_plan import GROUP_BYTES, SMALL_FILE_LIMIT, TARGET_BYTES, clustering_options
from strategies.hudi.commands import Command
from strategies.hudi.compact import Compaction
from strategies.hudi.compaction_options import compaction_settings
from strategies.hudi.compaction_strategies import uses_today
from strategies.hudi.files import FileSlice, HudiState
from strategies.hudi.log_compact import LogCompaction
from strategies.plan import Action, Native
from strategies.planner import Planner
from strategies.preview import Preview
from strategies.state import GIB, MIB, TableState

# Upper ends of size classes as fractions of the target.
SIZE_CLASSES = (0.01, 0.1, 0.5, 1.0)

# Hudi's own defaults. In a scenario they follow from the target file size instead.
_CLUSTERING_DEFAULTS = {
    SMALL_FILE_LIMIT: str(300 * MIB), TARGET_BYTES: str(GIB), GROUP_BYTES: str(2 * GIB)
}  # fmt: skip
_INCREMENTAL = (
    ", and looks only at partitions written to since the last {} unless "
    "hoodie.table.services.incremental.enabled is false"
)
_VERSIONS = (6, 8, 9)
_EARLY_VERSIONS = (6,)
_FOLDERS = {"hoodie.timeline.path": "timeline", "hoodie.timeline.history.path": "history"}  # as by default


@dataclass(frozen=True, slots=True)
class HudiTable:
    """A table as of its last completed instant; `properties` are those of hoodie.properties."""

    location: str
    properties: Mapping[str, str]
    state: HudiState
    columns: tuple[str, ...]
    committed_at: str | None

    @property
    def facts(self) -> TableFacts:
        """What its metadata folder says about the table."""
        logs = self.state.delete_files
        return TableFacts(
            location=self.location,
            metadata=f"{self.location.rstrip('/')}/{METADATA_FOLDER}",
            format_version=None,
            version=self.state.version,
            committed_at=self.committed_at,
            partition_spec=", ".join(_listed(self.properties.get("hoodie.table.partition.fields", ""))),
            columns=self.columns,
            delete_files=[
                DeleteFacts(
                    "log_file",
                    len(logs),
                    sum(log.size_bytes for log in logs),
                    sum(log.rows for log in logs) if all(log.has_rows_count for log in logs) else None,
                )
            ],
            size_classes=SIZE_CLASSES,
        )

    def narrowed(self, action: Action) -> tuple[Action, HudiState]:
        """A clustering with Hudi's own defaults; any other action as it is."""
        if isinstance(action, Native) and action.command == Command.CLUSTERING:
            return replace(action, options={**_CLUSTERING_DEFAULTS, **action.options}), self.state
        return action, self.state

    def shortfall(self, action: Action, state: TableState) -> Shortfall | None:
        """Why a compaction or a clustering would take no file slice; None for any other action."""
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
        """Slices with log files are candidates; the strategy and its options leave them out."""
        settings = compaction_settings(action.options, today=None)
        given = ", ".join(f"{name}={text}" for name, text in action.options.items()) or "their defaults"
        return self._shortfall(
            [each for each in self.state.free_slices(Command.COMPACTION) if each.logs],
            "in file slices with log files and without a pending plan",
            f"{action.arguments['strategy']} chooses among them by its options ({given})"
            f"{_INCREMENTAL.format('compaction') if settings.is_incremental else ''}",
            {
                "target_io_mib": settings.target_io_mib,
                "log_bytes_min": settings.log_bytes_min,
                "log_files_min": settings.log_files_min,
            },
        )

    def _clustering_shortfall(self, action: Native) -> Shortfall:
        """Slices with a small base file are candidates."""
        options = clustering_options(action.options, self.state.target_file_size_bytes)
        return self._shortfall(
            [
                each
                for each in self.state.free_slices(Command.CLUSTERING)
                if each.base_bytes < options.small_bytes
            ],
            f"below {human_bytes(options.small_bytes)} and without a pending plan",
            f"a clustering takes them partition by partition"
            f"{_INCREMENTAL.format('clustering') if options.is_incremental else ''}",
            {"small_bytes": options.small_bytes, "groups_max": options.groups_max},
        )

    def _shortfall(
        self, candidates: Sequence[FileSlice], are: str, needs: str, thresholds: Mapping[str, int]
    ) -> Shortfall:
        by_partition = Counter(each.group.partition for each in candidates)
        return Shortfall(
            files_count=len(self.state.file_slices),
            candidates_count=len(candidates),
            candidates_together_count=max(by_partition.values(), default=0),
            candidates_are=are,
            needs=needs,
            thresholds=thresholds,
        )

    def planner_problem(self, planner: Planner) -> str | None:
        """Why Hudi would refuse all that a planner plans; its index is not known, since no table keeps it."""
        is_merge_on_read = self.properties.get("hoodie.table.type") == "MERGE_ON_READ"
        if isinstance(planner, Compaction | LogCompaction) and not is_merge_on_read:
            return "merges log files, and a COPY_ON_WRITE table has none: name another planner"
        if isinstance(planner, Compaction):
            return options_problem(planner) or self._dates_problem(planner)
        if isinstance(planner, Clustering) and self._has_buckets:
            return (
                "makes new file groups, and the file ids of this table are those of a bucket index, whose "
                "number of file groups is fixed: name another planner"
            )
        return None

    def _dates_problem(self, planner: Compaction) -> str | None:
        """Hudi's partition-aware classes look for what they choose under paths with slashes for dashes."""
        paths = {group.partition for group in self.state.file_slices}
        if not paths or not uses_today(planner.strategy) or not all("-" in path for path in paths):
            return None
        return (
            f"expects partition paths such as 2026/01/01, and this table has paths such as {min(paths)}: "
            "Hudi itself would silently plan nothing; name another strategy"
        )

    @property
    def _has_buckets(self) -> bool:
        """Whether all file groups are numbered within their partition, as those of a bucket index are."""
        numbers: dict[str, set[str]] = {}
        groups = list(self.state.file_slices)
        for group in groups:
            numbers.setdefault(group.partition, set()).add(group.file_id[:8])
        first = f"{0:08}"
        return bool(groups) and all(
            first in own and all(number.isdecimal() for number in own) for own in numbers.values()
        )

    def dropped_deletes(self, action: Action, preview: Preview) -> Collection[str]:
        """Always none: Hudi drops log files only together with the slices it rewrites."""
        return ()

    def is_files_out_exact(self, preview: Preview) -> bool:
        """Exact unless slices are clustered into several files, whose sizes are only targets."""
        return all(len(group.tasks) == 1 for group in preview.groups)

    def is_deletes_exact(self) -> bool:
        """A log file is read with its own file slice."""
        return True


def is_table_at(name: str) -> bool:
    """Whether there is a Hudi table, if only a damaged one; False if it cannot be told."""
    try:
        location = resolved(name)
        return METADATA_FOLDER in location.split("/") or TableFolder(location).is_there()
    except (OSError, ValueError):
        return False


def open_existing(address: TableAddress) -> HudiTable:
    """The table in a folder, as it is now. Raises ScenarioError with the problem and a remedy."""
    location = table_folder(address, METADATA_FOLDER, "Hudi tables")
    with reading(location, TimelineError):
        return _opened(location, round(time.time() * 1000))


def _opened(location: str, now_ms: int) -> HudiTable:
    folder = TableFolder(location)
    if not folder.is_there():
        raise ScenarioError(
            f"{location}: is not a Hudi table: it has no folder {METADATA_FOLDER}; give the table's folder"
        )
    properties = table_properties(folder)
    _check_properties(properties, folder.place(PROPERTIES_FILE))
    is_early = int(properties["hoodie.table.version"]) in _EARLY_VERSIONS
    files = EarlyTimelineFiles(folder) if is_early else TimelineFiles(folder)
    found = StateReading(files, folder.list(), now_ms).read(properties)
    return HudiTable(location, properties, *found)


def _check_properties(properties: Mapping[str, str], place: str) -> None:
    """Raises TimelineError for a table that is not read correctly here."""
    version = properties.get("hoodie.table.version", "")
    if version not in map(str, _VERSIONS):
        known = ", ".join(map(str, _VERSIONS))
        raise TimelineError(
            f"{place}: hoodie.table.version = {value_text(version)}: versions {known} can be read, those of "
            "Hudi 0.14 and later"
        )
    for name, usual in _FOLDERS.items():
        if properties.get(name, usual) not in (usual, ""):
            raise TimelineError(
                f"{place}: {name} = {properties[name]}: only the folder {usual!r} can be read"
            )
    base = properties.get("hoodie.table.base.file.format", "PARQUET")
    if base.upper() != "PARQUET":
        raise TimelineError(f"{place}: hoodie.table.base.file.format = {base}: only PARQUET can be read")


def _listed(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
