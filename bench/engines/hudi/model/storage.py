"""What a simulated Hudi table has on storage: live files, and those that cleaning has not deleted yet."""

from collections.abc import Iterable

from strategies.hudi.files import BaseFile, LogFile


class Storage:
    """The bytes of all files, and which of them an instant has replaced."""

    def __init__(self) -> None:
        self._replaced: list[tuple[int, int]] = []  # number of the instant, and bytes
        self._files_count = 0
        self.size_bytes = 0

    @property
    def files_count(self) -> int:
        """The number of files, live or not."""
        return self._files_count

    def write(self, files: Iterable[BaseFile | LogFile]) -> None:
        """Add files."""
        for file in files:
            self._files_count += 1
            self.size_bytes += file.size_bytes

    def replace(self, files: Iterable[BaseFile | LogFile], instant: int) -> None:
        """Note that an instant has replaced files, which stay until they are cleaned."""
        self._replaced.extend((instant, file.size_bytes) for file in files)

    def clean(self, earliest_instant: int) -> int:
        """Delete what was replaced at `earliest_instant` or before; how many files.

        The state at that instant, and at all later ones, can still be read. Source: CleanPlanner with
        KEEP_LATEST_COMMITS of Hudi 1.2.0.
        """
        deleted = [size_bytes for instant, size_bytes in self._replaced if instant <= earliest_instant]
        self._replaced = [each for each in self._replaced if each[0] > earliest_instant]
        self.size_bytes -= sum(deleted)
        self._files_count -= len(deleted)
        return len(deleted)
