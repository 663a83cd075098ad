"""The records of a run in progress."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.results.records import parse_record


class Tail:
    """Reads the records that a worker appends, by complete lines."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read_bytes = 0

    def new_records(self) -> Iterator[Any]:
        """The records since the last call."""
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            file.seek(self._read_bytes)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                self._read_bytes += len(line)
                yield parse_record(line)
