"""Order-independent content of Parquet files: a checksum to compare, and the rows that differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

import duckdb

from workloads.fold import Fold

Paths = Sequence[str | Path]


@dataclass(frozen=True, slots=True)
class Content:
    """The row count and the sum of a 64-bit hash per row; the contents of two sets of rows add up."""

    rows: int
    hash: int

    def __add__(self, other: "Content") -> "Content":
        return Content(self.rows + other.rows, self.hash + other.hash)


@dataclass(frozen=True, slots=True)
class Difference:
    """For one key, how many rows only the left side has, and how many only the right side has."""

    key: int | str | None
    left_rows: int
    right_rows: int

    @property
    def kind(self) -> str:
        """Which side lacks rows of the key: "missing_left", "missing_right", or "changed" if both do."""
        if self.left_rows and self.right_rows:
            return "changed"
        return "missing_right" if self.left_rows else "missing_left"


def content(source: Paths | Fold, columns: Sequence[str]) -> Content:
    """The content of `columns` of Parquet files (paths or glob patterns) or of a fold; no files have no rows.

    The hash depends on the names, order and types of the columns, and on NULLs; 0.0 and -0.0 hash alike. Only
    compare hashes computed by the same DuckDB release.

    Raises ValueError if the files lack a column.
    """
    if _is_empty(source):
        return Content(0, 0)
    with _connect() as connection:
        hashed = _hashed(connection, source, columns)
        rows, total = hashed.aggregate("count(*), sum(row_hash::HUGEINT)").fetchall()[0]
    return Content(rows, int(total or 0))


def differences(
    left: Paths | Fold, right: Paths | Fold, columns: Sequence[str], limit: int = 5
) -> tuple[Difference, ...]:
    """The first `limit` order ids whose rows differ between two sets of Parquet files or folds, in order.

    Rows are compared as multisets: if one side has a row once more than the other, the key differs.
    """
    with _connect() as connection:
        sides = [
            _hashed(connection, source, columns).project(f"order_id AS key, row_hash, {sign} AS sign")
            for source, sign in ((left, 1), (right, -1))
            if not _is_empty(source)
        ]
        if not sides:
            return ()
        uneven = reduce(duckdb.DuckDBPyRelation.union, sides).aggregate(
            "key, sum(sign) AS excess", "key, row_hash"
        )
        by_key = uneven.filter("excess <> 0").aggregate(
            "key, sum(greatest(excess, 0)), sum(greatest(-excess, 0))", "key"
        )
        first = by_key.order("key NULLS FIRST").limit(limit).fetchall()
    return tuple(Difference(key, int(in_left), int(in_right)) for key, in_left, in_right in first)


def _is_empty(source: Paths | Fold) -> bool:
    return not (source.initial or source.changes if isinstance(source, Fold) else source)


def _connect() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 2, "autoinstall_known_extensions": False})


def _hashed(
    connection: duckdb.DuckDBPyConnection, source: Paths | Fold, columns: Sequence[str]
) -> duckdb.DuckDBPyRelation:
    """The rows of the source, with a `row_hash` of the `columns`.

    DuckDB hashes an INT like a BIGINT, so the column types are hashed too, as text. The outer hash matters:
    the inner one combines its arguments by XOR, and a sum of XORs rarely changes if two rows swap a value.
    """
    if isinstance(source, Fold):
        rows, first = source.rows(connection), (*source.initial, *source.changes)[0]
    else:
        rows = connection.read_parquet([str(path) for path in source], hive_partitioning=False)
        first = Path(source[0])
    types = dict(zip(rows.columns, rows.types, strict=True))
    missing = [name for name in columns if name not in types]
    if missing:
        raise ValueError(f"{first} and the other files lack columns: {', '.join(missing)}")
    schema = ", ".join(f"{name} {types[name]}" for name in columns).replace("'", "''")
    row_hash = f"hash(hash('{schema}', {', '.join(map(_quoted, columns))}))"
    return rows.project(f"*, {row_hash} AS row_hash")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
