"""Which partitions Delta's automatic compaction compacts after a commit.

Source: AutoCompactPartitionStats, AutoCompactUtils and AutoCompact of delta-spark 3.3.2.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from strategies.delta.files import DeltaDataFile
from strategies.delta.optimize_options import OptimizeOptions
from strategies.series import Run
from strategies.state import MIB

MIN_FILES_COUNT = 50  # spark.databricks.delta.autoCompact.minNumFiles
MAX_PARTITIONS_COUNT = 128  # spark.databricks.delta.autoCompact.maxNumModifiedPartitions
_MAX_FILE_BYTES = 128 * MIB  # spark.databricks.delta.autoCompact.maxFileSize
OPTIONS = OptimizeOptions(min_file_bytes=_MAX_FILE_BYTES // 2, max_file_bytes=_MAX_FILE_BYTES)


@dataclass(slots=True)
class _Partition:
    files_count: int
    is_compacted: bool = False


class AutoCompaction:
    """The number of files that a session has counted in each partition of a table.

    Files from before the session do not count. Although Delta is meant to count small files, it counts files
    of any size unless autoCompact.minFileSize is set. Delta forgets the least recently used partitions beyond
    16,384; this is not modelled.
    """

    def __init__(self) -> None:
        self._partitions: dict[str, _Partition] = {}

    def forget(self) -> None:
        """Start another session."""
        self._partitions.clear()

    def saw(self, added: Iterable[Run[DeltaDataFile]], removed: Iterable[Run[DeltaDataFile]]) -> None:
        """Count the files of any version.

        A partition without a file is forgotten, and also that it was compacted.
        """
        changes = Counter[str]()
        for sign, runs in ((1, added), (-1, removed)):
            for run in runs:
                changes[run.first.partition] += sign * run.count
        for partition, change in changes.items():
            known = self._partitions.get(partition)
            if known is not None:
                known.files_count += change
                if known.files_count <= 0:
                    del self._partitions[partition]
            elif change > 0:
                self._partitions[partition] = _Partition(change)

    def due(self, touched: Iterable[str]) -> list[str]:
        """The partitions to compact after a commit that added files to the `touched` ones.

        A partition is due the first time, and later once it has enough files. Of more than 128 partitions
        Delta takes 128 at random; here they are the first ones.
        """
        due = [partition for partition in dict.fromkeys(touched) if self._is_due(partition)]
        return due[:MAX_PARTITIONS_COUNT]

    def compacted(self, partitions: Iterable[str]) -> None:
        """Mark partitions as compacted, even if there was nothing to compact in them."""
        for partition in partitions:
            if partition in self._partitions:
                self._partitions[partition].is_compacted = True

    def _is_due(self, partition: str) -> bool:
        known = self._partitions.get(partition)
        if known is None:
            return False
        return not known.is_compacted or known.files_count >= MIN_FILES_COUNT
