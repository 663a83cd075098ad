"""Parquet files, change logs and streams in one line."""

import json
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from workloads.commit import CommitSpec, Workload
from workloads.partitioning import Partitioning
from workloads.schema import ORDERS

_ARROW = {"BIGINT": pa.int64(), "INT": pa.int32(), "DOUBLE": pa.float64(), "STRING": pa.string()}
PAYLOAD = pa.schema([(column.name, _ARROW[column.spark_type]) for column in ORDERS.columns])
CHANGES = pa.schema(
    [
        *PAYLOAD, ("op", pa.string()), ("change_number", pa.int64()), ("ts", pa.int64()),
        ("before_exists", pa.bool_()), ("before_user_city", pa.string()), ("before_order_date", pa.int64()),
    ]
)  # fmt: skip


def parquet(path: Path, select: str) -> Path:
    """The rows of a SELECT as a Parquet file."""
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute(f"COPY ({select}) TO '{path}' (FORMAT parquet)")
    return path


def orders_parquet(path: Path, values: str) -> Path:
    """Rows of (order_id BIGINT, city VARCHAR, price DOUBLE), given as SQL VALUES; "" for none."""
    columns = "order_id::BIGINT AS order_id, city::VARCHAR AS city, price::DOUBLE AS price"
    source = f"(VALUES {values})" if values else "(SELECT 1, 'x', 1 WHERE false)"
    return parquet(path, f"SELECT {columns} FROM {source} t(order_id, city, price)")


def rows_parquet(path: Path, rows: list[dict[str, object]], schema: pa.Schema = PAYLOAD) -> Path:
    """Rows of orders (or of `CHANGES`) by name, what they leave out being NULL."""
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path)
    return path


def stream(
    workload: Workload, seed: int = 7, commits: int = 10, interval_ms: int = 60_000, by: str = "none"
) -> list[CommitSpec]:
    return list(workload.shape(seed, commits, interval_ms, Partitioning(by)))


def change_log_folder(folder: Path) -> Path:
    """A change log of two commits made by hand: one file of 5 bytes, then an empty commit."""
    (folder / "commit-00001").mkdir(parents=True)
    (folder / "commit-00001" / "part-00000.parquet").write_bytes(b"12345")
    first = {
        "index": 1, "at_ms": 60_000, "rows": 3, "writers": 8, "size_bytes": 5, "content_hash": 2**65,
        "files": [{"name": "part-00000.parquet", "size_bytes": 5}],
    }  # fmt: skip
    second = first | {
        "index": 2,
        "at_ms": 120_000,
        "rows": 0,
        "size_bytes": 0,
        "content_hash": 0,
        "files": [],
    }
    manifest = {"schema_version": 2, "key": "k", "commits": [first, second]}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder
