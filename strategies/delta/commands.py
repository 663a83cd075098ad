"""Delta's maintenance commands, by the names used in plans, in records and as engine capabilities."""

from enum import StrEnum


class Command(StrEnum):
    """A command of Delta."""

    OPTIMIZE = "delta.optimize"  # OPTIMIZE; on a table with clustering columns it clusters
    REORG = "delta.reorg"  # REORG TABLE ... APPLY (PURGE)
    REPARTITION = "delta.repartition"  # overwrite by repartitioned rows, without a change of data
    VACUUM = "delta.vacuum"
    ZORDER = "delta.zorder"  # OPTIMIZE ... ZORDER BY


METADATA_COMMANDS = frozenset({Command.VACUUM})  # write no data file
NO_REWRITE = "Delta has no command that rewrites exactly the files a plan names"
