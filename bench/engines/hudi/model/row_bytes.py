"""Hudi's estimate of the size of a row when it packs new rows into base files.

Source: AverageRecordSizeEstimator of Hudi 1.2.0.
"""

import math
from collections import deque
from collections.abc import Iterable

from bench.engines.hudi.packing import Packing
from strategies.hudi.files import BaseFile, LogFile

_COMMITS = 5  # _hoodie.record.size.estimator.max.commits


class RowBytes:
    """The average of the newest of the last five commits whose base files together are not small.

    Commits, delta commits and compactions count, in the order of completion.
    """

    def __init__(self, packing: Packing) -> None:
        self._packing = packing
        self._written: deque[tuple[int, int]] = deque(maxlen=_COMMITS)  # bytes and rows of each, newest first

    def note(self, files: Iterable[BaseFile | LogFile]) -> None:
        bases = [file for file in files if isinstance(file, BaseFile)]
        self._written.appendleft((sum(base.size_bytes for base in bases), sum(base.rows for base in bases)))

    @property
    def estimate(self) -> int:
        """Bytes per row, at least 1."""
        for size_bytes, rows in self._written:
            if size_bytes > self._packing.small_file_bytes and rows:
                return math.ceil(size_bytes / rows)
        return self._packing.first_row_bytes
