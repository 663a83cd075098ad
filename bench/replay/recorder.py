"""Writes a run's records, one line each, as they happen."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import BaseModel


def utc_now() -> str:
    """The time in UTC, to the millisecond, as records and folder names carry it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Recorder:
    """Appends records to `events.jsonl`. Each line reaches the operating system before the next step starts.

    A killed process therefore loses no finished record; only a loss of power could. A torn last line
    that one left is no record and is cut off. Each record is also passed to `on_record`.
    """

    def __init__(self, path: Path, on_record: Callable[[BaseModel], None] = lambda record: None) -> None:
        self._on_record = on_record
        if path.exists():
            written = path.read_bytes()
            os.truncate(path, written.rfind(b"\n") + 1)
        self._file = path.open("a", encoding="utf-8")

    def write(self, record: BaseModel) -> None:
        """Store one record."""
        self._file.write(record.model_dump_json() + "\n")
        self._file.flush()
        self._on_record(record)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
