"""Commits of a few changes, written by hand, and the table they should leave: a dict is the model."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st
from pyspark.sql import DataFrame
from upsert_commits import changes

from bench.engines.contract import Batch, CommitOutcome, Engine
from workloads.commit import CommitSpec
from workloads.schema import ORDERS

_ARROW = {"BIGINT": pa.int64(), "INT": pa.int32(), "STRING": pa.string(), "DOUBLE": pa.float64()}
_OWN = {
    "op": pa.string(), "change_number": pa.int64(), "ts": pa.int64(), "before_exists": pa.bool_(),
    "before_user_city": pa.string(), "before_order_date": pa.int64(),
}  # fmt: skip
_SCHEMA = pa.schema(
    [pa.field(c.name, _ARROW.get(c.spark_type, pa.string())) for c in ORDERS.columns]
    + [pa.field(name, kind) for name, kind in _OWN.items()]
)


@dataclass(frozen=True)
class Change:
    """What becomes of an order: it is in `city` now, or gone (None)."""

    key: int
    city: str | None


class ModelTable:
    """What a table must hold: of each key the city and the number of its last change."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.rows: dict[int, tuple[str, int]] = {}
        self._changes_count = 0
        self._commits_count = 0

    def commit(self, changes: Iterable[Change], writers: int = 2) -> Batch:
        """Take the changes in, and the batch that must do the same to a real table."""
        logged = [self._logged(change) for change in changes]
        self._commits_count += 1
        path = self._folder / f"commit-{self._commits_count}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(logged, _SCHEMA), path)
        spec = CommitSpec(
            index=self._commits_count, at_ms=60_000 * self._commits_count, first_row=0, rows=len(logged),
            inserts=0, updates=len(logged), deletes=0, writers=writers, partitions=(),
        )  # fmt: skip
        return Batch(spec, (path,), path.stat().st_size, is_cdc=True)

    def _logged(self, change: Change) -> dict[str, object]:
        self._changes_count += 1
        number, before = self._changes_count, self.rows.pop(change.key, None)
        if change.city is not None:
            self.rows[change.key] = (change.city, number)
        op = "D" if change.city is None else "I" if before is None else "U"
        city = change.city or (before[0] if before else "Nowhere")
        return {
            "order_id": change.key, "user_city": city, "order_date": 0, "user_id": number,
            "op": op, "change_number": number, "ts": 0, "before_exists": before is not None,
            "before_user_city": before and before[0], "before_order_date": before and 0,
        }  # fmt: skip


def changing_batches(has_rows: bool, folder: Path) -> Iterator[Batch]:
    """A commit of 20 new rows, and one that changes three and deletes two; without rows in a simulation."""
    if has_rows:
        model = ModelTable(folder)
        yield model.commit([Change(key, "Oslo") for key in range(20)])
        yield model.commit([Change(key, "Rome" if key < 3 else None) for key in range(5)])
        return
    for spec in (changes(1, 0, inserts=20), changes(2, 20, updates=3, deletes=2)):
        yield Batch(spec, (), spec.expected_bytes, is_cdc=True)


def drawn_changes(cities: Iterable[str]) -> st.SearchStrategy[list[tuple[int, str | None]]]:
    """Up to eight changes to orders 1 to 16."""
    return st.lists(st.tuples(st.integers(1, 16), st.sampled_from([*cities, None])), min_size=1, max_size=8)


def keyed_rows(frame: DataFrame) -> dict[int, tuple[str, int]]:
    """The rows of a table, by key as a `ModelTable` has them."""
    rows = [(row.order_id, (row.user_city, row.user_id)) for row in frame.collect()]
    assert len(rows) == len(dict(rows)), f"a key is there twice: {sorted(rows)}"
    return dict(rows)


def upserts(first: int, end: int, city: str = "Oslo") -> list[tuple[int, str | None]]:
    """Changes that put the orders of a range of keys into a city."""
    return [(key, city) for key in range(first, end)]


def commit(engine: Engine, model: ModelTable, *changes: tuple[int, str | None]) -> CommitOutcome:
    """Commit changes, each a key and its city or None, to an engine and to the model of its table."""
    batch = model.commit([Change(*change) for change in changes])
    return engine.commit(batch, batch.spec.at_ms)
