"""The contents of a Hudi table's timeline, read from its files without Hudi's own classes.

Commits and plans are Avro files; archived instants are rows of Parquet files, which hold the same Avro. Up to
table version 6 commits are JSON.
Source: LSMTimeline, HoodieLSMTimelineInstant and the classes of timeline layouts 1 and 2 of Hudi 1.2.0.
"""

import io
import json
import re
from collections.abc import Collection, Iterator, Mapping
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
    Fields,
    PlanFacts,
    facts_of,
    replaced_groups,
    service_of,
    written_files,
)
from bench.errors import first_error

PROPERTIES_FILE = f"{METADATA_FOLDER}/hoodie.properties"
_ESCAPED = re.compile(r"\\(.)")  # in a file of Java properties


class TimelineError(Exception):
    """A file of the timeline is missing or damaged; the message names it."""


@dataclass(frozen=True, slots=True)
class Archived:
    """A completed instant that is no longer in the active timeline."""

    requested: str
    completed: str
    commit: Fields


def table_properties(folder: TableFolder) -> Mapping[str, str]:
    """The table's own properties. Raises TimelineError."""
    try:
        text = _content(folder, PROPERTIES_FILE).decode()
    except UnicodeDecodeError as error:
        raise TimelineError(f"{folder.place(PROPERTIES_FILE)}: is damaged: {error}") from error
    pairs = (line.partition("=") for line in text.splitlines() if not line.startswith(("#", "!")))
    return {name.strip(): _ESCAPED.sub(r"\1", value.strip()) for name, equals, value in pairs if equals}


class TimelineFiles:
    """Reads the files of one table's timeline. Raises TimelineError on a damaged one."""

    timeline_folder = TIMELINE_FOLDER
    has_completions = True  # whether log files belong to a slice by the time at which their commit completed

    def __init__(self, folder: TableFolder) -> None:
        self._folder = folder

    @property
    def place(self) -> str:
        """The folder of the timeline as messages name it."""
        return self._folder.place(self.timeline_folder)

    def instants(self, listing: Listing) -> list[InstantFiles]:
        """The instants that are not archived, in the order of their requests."""
        return listing.instants

    def commit(self, each: InstantFiles) -> Fields:
        """What a completed write says of itself."""
        path = f"{TIMELINE_FOLDER}/{each.requested}_{each.completed}.{each.action}"
        return self._checked(path, self._parsed(path, self._read(path)))

    def _checked(self, path: str, commit: Fields) -> Fields:
        """A commit whose files can be told from it."""
        try:
            all(written_files(commit)), replaced_groups(commit)
            (commit.get("extraMetadata") or {}).get("schema")
        except (AttributeError, KeyError, TypeError) as error:
            raise self._misshapen(path, error) from error
        return commit

    def _misshapen(self, path: str, error: Exception) -> TimelineError:
        said = f"{type(error).__name__}: {first_error(error)}"
        return TimelineError(f"{self._folder.place(path)}: is not the record that Hudi writes there ({said})")

    def plan(self, requested: str, service: str) -> Fields:
        """The plan of a table service ("compaction", "logcompaction", "clustering"), completed or not.

        Hudi 0.x calls a clustering a replacecommit, and so does what overwrites partitions, without a plan.
        """
        stem = f"{self.timeline_folder}/{requested}"
        path = f"{stem}.{service}.requested"
        if service == "clustering" and not self._folder.has(path):
            path = f"{stem}.replacecommit.requested"
        content = self._read(path)
        if not content and not path.endswith(".replacecommit.requested"):
            raise TimelineError(f"{self._folder.place(path)}: is empty, and has to hold a plan")
        stored = self._parsed(path, content) if content else {}
        plan = (stored.get("clusteringPlan") or {}) if service == "clustering" else stored
        try:
            facts_of(plan)
        except (AttributeError, KeyError, TypeError) as error:
            raise self._misshapen(path, error) from error
        return plan

    def plan_facts(self, each: InstantFiles, commit: Fields) -> PlanFacts:
        """What the plan of an instant says, if it is of a table service; `commit` is empty while pending."""
        service = service_of(each, commit)
        return PlanFacts() if service is None else facts_of(self.plan(each.requested, service))

    def archived(self, wanted: Collection[str]) -> Mapping[str, Archived]:
        """Of the wanted instants those that the history has, by the time of their request."""
        return {each.requested: each for each in self._archived(frozenset(wanted))} if wanted else {}

    def _archived(self, wanted: frozenset[str]) -> Iterator[Archived]:
        for path in self._history_files:
            try:
                table = pq.read_table(io.BytesIO(self._read(path)))
                rows = table.select(["instantTime", "completionTime", "metadata"]).to_pylist()
            except (pa.ArrowException, KeyError, OSError, ValueError) as error:
                raise self._damaged(path, error) from error
            for row in rows:
                if row["instantTime"] in wanted:
                    if row["completionTime"] is None:
                        raise TimelineError(f"{self._folder.place(path)}: an instant has no completionTime")
                    stored = self._parsed(path, row["metadata"]) if row["metadata"] else {}
                    self._checked(path, stored)
                    yield Archived(row["instantTime"], row["completionTime"], stored)

    @cached_property
    def _history_files(self) -> list[str]:
        """The Parquet files of the latest manifest; none if nothing has been archived."""
        version_path = f"{HISTORY_FOLDER}_version_"
        if not self._folder.has(version_path):
            return []
        manifest = f"{HISTORY_FOLDER}manifest_{self._read(version_path).decode(errors='replace').strip()}"
        try:
            names = [str(each["fileName"]) for each in json.loads(self._read(manifest))["files"]]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise self._damaged(manifest, error) from error
        return [f"{HISTORY_FOLDER}{name}" for name in names]

    def _parsed(self, path: str, content: bytes) -> Fields:
        """The one record of an Avro file."""
        try:
            (record,) = fastavro.reader(io.BytesIO(content))
        except Exception as error:  # fastavro raises what its parts do: EOFError, IndexError, struct.error...
            raise self._damaged(path, error) from error
        return cast(Mapping[str, Any], record)

    def _read(self, path: str) -> bytes:
        return _content(self._folder, path)

    def _damaged(self, path: str, error: Exception) -> TimelineError:
        reason = first_error(error) or type(error).__name__
        return TimelineError(f"{self._folder.place(path)}: is damaged: {reason}")


class EarlyTimelineFiles(TimelineFiles):
    """Reads the timeline of a table of version 6, without its archived instants."""

    timeline_folder = METADATA_FOLDER
    has_completions = False

    def instants(self, listing: Listing) -> list[InstantFiles]:
        return listing.early_instants

    def commit(self, each: InstantFiles) -> Fields:
        path = f"{METADATA_FOLDER}/{each.requested}.{each.action}"
        try:
            fields: Fields = json.loads(self._read(path))
        except (ValueError, RecursionError) as error:
            raise self._damaged(path, error) from error
        return self._checked(path, fields)

    def archived(self, wanted: Collection[str]) -> Mapping[str, Archived]:
        return {}


def _content(folder: TableFolder, path: str) -> bytes:
    try:
        return folder.read(path)
    except OSError as error:
        raise TimelineError(f"{folder.place(path)}: cannot be read: {first_error(error)}") from error
