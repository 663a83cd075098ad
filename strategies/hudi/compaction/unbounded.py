"""UnBoundedCompactionStrategy: every file slice that has log files."""

from strategies.hudi.compaction.strategy import CompactionStrategy


class UnBounded(CompactionStrategy):
    """Keeps everything."""
