"""The planners and triggers that a scenario can name, one line each.

A user's own need no line here: they are found by their entry point, or by a name such as "module:Class".
"""

from collections.abc import Callable

from strategies.amoro.planner import Amoro
from strategies.autocomp import AutoComp
from strategies.break_even import BreakEven
from strategies.delta.planners import Optimize, Reorg, Repartition, Vacuum, ZOrder
from strategies.hudi.planners import Archive, Clean, Clustering, Compaction, LogCompaction
from strategies.hudi.triggers import (
    NumAndTime,
    NumCommits,
    NumCommitsAfterLastRequest,
    NumOrTime,
    TimeElapsed,
)
from strategies.iceberg.break_even import IcebergBreakEven
from strategies.iceberg.delete_planners import ConvertDeletes, RemoveDanglingDeletes
from strategies.iceberg.procedures import (
    ExpireSnapshots,
    RewriteDataFiles,
    RewriteManifests,
    RewritePositionDeleteFiles,
)
from strategies.never import Never
from strategies.planner import Planner
from strategies.tiered import Tiered
from strategies.triggers import AfterCommits, At, Every, FileCount, Trigger

ENTRY_POINT_GROUP = "compactbench.strategies"

PLANNERS: dict[str, Callable[..., Planner]] = {
    "amoro": Amoro,
    "autocomp": AutoComp,
    "break_even": BreakEven,
    "delta.optimize": Optimize,
    "delta.reorg": Reorg,
    "delta.repartition": Repartition,
    "delta.vacuum": Vacuum,
    "delta.zorder": ZOrder,
    "hudi.archive": Archive,
    "hudi.clean": Clean,
    "hudi.clustering": Clustering,
    "hudi.compaction": Compaction,
    "hudi.log_compaction": LogCompaction,
    "iceberg.break_even": IcebergBreakEven,
    "iceberg.convert_deletes": ConvertDeletes,
    "iceberg.expire_snapshots": ExpireSnapshots,
    "iceberg.remove_dangling_deletes": RemoveDanglingDeletes,
    "iceberg.rewrite_data_files": RewriteDataFiles,
    "iceberg.rewrite_manifests": RewriteManifests,
    "iceberg.rewrite_position_delete_files": RewritePositionDeleteFiles,
    "never": Never,
    "tiered": Tiered,
}

TRIGGERS: dict[str, Callable[..., Trigger]] = {
    "after_commits": AfterCommits,
    "at": At,
    "every": Every,
    "file_count": FileCount,
    "hudi.num_and_time": NumAndTime,
    "hudi.num_commits": NumCommits,
    "hudi.num_commits_after_last_request": NumCommitsAfterLastRequest,
    "hudi.num_or_time": NumOrTime,
    "hudi.time_elapsed": TimeElapsed,
}
