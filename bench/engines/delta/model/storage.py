"""What a simulated Delta table has on storage: live files, and those that VACUUM has not deleted yet."""

from collections import deque
from dataclasses import dataclass


@dataclass(slots=True)
class _Stored:
    size_bytes: int
    references: int  # live data files, or vectors, in it


class Storage:
    """Files by path. A file of deletion vectors stays until none of its vectors is live."""

    def __init__(self) -> None:
        self._live: dict[str, _Stored] = {}
        self._dropped: deque[tuple[int, int]] = deque()  # when, and bytes, oldest first
        self.size_bytes = 0

    @property
    def files_count(self) -> int:
        """The number of files, live or not."""
        return len(self._live) + len(self._dropped)

    def write(self, path: str, size_bytes: int, references: int = 1) -> None:
        """Add a file."""
        self._live[path] = _Stored(size_bytes, references)
        self.size_bytes += size_bytes

    def drop(self, path: str, at_ms: int) -> None:
        """Drop one reference to a file, in scenario time, which never runs backwards."""
        stored = self._live[path]
        stored.references -= 1
        if not stored.references:
            del self._live[path]
            self._dropped.append((at_ms, stored.size_bytes))

    def vacuum(self, older_than_ms: int) -> None:
        """Delete the files that left the table before that moment."""
        while self._dropped and self._dropped[0][0] < older_than_ms:
            _, size_bytes = self._dropped.popleft()
            self.size_bytes -= size_bytes
