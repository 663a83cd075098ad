"""The versions of a simulated Hudi table."""

from collections.abc import Iterable, Sequence

from bench.engines.contract import Tag, Version
from bench.engines.hudi.model.timeline import Entry
from bench.results.values import Change
from strategies.hudi.commands import Command
from strategies.hudi.files import BaseFile, LogFile

File = BaseFile | LogFile


def data_version(
    entry: Entry, operation: str, added: Sequence[File], removed: Sequence[File], tag: Tag | None
) -> Version:
    change = Change(
        files_added_count=_count(added, BaseFile),
        files_removed_count=_count(removed, BaseFile),
        delete_files_added_count=_count(added, LogFile),
        delete_files_removed_count=_count(removed, LogFile),
        added_bytes=sum(file.size_bytes for file in added),
        replaced_bytes=sum(file.size_bytes for file in removed),
        metadata_bytes=entry.size_bytes,
        metadata_files_count=entry.files_count,
    )
    return Version(str(entry.number), str(operation), change, tag)


def service_version(entry: Entry, command: Command, tag: Tag) -> Version:
    """Cleaning and archiving make no version that readers see."""
    change = Change(metadata_bytes=entry.size_bytes, metadata_files_count=entry.files_count)
    return Version(None, command.removeprefix("hudi."), change, tag)


def _count(files: Iterable[File], kind: type[File]) -> int:
    return sum(isinstance(file, kind) for file in files)
