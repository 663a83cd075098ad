"""Reads the files of a Hudi table's timeline without Hudi's own classes.

Commits and plans are Avro files. Archived instants are rows of Parquet files that contain the same Avro. Up
to table version 6 commits are JSON. Source: LSMTimeline, HoodieLSMTimelineInstant and the classes of timeline
layouts 1 and 2 of Hudi 1.2.0.
"""

import io
import json
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq

from bench.engines.hudi.folder import (
    HISTORY_FOLDER,
    METADATA_FOLDER,
    TIMELINE_FOLDER,
    InstantFiles,
    Listing,
    TableFolder,
)
from bench.engines.hudi.timeline import (
    ACTIONS,
    Fields,
    PlanFacts,
    columns_of,
    facts_of,
    replaced_groups,
    service_of,
    written_files,
)
from bench.errors import first_error
from strategies.hudi.commands import Command

PROPERTIES_FILE = f"{METADATA_FOLDER}/hoodie.properties"
_PLANS: Mapping[Command, str] = {  # actions of pending instants
    Command.COMPACTION: "compaction", Command.LOG_COMPACTION: "logcompaction",
    Command.CLUSTERING: "clustering",
}  # fmt: skip
_ESCAPED = re.compile(r"\\(.)")  # in a file of Java properties


class TimelineError(Exception):
    """A file of the timeline is missing or damaged."""


@dataclass(frozen=True, slots=True)
class Write:
    """A completed instant that wrote files, by a name of `ACTIONS`."""

    requested: str
    completed: str
    action: str
    commit: Fields


def table_properties(folder: TableFolder) -> Mapping[str, str]:
    try:
        text = _content(folder, PROPERTIES_FILE).decode()
    except UnicodeDecodeError as error:
        raise TimelineError(f"{folder.place(PROPERTIES_FILE)} is damaged: {error}") from error
    pairs = (line.partition("=") for line in text.splitlines() if not line.startswith(("#", "!")))
    return {name.strip(): _ESCAPED.sub(r"\1", value.strip()) for name, equals, value in pairs if equals}


class TimelineFiles:
    """Raises TimelineError for a damaged file."""

    timeline_folder = TIMELINE_FOLDER
    is_early = False  # without times of completion, and without archived instants

    def __init__(self, folder: TableFolder) -> None:
        self._folder = folder

    @property
    def place(self) -> str:
        return self._folder.place(self.timeline_folder)

    def instants(self, listing: Listing) -> list[InstantFiles]:
        return listing.instants(self.timeline_folder, is_early=self.is_early)

    def commit(self, instant: InstantFiles) -> Fields:
        path = f"{TIMELINE_FOLDER}/{instant.requested}_{instant.completed}.{instant.action}"
        return self._commit(path, self._parsed(path, self._read(path)))

    def cleaned_count(self, instant: InstantFiles) -> int:
        """The number of base files and log files that a completed clean deleted."""
        path = f"{TIMELINE_FOLDER}/{instant.requested}_{instant.completed}.{instant.action}"
        with self._expected(path):
            return int(self._parsed(path, self._read(path))["totalFilesDeleted"])

    def plan(self, requested: str, service: Command) -> Fields:
        """The plan of a compaction, log compaction or clustering, completed or not.

        Hudi 0.x calls a clustering a replacecommit. An overwrite of partitions has that name too, and no
        plan.
        """
        path = self._plan_path(requested, service)
        content = self._read(path)
        if not content and path.endswith(".replacecommit.requested"):
            return {}
        plan = self._parsed(path, content)
        return (plan.get("clusteringPlan") or {}) if service is Command.CLUSTERING else plan

    def plan_facts(self, instant: InstantFiles, commit: Fields) -> PlanFacts:
        """Empty for a write, which has no plan. `commit` is empty while the instant is pending."""
        service = service_of(instant, commit)
        if service is None:
            return PlanFacts()
        with self._expected(self._plan_path(instant.requested, service)):
            return facts_of(self.plan(instant.requested, service))

    def _plan_path(self, requested: str, service: Command) -> str:
        stem = f"{self.timeline_folder}/{requested}"
        path = f"{stem}.{_PLANS[service]}.requested"
        if service is Command.CLUSTERING and not self._folder.has(path):
            return f"{stem}.replacecommit.requested"
        return path

    def archived(self, wanted: Collection[str] | None = None) -> Mapping[str, Write]:
        """The wanted writes in the history, by default all, by the time of their request."""
        if wanted is not None and not wanted:
            return {}
        return {write.requested: write for write in self._archived(wanted)}

    def _archived(self, wanted: Collection[str] | None) -> Iterator[Write]:
        columns = ["instantTime", "completionTime", "action", "metadata"]
        for path in self._history_files:
            try:
                rows = pq.read_table(io.BytesIO(self._read(path))).select(columns).to_pylist()
            except (pa.ArrowException, KeyError, OSError, ValueError) as error:
                raise self._damaged(path, error) from error
            for row in rows:
                requested, completed, action, metadata = (row[column] for column in columns)
                if action in ACTIONS and (wanted is None or requested in wanted):
                    commit = self._commit(path, self._parsed(path, metadata)) if metadata else {}
                    yield Write(requested, completed, action, commit)

    @cached_property
    def _history_files(self) -> list[str]:
        """The Parquet files of the latest manifest; none if nothing has been archived."""
        version_path = f"{HISTORY_FOLDER}_version_"
        if not self._folder.has(version_path):
            return []
        manifest = f"{HISTORY_FOLDER}manifest_{self._read(version_path).decode(errors='replace').strip()}"
        with self._expected(manifest):
            names = [file["fileName"] for file in json.loads(self._read(manifest))["files"]]
        return [f"{HISTORY_FOLDER}{name}" for name in names]

    def _parsed(self, path: str, content: bytes) -> Fields:
        """The single record of an Avro file."""
        try:
            (record,) = fastavro.reader(io.BytesIO(content))
        except Exception as error:  # fastavro raises EOFError, IndexError, struct.error and others
            raise self._damaged(path, error) from error
        return cast(Mapping[str, Any], record)

    def _commit(self, path: str, commit: Fields) -> Fields:
        """The commit, if it has all that will be read from it."""
        with self._expected(path):
            _ = [*written_files(commit), *replaced_groups(commit), *columns_of(commit)]
        return commit

    @contextmanager
    def _expected(self, path: str) -> Iterator[None]:
        """Names the file if its content is not what the block expects."""
        try:
            yield
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise self._damaged(path, ValueError(f"unexpected content, {error!r}")) from error

    def _read(self, path: str) -> bytes:
        return _content(self._folder, path)

    def _damaged(self, path: str, error: Exception) -> TimelineError:
        reason = first_error(error) or type(error).__name__
        return TimelineError(f"{self._folder.place(path)} is damaged: {reason}")


class EarlyTimelineFiles(TimelineFiles):
    """The timeline of a table of version 6, whose archived instants are not read."""

    timeline_folder = METADATA_FOLDER
    is_early = True

    def commit(self, instant: InstantFiles) -> Fields:
        path = f"{METADATA_FOLDER}/{instant.requested}.{instant.action}"
        with self._expected(path):
            return self._commit(path, json.loads(self._read(path)))

    def archived(self, wanted: Collection[str] | None = None) -> Mapping[str, Write]:
        return {}


def _content(folder: TableFolder, path: str) -> bytes:
    try:
        return folder.read(path)
    except OSError as error:
        raise TimelineError(f"{folder.place(path)} cannot be read: {first_error(error)}") from error
