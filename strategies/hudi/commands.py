"""Hudi's table services, by the names used in plans, in records and as engine capabilities."""

from enum import StrEnum


class Command(StrEnum):
    """A table service of Hudi on Spark."""

    ARCHIVE = "hudi.archive"
    CLEAN = "hudi.clean"
    CLUSTERING = "hudi.clustering"  # merges small base files, into file groups of their own
    COMPACTION = "hudi.compaction"  # merges the log files of file slices into new base files
    LOG_COMPACTION = "hudi.log_compaction"  # merges log files into larger ones


METADATA_COMMANDS = frozenset({Command.ARCHIVE, Command.CLEAN})  # write no data file
