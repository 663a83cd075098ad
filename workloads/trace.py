"""Recorded traffic: replay of a file of times and row counts."""

import csv
import hashlib
import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from workloads.commit import ROWS_MAX

_UNIX_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Trace:
    """Recorded traffic: replays the CSV or Parquet file at `path`, with columns `time` and `rows`.

    `time` is in seconds since the start, or an ISO timestamp, which counts from the first one and is UTC if
    it has no zone; fractions of a millisecond are dropped. `rows` are whole numbers >= 0. The lines may be in
    any order. A commit has the rows of its interval, which includes its start and not its end; after the last
    line there are none. Of readers the rows are queries. The repr contains a hash of the file instead of its
    path, so that a moved file is the same trace and a changed one is not.

    Raises ValueError, which names the file and, if one is wrong, the column.
    """

    path: str = field(repr=False)
    content_sha256: str = field(init=False)
    _times_ms: tuple[int, ...] = field(init=False, repr=False, compare=False)
    _rows_before: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        file = Path(self.path)
        if not file.is_file():
            raise ValueError(f"trace {file}: no such file")
        points = _read(file)
        object.__setattr__(self, "content_sha256", hashlib.sha256(file.read_bytes()).hexdigest())
        object.__setattr__(self, "_times_ms", tuple(at_ms for at_ms, _ in points))
        object.__setattr__(self, "_rows_before", tuple(accumulate((n for _, n in points), initial=0)))

    def rows(self, index: int, from_ms: int, to_ms: int, mean_rows: float, seed: str) -> int:
        return self._before(to_ms) - self._before(from_ms)

    def _before(self, at_ms: int) -> int:
        return self._rows_before[bisect_left(self._times_ms, at_ms)]


def _read(file: Path) -> list[tuple[int, int]]:
    """Pairs (time in ms, rows), sorted by time."""
    try:
        records = _READERS[file.suffix.lower()](file)
    except KeyError:
        raise ValueError(f"trace {file}: must end in {' or '.join(_READERS)}") from None
    except (OSError, ValueError, csv.Error) as cause:
        raise ValueError(f"trace {file}: cannot be read: {cause}") from cause
    if not records:
        raise ValueError(f"trace {file}: holds no rows")
    for column in ("time", "rows"):
        if column not in records[0]:
            raise ValueError(f"trace {file}: column {column!r} is missing; it has {', '.join(records[0])}")
    rows = [_whole_rows(file, str(record["rows"])) for record in records]
    times_ms = _times_ms(file, [str(record["time"]) for record in records])
    return sorted(zip(times_ms, rows, strict=True))


def _csv_records(file: Path) -> list[dict[str, Any]]:
    with file.open(encoding="utf-8-sig", newline="") as text:
        return list(csv.DictReader(text))


def _parquet_records(file: Path) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = pq.ParquetFile(file).read().to_pylist()
    return records


_READERS: dict[str, Callable[[Path], list[dict[str, Any]]]] = {
    ".csv": _csv_records,
    ".parquet": _parquet_records,
}


def _times_ms(file: Path, texts: list[str]) -> list[int]:
    """Whole milliseconds since the start; the first text decides whether all are seconds or timestamps."""
    parse = _stamp_us if _number(texts[0]) is None else _seconds_us
    times_us = []
    for text in texts:
        time_us = parse(text)
        if time_us is None:
            raise ValueError(
                f"trace {file}: column 'time' holds {text!r}; "
                "it must be seconds >= 0, or ISO timestamps throughout"
            )
        times_us.append(time_us)
    start_us = min(times_us) if parse is _stamp_us else 0
    return [(time_us - start_us) // 1000 for time_us in times_us]


def _seconds_us(text: str) -> int | None:
    """Seconds as microseconds, exactly as written: 0.7 as a binary fraction would be a little less."""
    number = _number(text)
    if number is None or not 0 <= number < math.inf:
        return None
    return math.floor(Decimal(text) * 1_000_000)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _stamp_us(text: str) -> int | None:
    try:
        stamp = datetime.fromisoformat(text)
    except ValueError:
        return None
    return ((stamp if stamp.tzinfo else stamp.replace(tzinfo=UTC)) - _UNIX_EPOCH) // _MICROSECOND


def _whole_rows(file: Path, text: str) -> int:
    value = _number(text)
    if value is None or not 0 <= value <= ROWS_MAX or not value.is_integer():
        raise ValueError(
            f"trace {file}: column 'rows' holds {text!r}; it must be a whole number from 0 to {ROWS_MAX}"
        )
    return int(value)
