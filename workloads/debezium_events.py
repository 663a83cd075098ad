"""Reading of Debezium change events of an `orders` table from files, in order of arrival."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from workloads.schema import ORDERS

_OPS = {"c": "I", "r": "I", "u": "U", "d": "D"}
_TYPES = {"BIGINT": pa.int64(), "INT": pa.int32(), "DOUBLE": pa.float64(), "STRING": pa.string()}
_WORDS = {
    "BIGINT": "a whole number of 64 bits", "INT": "a whole number of 32 bits",
    "DOUBLE": "a number", "STRING": "text",
}  # fmt: skip
_SURROGATE = re.compile("[\ud800-\udfff]")  # half a character, which UTF-8 lacks
_DATES_MS = (-62_135_596_800_000, 253_402_300_799_999)  # the years 1 to 9999, which Python's dates can name
_SUFFIXES = (".json", ".jsonl", ".parquet")

_SCHEMA = pa.schema(
    [
        *((c.name, _TYPES[c.spark_type]) for c in ORDERS.columns),
        ("op", pa.string()), ("change_number", pa.int64()), ("ts", pa.int64()),  # as in `CHANGE_FACTS`
        ("before_exists", pa.bool_()), ("before_user_city", pa.string()), ("before_order_date", pa.int64()),
    ]
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Events:
    """All events, beginning with the snapshot; `table` has the columns of changes.

    `arrived_ms` is the arrival time of each event, counted from the first change; 0 for the snapshot.
    `first_ms` is the time of the first change in milliseconds since 1970 UTC; None if there is no change.
    """

    table: pa.Table
    snapshot_rows: int
    arrived_ms: tuple[int, ...]
    first_ms: int | None


def event_files(path: Path) -> tuple[Path, ...]:
    """The file, or the files of a folder in order of their names. Raises ValueError if there is none."""
    if not path.exists():
        raise ValueError(
            f"debezium {path}: no such file or folder; a relative path starts at the scenario's folder"
        )
    if not (path.is_file() or path.is_dir()):
        raise ValueError(f"debezium {path}: is neither a file nor a folder; name a file of events")
    candidates = [path] if path.is_file() else path.iterdir()
    files = sorted(file for file in candidates if file.suffix in _SUFFIXES and file.is_file())
    if not files:
        raise ValueError(f"debezium {path}: holds no events; they are read from {', '.join(_SUFFIXES)} files")
    return tuple(files)


def digest(files: tuple[Path, ...]) -> str:
    """A hash of the bytes and order of the files, which does not depend on their folder."""
    sums = (hashlib.sha256(file.read_bytes()).hexdigest() for file in files)
    return hashlib.sha256("".join(sums).encode()).hexdigest()


@lru_cache(maxsize=4)
def read_events(files: tuple[Path, ...], content_sha256: str) -> Events:
    """The events of files with this `digest`, part of the cache key so that a changed file is read again.

    Raises ValueError, which names the file, the line (in Parquet the row) and the remedy.
    """
    reader = _Reader()
    for file in files:
        for number, record in _records(file):
            try:
                reader.take(record)
            except ValueError as error:
                raise _wrong(file, number, str(error)) from None
    if not reader.columns["op"]:
        raise ValueError(f"debezium {files[0].parent}: holds no events")
    table = pa.table(reader.columns, schema=_SCHEMA)
    return Events(table, reader.snapshot_rows, tuple(reader.arrived_ms), reader.first_ms)


def _records(file: Path) -> Iterator[tuple[int, Any]]:
    """The value of each line or row and its number, counted from 1. Blank lines are skipped."""
    if file.suffix == ".parquet":
        try:
            rows = pq.ParquetFile(file).read().to_pylist()
        except (OSError, ValueError) as cause:
            raise ValueError(f"debezium {file}: is not a Parquet file ({cause}): export it again") from cause
        yield from enumerate(rows, start=1)
        return
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                try:
                    yield number, json.loads(line)
                except (ValueError, RecursionError) as cause:
                    problem = f"is not JSON ({cause}); write one event per line, in UTF-8"
                    raise _wrong(file, number, problem) from cause


def _wrong(file: Path, number: int, problem: str) -> ValueError:
    word = "row" if file.suffix == ".parquet" else "line"
    return ValueError(f"debezium {file}, {word} {number}: {problem}")


@dataclass(slots=True)
class _Reader:
    """Converts events to columns, and keeps the current row of each key."""

    columns: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in _SCHEMA.names})
    snapshot_rows: int = 0
    arrived_ms: list[int] = field(default_factory=list)
    first_ms: int | None = None
    latest_ms: int = 0
    rows: dict[int, Mapping[str, Any] | None] = field(default_factory=dict)  # None: deleted

    def take(self, record: Any) -> None:
        """Add one event. Raises ValueError if the record is not a valid one."""
        event = _envelope(record)
        if event is None:
            return
        op, ts_ms = _op(event), _ts_ms(event)
        row = _row(event, "before" if op == "d" else "after", op)
        key = row["order_id"]
        if op == "r" and self.first_ms is None:
            if key in self.rows:
                raise ValueError(f"the snapshot holds order_id {key} twice; keep one of the two events")
            self.snapshot_rows += 1
        else:
            if self.first_ms is None:
                self.first_ms = self.latest_ms = ts_ms
            self.latest_ms = max(self.latest_ms, ts_ms)  # a late change arrives with the event before it
        if op == "u" and event.get("before") is not None and _row(event, "before", op)["order_id"] != key:
            raise ValueError(f"changes order_id to {key}; write a delete (d) and an insert (c) instead")
        self._append(_OPS[op], ts_ms, row)

    def _append(self, op: str, ts_ms: int, row: Mapping[str, Any]) -> None:
        key, before = row["order_id"], self.rows.get(row["order_id"])
        located = before or row if op == "D" else row
        values = {
            **{n: row[n] if op != "D" or n == "order_id" else None for n in ORDERS.names},
            "user_city": located["user_city"],
            "order_date": located["order_date"],
            "op": op,
            "change_number": len(self.columns["op"]),
            "ts": ts_ms,
            "before_exists": before is not None,
            "before_user_city": before["user_city"] if before else None,
            "before_order_date": before["order_date"] if before else None,
        }
        for name, column in self.columns.items():
            column.append(values[name])
        self.arrived_ms.append(0 if self.first_ms is None else self.latest_ms - self.first_ms)
        self.rows[key] = None if op == "D" else row


def _envelope(record: Any) -> Mapping[str, Any] | None:
    """The event, unwrapped if it is in a message with its schema; None for a tombstone."""
    if isinstance(record, Mapping) and "payload" in record and "op" not in record:
        record = record["payload"]
    if record is None:
        return None
    if not isinstance(record, Mapping):
        raise ValueError("is not an object; an event has before, after, op and ts_ms")
    return record


def _op(event: Mapping[str, Any]) -> str:
    op = event.get("op")
    if op is None:
        raise ValueError(f"op is missing; it must be one of {', '.join(_OPS)}")
    if not isinstance(op, str) or op not in _OPS:
        raise ValueError(f"op is {op!r}; it must be one of {', '.join(_OPS)}: leave the event out")
    return op


def _ts_ms(event: Mapping[str, Any]) -> int:
    ts_ms = event.get("ts_ms")
    if ts_ms is None:
        raise ValueError("ts_ms is missing; it must be whole milliseconds since 1970")
    if not (_fits(ts_ms, "BIGINT") and _is_date(ts_ms)):
        raise ValueError(
            f"ts_ms is {ts_ms!r}; it must be whole milliseconds since 1970, in the years 1 to 9999"
        )
    return int(ts_ms)


def _row(event: Mapping[str, Any], image: str, op: str) -> dict[str, Any]:
    """The `image` ("before" or "after") as a row of `orders`; missing columns are NULL."""
    values = event.get(image)
    if not isinstance(values, Mapping):
        raise ValueError(f"op is {op!r} and {image} is {values!r}; it must be the row with its order_id")
    unknown = sorted(values.keys() - {*ORDERS.names})
    if unknown:
        raise ValueError(
            f"{image} holds {', '.join(unknown)}, which orders does not have; remove or rename such columns: "
            "it has " + ", ".join(ORDERS.names)
        )
    row = {name: values.get(name) for name in ORDERS.names}
    for column in ORDERS.columns:
        value = row[column.name]
        if not (_fits(value, column.spark_type) or (value is None and column.nullable)):
            raise ValueError(f"{image}.{column.name} is {value!r}; it must be {_WORDS[column.spark_type]}")
    if not _is_date(row["order_date"] or 0):
        problem = "it must be milliseconds since 1970, in the years 1 to 9999"
        raise ValueError(f"{image}.order_date is {row['order_date']}; {problem}")
    return row


def _is_date(at_ms: Any) -> bool:
    return bool(_DATES_MS[0] <= at_ms <= _DATES_MS[1])


def _fits(value: object, spark_type: str) -> bool:
    if spark_type == "STRING":
        return isinstance(value, str) and not _SURROGATE.search(value)
    if spark_type == "DOUBLE" and isinstance(value, float):
        return True
    bits = {"INT": 31, "BIGINT": 63, "DOUBLE": 53}[spark_type]
    return isinstance(value, int) and not isinstance(value, bool) and -(2**bits) <= value < 2**bits
