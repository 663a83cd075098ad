"""What a commit of upserts costs, compared with a plain append of the same rows in as many data files.

Run by `make bench`. Both are committed in turns to two real Iceberg tables of one Spark session, so that
their ratio says little about the machine; process CPU of the commits alone, batches cached before.
"""

import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import median

from pyspark.sql import SparkSession

from bench.engines import runtime
from bench.engines.contract import Batch, CatalogSettings, EngineSettings, TableSpec
from bench.engines.iceberg.engine import open_iceberg
from workloads.change_log import ChangeLog, LoggedCommit, ensure_change_log
from workloads.partitioning import Partitioning
from workloads.upsert import Upsert

COMMITS, WARM_UP, SEED = 24, 8, 7
WORKLOAD = Upsert(4_000, 8, 200_000, 1, delete_share=0.05, repeat_share=0.002)
GOAL = 4.0


def main() -> None:
    runtime.use_java()
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        settings = EngineSettings(folder, TableSpec(128 * 2**20), catalog=CatalogSettings())
        with open_iceberg(settings) as upserting:
            spark = upserting._spark
            log = ensure_change_log(
                lambda: spark, folder / "logs", WORKLOAD, SEED, COMMITS, 60_000, lambda done, total: None
            )
            appending = upserting.sibling("appending")
            upserting.create()
            appending.create()
            costs = []
            specs = WORKLOAD.shape(SEED, COMMITS, 60_000, Partitioning())
            for spec, logged in zip(specs, log.commits, strict=True):
                changes = Batch(spec, log.paths(logged), logged.size_bytes, log.holds_changes(logged))
                plain = changes if spec.is_initial else rows_of(spark, log, logged, changes, folder)
                upsert, append = (
                    e.commit(b, spec.at_ms) for e, b in ((upserting, changes), (appending, plain))
                )
                if spec.index > WARM_UP:
                    assert upsert.change.files_added_count == append.change.files_added_count
                    costs.append((upsert.cost.cpu_s, append.cost.cpu_s, upsert.change))
    upsert_s, append_s = (median(values) for values in list(zip(*costs, strict=True))[:2])
    change = costs[-1][2]
    print(
        f"commit of {change.files_added_count} data and {change.delete_files_added_count} delete files: "
        f"{upsert_s:.2f} s CPU, plain append of the same data files {append_s:.2f} s: "
        f"{upsert_s / append_s:.1f}x (goal: <= {GOAL:g}x; medians of {len(costs)})"
    )


def rows_of(spark: SparkSession, log: ChangeLog, logged: LoggedCommit, changes: Batch, folder: Path) -> Batch:
    """The rows the changes write, in a file for each writer, as a commit of their own."""
    names = WORKLOAD.schema.names
    target = folder / "rows" / str(logged.index)
    frame = spark.read.parquet(*(str(path) for path in log.paths(logged))).where("op <> 'D'")
    frame.select(*names).repartition(changes.spec.writers, "order_id").write.parquet(f"file://{target}")
    return replace(changes, paths=tuple(sorted(target.glob("*.parquet"))), is_cdc=False)


if __name__ == "__main__":
    main()
