"""The fold of a stream of changes: the table that results from applying the last change of each key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

# What a change has besides the payload: its kind (I, U, D), its place in the order of delivery over the whole
# stream, when it happened, and the row it replaces: whether there is one, and the columns that determine its
# partition, to which an equality delete must be written.
CHANGE_FACTS = ("op", "change_number", "ts", "before_exists", "before_user_city", "before_order_date")

# The columns of a key's changes that are needed to generate its next change, with their types in Spark SQL.
STATE_COLUMNS: Mapping[str, str] = {
    "order_id": "BIGINT",
    "op": "STRING",
    "change_number": "BIGINT",
    "user_city": "STRING",
    "order_date": "BIGINT",
}


@dataclass(frozen=True, slots=True)
class Fold:
    """Parquet files of an initial load with unique keys, and of the changes after it, in any order.

    Change numbers are unique and increase over the stream.
    """

    initial: tuple[Path, ...]
    changes: tuple[Path, ...]

    def rows(self, connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyRelation:
        """The rows of the folded table, with its payload columns; there must be at least one file.

        Only the keys and numbers of the changes are held in memory; the initial load is streamed.
        """
        if not self.changes:
            return _parquet(connection, self.initial)
        changes = _parquet(connection, self.changes)
        columns = ", ".join(name for name in changes.columns if name not in CHANGE_FACTS)
        newest = changes.aggregate("order_id, max(change_number) AS change_number", "order_id")
        newest = newest.set_alias("newest")
        last = changes.join(newest, "change_number", how="semi")
        rows = last.filter("op <> 'D'").project(columns)
        if not self.initial:
            return rows
        load = _parquet(connection, self.initial)
        return rows.union(load.join(newest, "order_id", how="anti").project(columns))


def change_columns(payload: Sequence[str]) -> tuple[str, ...]:
    return (*payload, *CHANGE_FACTS)


def condense(changes: Sequence[Path], target: Path) -> None:
    """Write the `STATE_COLUMNS` of the last change of each key to one Parquet file."""
    with duckdb.connect(config={"threads": 2}) as connection:
        rows = _parquet(connection, changes)
        newest = rows.aggregate("max(change_number) AS change_number", "order_id").set_alias("newest")
        rows.join(newest, "change_number", how="semi").project(", ".join(STATE_COLUMNS)).write_parquet(
            str(target)
        )


def _parquet(connection: duckdb.DuckDBPyConnection, paths: Sequence[Path]) -> duckdb.DuckDBPyRelation:
    return connection.read_parquet([str(path) for path in paths], hive_partitioning=False)
