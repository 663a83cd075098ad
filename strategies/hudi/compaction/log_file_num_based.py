"""LogFileNumBasedCompactionStrategy: the file slices with the most log files first."""

from strategies.hudi.compaction.ranked import Ranked
from strategies.hudi.compaction.strategy import Settings
from strategies.hudi.operations import Operation


class LogFileNumBased(Ranked):
    """Ranks by log files; a slice with fewer than hoodie.compaction.logfile.num.threshold is left alone."""

    reads = frozenset({"target_io_mib", "log_files_min"})

    def rank(self, operation: Operation) -> int:
        return operation.log_files_count

    def threshold(self, settings: Settings) -> int:
        return settings.log_files_min
