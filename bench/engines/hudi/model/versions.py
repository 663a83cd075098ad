"""The versions of a simulated Hudi table."""

from collections.abc import Iterable, Sequence

from bench.engines.contract import Tag, Version, change_of, metadata_change
from bench.engines.hudi.model.timeline import Entry
from bench.engines.simulated.storage import Storage
from bench.results.values import CommitWork, MaintenanceWork
from strategies.hudi.commands import Command
from strategies.hudi.files import BaseFile, LogFile

File = BaseFile | LogFile


def data_version(
    entry: Entry, operation: str, added: Sequence[File], removed: Sequence[File], tag: Tag | None,
    looked_up_count: int = 0,
) -> Version:  # fmt: skip
    change = change_of(added, removed) + metadata_change(entry.size_bytes, entry.files_count)
    work = CommitWork(len({file.partition for file in added}), looked_up_files_count=looked_up_count)
    return Version(str(entry.number), str(operation), change, tag, work=work)


def service_version(entry: Entry, command: Command, tag: Tag, work: MaintenanceWork) -> Version:
    """Cleaning and archiving make no version that readers see."""
    change = metadata_change(entry.size_bytes, entry.files_count)
    return Version(None, command.removeprefix("hudi."), change, tag, maintenance=work)


def store(storage: Storage, added: Iterable[File], removed: Iterable[File], instant: int) -> None:
    for file in added:
        storage.write(file.size_bytes)
    for file in removed:
        storage.drop(instant, file.size_bytes)
