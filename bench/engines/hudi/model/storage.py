"""The files of a simulated Hudi table on storage: live ones, and replaced ones until they are cleaned."""

from collections.abc import Iterable

from strategies.hudi.files import BaseFile, LogFile


class Storage:
    def __init__(self) -> None:
        self._replaced: list[tuple[int, int]] = []  # number of the instant, and bytes
        self._files_count = 0
        self.size_bytes = 0

    @property
    def files_count(self) -> int:
        return self._files_count

    def write(self, files: Iterable[BaseFile | LogFile]) -> None:
        for file in files:
            self._files_count += 1
            self.size_bytes += file.size_bytes

    def replace(self, files: Iterable[BaseFile | LogFile], instant: int) -> None:
        self._replaced.extend((instant, file.size_bytes) for file in files)

    def clean(self, earliest_instant: int) -> int:
        """Delete files replaced at `earliest_instant` or before, and return their number.

        States from that instant on can still be read. Source: CleanPlanner with KEEP_LATEST_COMMITS of Hudi
        1.2.0.
        """
        deleted = [size_bytes for instant, size_bytes in self._replaced if instant <= earliest_instant]
        self._replaced = [entry for entry in self._replaced if entry[0] > earliest_instant]
        self.size_bytes -= sum(deleted)
        self._files_count -= len(deleted)
        return len(deleted)
