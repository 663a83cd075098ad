"""Notices when a commit's own version is there, while the call that made it goes on."""

import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from bench.engines.spark.meter import Clocks

_INTERVAL_S = 0.001


class CommitWatch:
    """Around a commit: `reading` is that of the moment at which the file of the version appeared.

    Delta compacts after a commit, in the same call. It does not report how long that took: the metrics of an
    OPTIMIZE have no end time. Looking for a file every millisecond takes less than 1 % of a core.
    """

    def __init__(self, version_file: Path, read: Callable[[], Clocks]) -> None:
        self._file, self._read = version_file, read
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._wait, name="commit-watch")
        self.reading: Clocks | None = None

    def _wait(self) -> None:
        while not self._file.exists():
            if self._ended.wait(_INTERVAL_S):
                return
        self.reading = self._read()

    def __enter__(self) -> "CommitWatch":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
