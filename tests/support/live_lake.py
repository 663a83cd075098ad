"""Small scenarios with a real clock: the roles of a run work on one table at the same time."""

from shared_lake import CATALOG, written

# A commit each 3 seconds. Roles start JVMs, in which what runs a few times is not worth optimising.
_STREAM = """
seed = 11
duration = "6min"
commit_interval = "1min"
clock = "real"
speed = 20
warm_up_rounds = 1
[workload]
type = "upsert"
initial_rows = 20000
rows_per_commit = 40
files_per_commit = 2
[spark]
driver_memory = "1GiB"
"spark.sql.codegen.wholeStage" = "false"
"spark.sql.codegen.factoryMode" = "NO_CODEGEN"
"spark.driver.extraJavaOptions" = "-Duser.timezone=UTC -XX:TieredStopAtLevel=1"
[roles]
oversubscribe = true
reader = { rate = "3/min" }
[table]
target_file_size = "8MiB"
"""
# Two compactors that want the table each 6 seconds. MERGEs make them lose now and then.
_ICEBERG = """
format = "iceberg"
[roles.compactor]
count = 2
[[strategies]]
label = "all-deletes"
writer = { upsert_mode = "merge-on-read" }
[[strategies.rules]]
trigger = { type = "every", interval = "2min" }
planner = { type = "iceberg.rewrite_data_files", options = { "delete-file-threshold" = 1 } }
"""
_DELTA = """
format = "delta"
[[strategies]]
label = "reorg"
writer = { upsert_mode = "merge-on-read" }
[[strategies.rules]]
trigger = { type = "every", interval = "2min" }
planner = { type = "delta.reorg" }
"""
# Compactions do not lose, and commits lose to clusterings. A cleaning rolls back what was begun in vain.
_HUDI = """
format = "hudi"
index = "simple"
[[maintenance]]
trigger = { type = "every", interval = "2min" }
planner = { type = "hudi.clean", retain_commits = 2 }
[[strategies]]
label = "compact-and-cluster"
[[strategies.rules]]
trigger = { type = "every", interval = "3min" }
planner = { type = "hudi.clustering" }
[[strategies.rules]]
trigger = { type = "every", interval = "1min" }
planner = { type = "hudi.compaction" }
"""

LIVE_SCENARIOS = {"iceberg": _STREAM + _ICEBERG, "delta": _STREAM + _DELTA, "hudi": _STREAM + _HUDI}


def write_live_lake(folder, format_name):
    """The scenario's file, for Iceberg with a catalog in the same folder."""
    catalog = CATALOG.format(folder=folder) if format_name == "iceberg" else ""
    return written(folder, LIVE_SCENARIOS[format_name] + catalog)
