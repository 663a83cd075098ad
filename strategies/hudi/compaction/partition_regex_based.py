"""PartitionRegexBasedCompactionStrategy: the partitions whose path matches a regular expression."""

import re
from collections.abc import Sequence

from strategies.hudi.compaction.strategy import Choice, CompactionStrategy, Settings


class PartitionRegexBased(CompactionStrategy):
    """Keeps partitions in whose path the expression occurs anywhere."""

    reads = frozenset({"partition_regex"})

    def partitions(self, partitions: Sequence[str], settings: Settings) -> Choice[str]:
        if settings.partition_regex is None:
            raise ValueError("PartitionRegexBased needs hoodie.compaction.partition.path.regex")
        found = re.compile(settings.partition_regex).search
        return Choice([path for path in partitions if found(path)])
