"""What Parquet files hold, whatever the order of their rows: a sum to compare, and what differs."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

import duckdb

from workloads.fold import Fold

Paths = Sequence[str | Path]


@dataclass(frozen=True, slots=True)
class Content:
    """Row count and the sum of a 64-bit hash per row; the content of two sets of rows adds up."""

    rows: int
    hash: int

    def __add__(self, other: "Content") -> "Content":
        return Content(self.rows + other.rows, self.hash + other.hash)


@dataclass(frozen=True, slots=True)
class Difference:
    """How many rows of one key only the left, and only the right side holds."""

    key: int | str | None
    left_rows: int
    right_rows: int

    @property
    def kind(self) -> str:
        """Which side lacks the key's rows: "missing_left", "missing_right", or "changed"."""
        if self.left_rows and self.right_rows:
            return "changed"
        return "missing_right" if self.left_rows else "missing_left"


def content(source: Paths | Fold, columns: Sequence[str]) -> Content:
    """The content of Parquet files (paths or glob patterns) or a fold over `columns`; no files, no rows.

    Names, order and types of the columns enter the hash, and so do NULLs; 0.0 and -0.0 hash alike.
    A hash may only be compared with one made by the same DuckDB release.

    Raises ValueError when the files lack a column.
    """
    if _is_empty(source):
        return Content(0, 0)
    with _connect() as connection:
        hashed = _hashed(connection, source, columns)
        rows, total = hashed.aggregate("count(*), sum(row_hash::HUGEINT)").fetchall()[0]
    return Content(rows, int(total or 0))


def differences(
    left: Paths | Fold, right: Paths | Fold, columns: Sequence[str], key: str = "order_id", limit: int = 5
) -> tuple[Difference, ...]:
    """The first `limit` keys whose rows differ between two sets of Parquet files or is_cdc, by key.

    Rows are compared as multisets: a row that one side holds once more than the other differs.
    """
    with _connect() as connection:
        sides = [
            _hashed(connection, source, columns, key).project(f"key, row_hash, {sign} AS sign")
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
        found = by_key.order("key NULLS FIRST").limit(limit).fetchall()
    return tuple(Difference(key, int(in_left), int(in_right)) for key, in_left, in_right in found)


def _is_empty(source: Paths | Fold) -> bool:
    return not (source.initial or source.changes if isinstance(source, Fold) else source)


def _connect() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 2, "autoinstall_known_extensions": False})


def _hashed(
    connection: duckdb.DuckDBPyConnection, source: Paths | Fold, columns: Sequence[str], key: str = ""
) -> duckdb.DuckDBPyRelation:
    """The source's rows as (key, row_hash); without `key` it is NULL.

    DuckDB hashes an INT like a BIGINT, so the types are hashed too, as a text. The outer hash
    matters: the inner one combines its arguments by xor, and sums of xors hardly see two rows
    swapping a value.
    """
    if isinstance(source, Fold):
        rows, first = source.rows(connection), (*source.initial, *source.changes)[0]
    else:
        rows = connection.read_parquet([str(path) for path in source], hive_partitioning=False)
        first = Path(source[0])
    types = dict(zip(rows.columns, rows.types, strict=True))
    missing = [name for name in columns if name not in types]
    if missing:
        raise ValueError(f"{first} and the files beside it lack columns: {', '.join(missing)}")
    schema = ", ".join(f"{name} {types[name]}" for name in columns).replace("'", "''")
    row_hash = f"hash(hash('{schema}', {', '.join(map(_quoted, columns))}))"
    return rows.project(f"{_quoted(key) if key else 'NULL'} AS key, {row_hash} AS row_hash")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
