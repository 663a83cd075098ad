"""What the files of a simulated table take in storage."""

import heapq


class Storage:
    """All files in storage: those of the table, and those that left it and have not been deleted yet.

    They left it at times, or at instants, which are numbered.
    """

    def __init__(self) -> None:
        self._dropped: list[tuple[int, int, int]] = []  # a heap: when, bytes of a file, files
        self.size_bytes = 0

    def write(self, file_bytes: int, count: int = 1) -> None:
        self.size_bytes += count * file_bytes

    def drop(self, at: int, file_bytes: int, count: int = 1) -> None:
        """Files leave the table."""
        heapq.heappush(self._dropped, (at, file_bytes, count))

    def delete(self, before: int) -> int:
        """Delete the files that left the table before that; returns their number."""
        deleted_count = 0
        while self._dropped and self._dropped[0][0] < before:
            _, file_bytes, count = heapq.heappop(self._dropped)
            self.size_bytes -= count * file_bytes
            deleted_count += count
        return deleted_count
