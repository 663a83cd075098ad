"""The state of a Hudi table that an engine writes: its live files, and what each instant did to them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from bench.engines.contract import TAG_PROPERTY, Tag, Version
from bench.engines.hudi.folder import InstantFiles, Listing, TableFolder
from bench.engines.hudi.slices import latest_slices, live_file, stored_files
from bench.engines.hudi.timeline import (
    ACTIONS,
    Fields,
    PlanFacts,
    instant_of,
    is_base,
    joined,
    pending_groups,
    replaced_groups,
    written_files,
)
from bench.engines.hudi.timeline_files import TimelineFiles
from bench.results.values import Change
from strategies.hudi.files import BaseFile, FileGroupId, Instant, LogFile, PendingGroups

LiveFile = BaseFile | LogFile


@dataclass(frozen=True, slots=True)
class Reading:
    """The live files by key, the versions since the last reading, the timeline, and what is pending."""

    live: Mapping[str, LiveFile]
    versions: tuple[Version, ...]
    timeline: tuple[Instant, ...]
    pending_groups: PendingGroups
    listing: Listing


class HudiReader:
    """Reads a table again and again: its listing each time, the files of each instant once."""

    def __init__(self, folder: TableFolder) -> None:
        self._folder, self._timeline = folder, TimelineFiles(folder)
        self._files: dict[str, LiveFile] = {}  # of the last reading, by path
        self._rows: dict[str, int] = {}  # records by path, from the commits
        self._completions: dict[str, str] = {}  # by the time of request, archived instants included
        self._replaced: set[FileGroupId] = set()
        self._requested_ms: dict[str, int] = {}
        self._completed_ms: dict[str, int] = {}
        self._commits: dict[str, Fields] = {}  # by the time of request
        self._active: set[str] = set()  # the instants of the last reading
        self._history: frozenset[str] = frozenset()  # the files of those that were archived
        self._planned: dict[str, PlanFacts] = {}
        self.schema = ""  # of the table's rows in Avro, from the last write; "" before the first

    def requested(self, instant: str, at_ms: int) -> None:
        """Note when an instant was requested, in scenario time; by default when it is seen first."""
        self._requested_ms[instant] = at_ms

    def read(self, at_ms: int) -> Reading:
        """The table as it is now."""
        listing = self._listed()
        instants = listing.instants
        if not instants:
            return Reading({}, (), (), {}, listing)
        for each in instants:
            self._requested_ms.setdefault(each.requested, at_ms)
        new = [each for each in instants if each.completed and each.requested not in self._completed_ms]
        new.sort(key=lambda each: each.completed or "")
        versions = (*(self._version(each, at_ms) for each in new), *self._archived(instants, listing))
        self._files = self._live(listing)
        timeline = tuple(self._instant(each) for each in instants if each.action in ACTIONS)
        groups = pending_groups((instant, self._plan_facts(instant)) for instant in instants)
        return Reading(self._files, versions, timeline, groups, listing)

    def _listed(self) -> Listing:
        """A listing during which no instant was completed: another thread may complete one at any time."""
        while True:
            completed_count = self._folder.completed_count()
            listing = self._folder.list()
            if self._folder.completed_count() == completed_count:
                return listing

    def _archived(self, instants: Iterable[InstantFiles], listing: Listing) -> Iterator[Version]:
        """Archiving, which leaves no instant of its own: it moves the oldest ones into its history."""
        now = {each.requested for each in instants}
        gone = self._active - now
        self._active = now
        for instant in gone:
            self._requested_ms.pop(instant, None)
            self._completed_ms.pop(instant, None)
            self._commits.pop(instant, None)
            self._planned.pop(instant, None)
        history = listing.history
        if gone:
            new = {path: size for path, size in history.items() if path not in self._history}
            yield Version(
                None, "archive", Change(metadata_bytes=sum(new.values()), metadata_files_count=len(new))
            )
        self._history = frozenset(history)

    def _live(self, listing: Listing) -> dict[str, LiveFile]:
        """The files of the latest slices; those that were there before are the same objects."""
        completions = self._completions
        latest = latest_slices(
            stored_files(listing),
            frozenset(self._replaced),
            lambda file: file.instant in completions,
            lambda instant: completions[instant],
        )
        return {
            file.path: self._files.get(file.path) or live_file(file, self._rows.get(file.path))
            for file in latest
        }

    def _version(self, each: InstantFiles, at_ms: int) -> Version:
        """A completed instant as a version; cleaning and the like only write metadata."""
        self._completed_ms[each.requested] = at_ms
        if each.completed is not None:
            self._completions[each.requested] = each.completed
        written = Change(metadata_bytes=each.size_bytes, metadata_files_count=each.files_count)
        if each.action not in ACTIONS or each.completed is None:
            return Version(None, each.action, written)
        commit = self._timeline.commit(each)
        self._commits[each.requested] = commit
        extra = commit.get("extraMetadata") or {}
        self.schema = extra.get("schema") or self.schema
        added = dict(self._added(commit))
        removed = list(self._removed(each, commit))
        change = Change(
            files_added_count=sum(is_base(path) for path in added),
            files_removed_count=sum(is_base(path) for path in removed),
            delete_files_added_count=sum(not is_base(path) for path in added),
            delete_files_removed_count=sum(not is_base(path) for path in removed),
            added_bytes=sum(added.values()),
            replaced_bytes=sum(self._files[path].size_bytes for path in removed),
        )
        for path, size_bytes in added.items():  # a version of the same reading may replace them
            self._files[path] = self._described(path, size_bytes, commit)
        tag = Tag.parse(extra.get(TAG_PROPERTY) or "")
        rewritten = frozenset(path.rpartition("/")[0] for path in removed)
        return Version(each.requested, each.action, change + written, tag, rewritten)

    def _added(self, commit: Fields) -> Iterator[tuple[str, int]]:
        """The paths and sizes of the files that a commit wrote; notes how many records they have."""
        for path, size_bytes, records in written_files(commit):
            self._rows[path] = records
            yield path, size_bytes

    def _described(self, path: str, size_bytes: int, commit: Fields) -> LiveFile:
        partition = path.rpartition("/")[0]
        stats = next(s for s in commit["partitionToWriteStats"][partition] if s["path"] == path)
        kind = BaseFile if is_base(path) else LogFile
        return kind(path, size_bytes, self._rows[path], partition, file_id=stats["fileId"])

    def _removed(self, each: InstantFiles, commit: Fields) -> Iterator[str]:
        """The paths of the live files that an instant replaced.

        A log compaction replaces none: readers skip what it has merged, and still list it.
        """
        if each.action == "replacecommit":
            groups = replaced_groups(commit)
            self._replaced |= groups
            yield from (path for path, file in self._files.items() if file.group in groups)
            return
        merged = self._merged_logs(each) if commit.get("operationType") == "COMPACT" else {}
        for partition, stats in commit["partitionToWriteStats"].items():
            for stat in stats:
                if is_base(stat["path"]) and stat.get("prevBaseFile"):
                    yield joined(partition, stat["prevBaseFile"])
                yield from merged.get(FileGroupId(partition, stat["fileId"]), ())

    def _merged_logs(self, each: InstantFiles) -> Mapping[FileGroupId, list[str]]:
        operations = self._timeline.plan(each.requested, "compaction")["operations"]
        return {
            FileGroupId(one["partitionPath"], one["fileId"]): [
                joined(one["partitionPath"], name) for name in one["deltaFilePaths"]
            ]
            for one in operations
        }

    def _instant(self, each: InstantFiles) -> Instant:
        requested = each.requested
        return instant_of(
            each,
            self._commits.get(requested, {}),
            self._plan_facts(each),
            self._requested_ms[requested],
            self._completed_ms.get(requested),
        )

    def _plan_facts(self, each: InstantFiles) -> PlanFacts:
        if each.requested not in self._planned:
            commit = self._commits.get(each.requested, {})
            self._planned[each.requested] = self._timeline.plan_facts(each, commit)
        return self._planned[each.requested]
