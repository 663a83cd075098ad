"""What a compaction would do to one file slice, with the figures by which Hudi's strategies choose.

Source: FileSliceMetricUtils.addFileSliceCommonMetrics of Hudi 1.2.0.
"""

from dataclasses import dataclass

from strategies.hudi.files import FileSlice
from strategies.state import MIB


@dataclass(frozen=True, slots=True)
class Operation:
    """The compaction of one file slice, which writes one base file.

    `max_file_bytes` (hoodie.parquet.max.file.size) counts as written where the slice has no base file.
    """

    slice: FileSlice
    max_file_bytes: int

    @property
    def partition(self) -> str:
        """The partition path of the slice."""
        return self.slice.group.partition

    @property
    def log_files_count(self) -> int:
        """The number of log files."""
        return len(self.slice.logs)

    @property
    def log_bytes(self) -> int:
        """The bytes of the log files (TOTAL_LOG_FILES_SIZE)."""
        return self.slice.log_bytes

    @property
    def io_mib(self) -> int:
        """Whole MiB read, and whole MiB written, together (TOTAL_IO_MB).

        Each is rounded down, so that a slice of less than 1 MiB costs nothing.
        """
        base_bytes = self.slice.base_bytes
        written_bytes = base_bytes if base_bytes > 0 else self.max_file_bytes
        return (base_bytes + self.log_bytes) // MIB + written_bytes // MIB
