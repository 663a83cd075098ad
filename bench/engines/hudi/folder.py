"""A listing of the files of a Hudi table, and the instants in the names of files.

Source: Hudi's technical specification, "Timeline" and "File naming". Tables up to version 6 (Hudi 0.x) have
their instants in another folder, without the time of completion.
"""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from pyarrow.fs import FileType

from bench.engines.folders import file_sizes, file_system

METADATA_FOLDER = ".hoodie"
TIMELINE_FOLDER = f"{METADATA_FOLDER}/timeline"
HISTORY_FOLDER = f"{TIMELINE_FOLDER}/history/"
SAVEPOINT = "savepoint"
PARTITION_MARKER = ".hoodie_partition_metadata"

_INSTANT = re.compile(
    r"(?P<requested>\d+)(?:_(?P<completed>\d+))?\.(?P<action>[a-z]+)(?:\.(?P<state>requested|inflight))?",
    re.ASCII,
)
_COMPLETED = re.compile(r"\d+_\d+\.", re.ASCII)


class _Named(NamedTuple):
    """A file of an instant. The action of an inflight commit is "inflight": `20260101000000000.inflight`."""

    completed: str | None
    action: str
    state: str | None
    size_bytes: int


@dataclass(frozen=True, slots=True)
class InstantFiles:
    """The times of an instant as Hudi writes them (`completed` is None while it is pending), and its files.

    `action` belongs to the last state: a completed compaction is a commit.
    """

    requested: str
    completed: str | None
    action: str
    size_bytes: int
    files_count: int


@dataclass(frozen=True, slots=True)
class Listing:
    """The bytes of all files of a table by their path within it."""

    sizes: Mapping[str, int]

    @property
    def metadata_bytes(self) -> int:
        return sum(size for path, size in self.sizes.items() if _is_metadata(path))

    @property
    def data_bytes(self) -> int:
        """The bytes of base files and log files, live or not."""
        return sum(self.sizes.values()) - self.metadata_bytes

    @property
    def history(self) -> Mapping[str, int]:
        return {path: size for path, size in self.sizes.items() if path.startswith(HISTORY_FOLDER)}

    def instants(self, timeline_folder: str, *, is_early: bool) -> list[InstantFiles]:
        """The active timeline, in the order of requests. A savepoint has the time of what it saves.

        Up to table version 6 (`is_early`), `completed` is the time of the request.
        """
        named: dict[tuple[str, bool], list[_Named]] = {}
        for path, size_bytes in self.sizes.items():
            folder, _, name = path.rpartition("/")
            parts = _INSTANT.fullmatch(name)
            if folder == timeline_folder and parts is not None:
                is_done = is_early and parts["state"] is None and parts["action"] != "inflight"
                completed = parts["requested"] if is_done else parts["completed"]
                key = parts["requested"], parts["action"] == SAVEPOINT
                file = _Named(completed, parts["action"], parts["state"], size_bytes)
                named.setdefault(key, []).append(file)
        return [_instant(requested, files) for (requested, _), files in sorted(named.items())]


class TableFolder:
    """A table's folder: a local path, or a URI that PyArrow can open."""

    def __init__(self, location: str) -> None:
        self.location = location
        self._system, self._root = file_system(location)

    def list(self) -> Listing:
        return Listing(file_sizes(self._system, self._root))

    def has(self, path: str) -> bool:
        return self._system.get_file_info(f"{self._root}/{path}").type is FileType.File

    def read(self, path: str) -> bytes:
        with self._system.open_input_file(f"{self._root}/{path}") as file:
            content: bytes = file.read()
        return content

    def place(self, path: str) -> str:
        return f"{self.location.rstrip('/')}/{path}"

    def completed_count(self) -> int:
        """The number of completed instants in the active timeline of a local table.

        It reads names only, because it is called repeatedly while a commit runs.
        """
        try:
            names = os.listdir(f"{self._root}/{TIMELINE_FOLDER}")  # noqa: PTH208  faster than iterdir
        except FileNotFoundError:
            return 0
        return sum(_COMPLETED.match(name) is not None for name in names)


def _is_metadata(path: str) -> bool:
    return path.startswith(f"{METADATA_FOLDER}/") or path.endswith(PARTITION_MARKER)


def _instant(requested: str, files: Iterable[_Named]) -> InstantFiles:
    files = list(files)
    done = next((file for file in files if file.completed), None)
    last = done or next((file for file in files if file.state == "requested"), files[0])
    total_bytes = sum(file.size_bytes for file in files)
    return InstantFiles(requested, last.completed, last.action, total_bytes, len(files))
