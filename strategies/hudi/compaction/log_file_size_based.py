"""LogFileSizeBasedCompactionStrategy, Hudi's default: the file slices with the most log bytes first."""

from strategies.hudi.compaction.ranked import Ranked
from strategies.hudi.compaction.strategy import Settings
from strategies.hudi.operations import Operation


class LogFileSizeBased(Ranked):
    """Ranks by log bytes; a slice with less than hoodie.compaction.logfile.size.threshold is left alone."""

    reads = frozenset({"target_io_mib", "log_bytes_min"})

    def rank(self, operation: Operation) -> int:
        return operation.log_bytes

    def threshold(self, settings: Settings) -> int:
        return settings.log_bytes_min
