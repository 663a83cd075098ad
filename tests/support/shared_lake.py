"""Small scenarios whose tables are in a catalog that outlives its runs."""

SCENARIO = """
seed = 11
duration = "4min"
commit_interval = "1min"
warm_up_rounds = 1

[table]
format = "iceberg"
target_file_size = "8MiB"

[workload]
type = "upsert"
initial_rows = 2_000
initial_files = 2
rows_per_commit = 40
files_per_commit = 2

[[strategies]]
label = "never"

[[strategies]]
label = "every-2min"
[[strategies.rules]]
trigger = { type = "every", interval = "2min" }
planner = { type = "iceberg.rewrite_data_files", options = { "min-input-files" = 2 } }
"""

_WITHOUT_SPARK = """
[[strategies]]
label = "without-spark"
[[strategies.rules]]
trigger = { type = "every", interval = "1min" }
planner = { type = "iceberg.convert_deletes" }
executor = "single-node"
"""

CATALOG = """
[catalog]
name = "shared"
namespace = "db"
[catalog.properties]
type = "jdbc"
uri = "jdbc:sqlite:{folder}/catalog.db"
warehouse = "file://{folder}/warehouse"
"jdbc.schema-version" = "V1"
"""


def write_lake(folder, *, is_shared=True):
    """The scenario's file, with a catalog and its warehouse in the same folder, or with one for each run.

    In those of its own a run may also compact without Spark.
    """
    return written(folder, SCENARIO + (CATALOG.format(folder=folder) if is_shared else _WITHOUT_SPARK))


def written(folder, scenario):
    (folder / "warehouse").mkdir(parents=True)
    file = folder / "lake.toml"
    file.write_text(scenario)
    return file
