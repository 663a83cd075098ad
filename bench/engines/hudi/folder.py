"""The files of a Hudi table as its storage lists them, and the instants that follow from their names.

Source: Hudi's technical specification, "Timeline" and "File naming". Tables up to version 6, of Hudi 0.x,
have their instants in another folder and do not name the time of completion.
"""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from pyarrow.fs import FileSelector, FileSystem, FileType, LocalFileSystem

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
    """What the name of an instant's file says, and its bytes.

    An inflight commit has no word for its action: `20260101000000000.inflight`.
    """

    completed: str | None
    action: str
    state: str | None
    size_bytes: int


@dataclass(frozen=True, slots=True)
class InstantFiles:
    """The files of one instant: its times, as Hudi writes them, its action, and how large they are.

    `completed` is None while it is pending. `action` is that of the last state: a compaction that has been
    completed is a commit.
    """

    requested: str
    completed: str | None
    action: str
    size_bytes: int
    files_count: int


@dataclass(frozen=True, slots=True)
class Listing:
    """All files of a table with their bytes, by their paths within it."""

    sizes: Mapping[str, int]

    @property
    def metadata_bytes(self) -> int:
        """The bytes of files that hold no rows."""
        return sum(size for path, size in self.sizes.items() if _is_metadata(path))

    @property
    def data_bytes(self) -> int:
        """The bytes of base files and log files, live or not."""
        return sum(self.sizes.values()) - self.metadata_bytes

    @property
    def history(self) -> Mapping[str, int]:
        """The files of archived instants."""
        return {path: size for path, size in self.sizes.items() if path.startswith(HISTORY_FOLDER)}

    @property
    def instants(self) -> list[InstantFiles]:
        """The instants that are not archived, in the order of their requests.

        A savepoint has the time of the instant that it saves.
        """
        return self._instants(TIMELINE_FOLDER, is_early=False)

    @property
    def early_instants(self) -> list[InstantFiles]:
        """The instants of a table up to version 6, which count as completed when they were requested."""
        return self._instants(METADATA_FOLDER, is_early=True)

    def _instants(self, timeline_folder: str, *, is_early: bool) -> list[InstantFiles]:
        named: dict[tuple[str, bool], list[_Named]] = {}
        for path, size_bytes in self.sizes.items():
            folder, _, name = path.rpartition("/")
            found = _INSTANT.fullmatch(name)
            if folder == timeline_folder and found is not None:
                is_done = is_early and found["state"] is None and found["action"] != "inflight"
                completed = found["requested"] if is_done else found["completed"]
                key = found["requested"], found["action"] == SAVEPOINT
                each = _Named(completed, found["action"], found["state"], size_bytes)
                named.setdefault(key, []).append(each)
        return [_instant(requested, files) for (requested, _), files in sorted(named.items())]


class TableFolder:
    """The folder of one table on any file system that Arrow knows."""

    def __init__(self, location: str) -> None:
        self.location = location
        if "://" in location:
            self._system, self._root = FileSystem.from_uri(location)
        else:
            self._system, self._root = LocalFileSystem(), location

    def list(self) -> Listing:
        """All files; none if the folder is not there.

        Hadoop's checksums, which only its local file system writes, and hides, do not count.
        """
        selector = FileSelector(self._root, recursive=True, allow_not_found=True)
        prefix = f"{self._root.rstrip('/')}/"
        found = (info for info in self._system.get_file_info(selector) if info.type is FileType.File)
        return Listing({
            info.path.removeprefix(prefix): info.size
            for info in found
            if not (info.base_name.startswith(".") and info.base_name.endswith(".crc"))
        })  # fmt: skip

    def is_there(self) -> bool:
        """Whether there is a Hudi table, if only a damaged one."""
        return self._system.get_file_info(f"{self._root}/{METADATA_FOLDER}").type is FileType.Directory

    def has(self, path: str) -> bool:
        """Whether there is a file at a path within the table."""
        return self._system.get_file_info(f"{self._root}/{path}").type is FileType.File

    def read(self, path: str) -> bytes:
        """The content of a file. Raises OSError."""
        with self._system.open_input_file(f"{self._root}/{path}") as file:
            content: bytes = file.read()
        return content

    def place(self, path: str) -> str:
        """A file as messages name it."""
        return f"{self.location.rstrip('/')}/{path}"

    def completed_count(self) -> int:
        """How many completed instants the timeline of a local table has; 0 before there is one.

        It goes by names alone, since it is asked again and again while a commit runs.
        """
        try:
            names = os.listdir(f"{self._root}/{TIMELINE_FOLDER}")  # noqa: PTH208  faster than iterdir
        except FileNotFoundError:
            return 0
        return sum(_COMPLETED.match(name) is not None for name in names)


def _is_metadata(path: str) -> bool:
    return path.startswith(f"{METADATA_FOLDER}/") or path.endswith(PARTITION_MARKER)


def _instant(requested: str, files: Iterable[_Named]) -> InstantFiles:
    """The instant of files that have the same time of request."""
    files = list(files)
    done = next((each for each in files if each.completed), None)
    pending = next((each for each in files if each.state == "requested"), files[0])
    return InstantFiles(
        requested,
        None if done is None else done.completed,
        (pending if done is None else done).action,
        sum(each.size_bytes for each in files),
        len(files),
    )
