"""The versions of a simulated Hudi table, and the storage of its files."""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import replace

from bench.engines.contract import Tag, Version
from bench.engines.hudi.model.timeline import Entry
from bench.results.values import NO_CHANGE, Change, CommitWork, MaintenanceWork
from strategies.hudi.commands import Command
from strategies.hudi.files import BaseFile, LogFile

File = BaseFile | LogFile


def data_version(
    entry: Entry, operation: str, added: Sequence[File], removed: Sequence[File], tag: Tag | None,
    looked_up_count: int = 0,
) -> Version:  # fmt: skip
    change = Change(
        files_added_count=_count(added, BaseFile),
        files_removed_count=_count(removed, BaseFile),
        delete_files_added_count=_count(added, LogFile),
        delete_files_removed_count=_count(removed, LogFile),
        added_bytes=sum(file.size_bytes for file in added),
        replaced_bytes=sum(file.size_bytes for file in removed),
        metadata_bytes=entry.size_bytes,
        metadata_files_count=entry.files_count,
        added_rows=_rows(added, BaseFile),
        replaced_rows=_rows(removed, BaseFile),
        added_delete_rows=_rows(added, LogFile),
    )
    work = CommitWork(len({file.partition for file in added}), looked_up_files_count=looked_up_count)
    return Version(str(entry.number), str(operation), change, tag, work=work)


def service_version(entry: Entry, command: Command, tag: Tag, work: MaintenanceWork) -> Version:
    """Cleaning and archiving make no version that readers see."""
    change = replace(NO_CHANGE, metadata_bytes=entry.size_bytes, metadata_files_count=entry.files_count)
    return Version(None, command.removeprefix("hudi."), change, tag, maintenance=work)


def _count(files: Iterable[File], kind: type[File]) -> int:
    return sum(isinstance(file, kind) for file in files)


def _rows(files: Iterable[File], kind: type[File]) -> int:
    return sum(file.rows for file in files if isinstance(file, kind))


class Storage:
    """The live files, and the replaced ones until they are cleaned."""

    def __init__(self) -> None:
        self._replaced: list[tuple[int, int]] = []  # a heap: number of the instant, and bytes
        self.size_bytes = 0

    def write(self, files: Iterable[File]) -> None:
        for file in files:
            self.size_bytes += file.size_bytes

    def replace(self, files: Iterable[File], instant: int) -> None:
        for file in files:
            heapq.heappush(self._replaced, (instant, file.size_bytes))

    def clean(self, earliest_instant: int) -> int:
        """Delete files replaced at `earliest_instant` or before, and return their number.

        States from that instant on can still be read. Source: CleanPlanner with KEEP_LATEST_COMMITS of Hudi
        1.2.0.
        """
        deleted_count = 0
        while self._replaced and self._replaced[0][0] <= earliest_instant:
            _, size_bytes = heapq.heappop(self._replaced)
            self.size_bytes -= size_bytes
            deleted_count += 1
        return deleted_count
