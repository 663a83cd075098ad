"""The state of a Hudi table that an engine writes: live files, and their changes by each instant."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from bench.engines.contract import Tag, Version, change_of, metadata_change
from bench.engines.hudi.folder import InstantFiles, Listing, TableFolder
from bench.engines.hudi.slices import latest_slices, live_file, stored_file, stored_files
from bench.engines.hudi.timeline import (
    ACTIONS,
    Fields,
    PlanFacts,
    instant_of,
    is_base,
    joined,
    pending_groups,
    replaced_groups,
    service_of,
    tag_of,
    write_stats,
    written_files,
)
from bench.engines.hudi.timeline_files import TimelineFiles
from bench.engines.ledger import TableReading
from bench.results.values import CommitWork, MaintenanceWork
from strategies.hudi.commands import Command
from strategies.hudi.files import BaseFile, FileGroupId, Instant, LogFile, PendingGroups

LiveFile = BaseFile | LogFile


@dataclass(slots=True)
class _Seen:
    """What is known of an instant. Its times are the scenario's, of the readings that found it so.

    `commit` is empty until a write is completed, and `plan` None until it is asked for.
    """

    requested_ms: int
    completed_ms: int | None = None
    commit: Fields = field(default_factory=dict)
    plan: PlanFacts | None = None


class HudiReader:
    """Reads a table repeatedly: a listing each time, the files of each instant once.

    `timeline` and `pending_groups` are those of the last reading. With `looks_up_keys`, upserts read the keys
    of all base files in the partitions of the changes (HoodieSimpleIndex of Hudi 1.2.0).
    """

    def __init__(self, folder: TableFolder, *, looks_up_keys: bool = False) -> None:
        self._looks_up_keys = looks_up_keys
        self._folder, self._timeline = folder, TimelineFiles(folder)
        self._files: dict[str, LiveFile] = {}  # after the last version, by path
        self._completions: dict[str, str] = {}  # by the time of request, archived instants included
        self._replaced: set[FileGroupId] = set()
        self._seen: dict[str, _Seen] = {}  # the active timeline, by the time of request
        self._history: frozenset[str] = frozenset()  # the files of archived instants
        self.timeline: tuple[Instant, ...] = ()
        self.pending_groups: PendingGroups = {}
        self.schema = ""  # of the table's rows in Avro, from the last write; "" before the first

    def requested(self, instant: str, at_ms: int) -> None:
        """Note the scenario time of a request; by default it is the first reading with the instant."""
        self._seen[instant] = _Seen(at_ms)

    def has_committed(self, tag: Tag) -> bool:
        """Whether a commit with this tag has been completed since the last reading."""
        new = self._completed_since(self._timeline.instants(self._listed()))
        commits = (self._timeline.commit(instant) for instant in new if instant.action in ACTIONS)
        return any(tag_of(commit) == tag for commit in commits)

    def read(self, at_ms: int) -> TableReading:
        listing = self._listed()
        instants = self._timeline.instants(listing)
        for instant in instants:
            self._seen.setdefault(instant.requested, _Seen(at_ms))
        new = self._completed_since(instants)
        versions = (*(self._version(instant, at_ms) for instant in new), *self._archived(instants, listing))
        self._files = self._live(listing)
        self.timeline = tuple(self._instant(instant) for instant in instants if instant.action in ACTIONS)
        self.pending_groups = pending_groups((instant, self._plan_facts(instant)) for instant in instants)
        return TableReading(self._files, versions, listing.data_bytes, listing.metadata_bytes)

    def _completed_since(self, instants: Iterable[InstantFiles]) -> list[InstantFiles]:
        """The instants that the last reading has not seen completed, in the order of completion."""
        known = {requested for requested, seen in self._seen.items() if seen.completed_ms is not None}
        new = (instant for instant in instants if instant.completed and instant.requested not in known)
        return sorted(new, key=lambda instant: instant.completed or "")

    def _listed(self) -> Listing:
        """Lists again if an instant was completed or a folder removed meanwhile, as others may do."""
        while True:
            completed_count = self._folder.completed_count()
            with suppress(FileNotFoundError):
                listing = self._folder.list()
                if self._folder.completed_count() == completed_count:
                    return listing

    def _archived(self, instants: Iterable[InstantFiles], listing: Listing) -> Iterator[Version]:
        """A version for archiving, which has no instant of its own: the oldest ones move to the history.

        An instant that is gone and was never completed has been rolled back.
        """
        active = {instant.requested for instant in instants}
        gone = [self._seen.pop(requested) for requested in self._seen.keys() - active]
        history = listing.history
        if any(seen.completed_ms is not None for seen in gone):
            new = [size_bytes for path, size_bytes in history.items() if path not in self._history]
            written = metadata_change(sum(new), len(new))
            work = MaintenanceWork(expired_versions_count=sum(bool(seen.commit) for seen in gone))
            yield Version(None, "archive", written, maintenance=work)
        self._history = frozenset(history)

    def _live(self, listing: Listing) -> dict[str, LiveFile]:
        """The files of the latest slices; known files stay the same objects."""
        completions = self._completions
        latest = latest_slices(
            stored_files(listing),
            frozenset(self._replaced),
            lambda file: file.instant in completions,
            lambda instant: completions[instant],
        )
        return {file.path: self._files.get(file.path) or live_file(file, None) for file in latest}

    def _version(self, instant: InstantFiles, at_ms: int) -> Version:
        """The version of a completed instant, which finds the files that those before it have left.

        Actions such as cleaning only write metadata.
        """
        seen = self._seen[instant.requested]
        seen.completed_ms = at_ms
        if instant.completed is not None:
            self._completions[instant.requested] = instant.completed
        written = metadata_change(instant.size_bytes, instant.files_count)
        if instant.action not in ACTIONS or instant.completed is None:
            return Version(None, instant.action, written, maintenance=self._cleaned(instant))
        commit = self._timeline.commit(instant)
        work = self._commit_work(commit)
        seen.commit = commit
        extra = commit.get("extraMetadata") or {}
        self.schema = extra.get("schema") or self.schema
        removed = [self._files.pop(path) for path in list(self._removed(instant, commit))]
        stored = ((stored_file(path, size), records) for path, size, records in written_files(commit))
        added = [live_file(file, records) for file, records in stored if file is not None]
        self._files |= {file.path: file for file in added}
        change = change_of(added, removed) + written
        rewritten = frozenset(file.partition for file in removed)
        return Version(instant.requested, instant.action, change, tag_of(commit), rewritten, work=work)

    def _commit_work(self, commit: Fields) -> CommitWork:
        """The work of a commit, by the files that it finds."""
        partitions = {partition for partition, _ in write_stats(commit)}
        looked_up_count = 0
        if self._looks_up_keys and commit.get("operationType") == "UPSERT":
            bases = (file for file in self._files.values() if isinstance(file, BaseFile))
            looked_up_count = sum(file.partition in partitions for file in bases)
        return CommitWork(partitions_count=len(partitions), looked_up_files_count=looked_up_count)

    def _cleaned(self, instant: InstantFiles) -> MaintenanceWork:
        if instant.action != "clean" or instant.completed is None:
            return MaintenanceWork()
        return MaintenanceWork(deleted_files_count=self._timeline.cleaned_count(instant))

    def _removed(self, instant: InstantFiles, commit: Fields) -> Iterator[str]:
        """The paths of the live files that an instant replaced.

        A log compaction replaces none: the merged files stay in the slice, and readers skip them.
        """
        if instant.action == "replacecommit":
            groups = replaced_groups(commit)
            self._replaced |= groups
            yield from (path for path, file in self._files.items() if file.group in groups)
            return
        is_compaction = service_of(instant, commit) is Command.COMPACTION
        merged = self._merged_logs(instant) if is_compaction else {}
        for partition, stat in write_stats(commit):
            if is_base(stat["path"]) and stat.get("prevBaseFile"):
                yield joined(partition, stat["prevBaseFile"])
            yield from merged.get(FileGroupId(partition, stat["fileId"]), ())

    def _merged_logs(self, instant: InstantFiles) -> Mapping[FileGroupId, list[str]]:
        logs = dict[FileGroupId, list[str]]()
        for operation in self._timeline.plan(instant.requested, Command.COMPACTION)["operations"]:
            partition = operation["partitionPath"]
            paths = [joined(partition, name) for name in operation["deltaFilePaths"]]
            logs[FileGroupId(partition, operation["fileId"])] = paths
        return logs

    def _instant(self, instant: InstantFiles) -> Instant:
        seen, plan = self._seen[instant.requested], self._plan_facts(instant)
        return instant_of(instant, seen.commit, plan, seen.requested_ms, seen.completed_ms)

    def _plan_facts(self, instant: InstantFiles) -> PlanFacts:
        seen = self._seen[instant.requested]
        if seen.plan is None:
            seen.plan = self._timeline.plan_facts(instant, seen.commit)
        return seen.plan
