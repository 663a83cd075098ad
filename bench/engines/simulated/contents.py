"""The live rows of each file of a simulated table, and the range of its keys."""

from collections.abc import Collection, Iterable, Sequence

from bench.engines.simulated.key_ranges import KeyRange, span_of_ranges
from bench.engines.simulated.live_rows import LiveRows
from strategies.state import DataFile
from workloads.commit import CommitSpec


class Contents:
    """Rows and keys by the path of a file that readers take rows from, updated by every commit and rewrite.

    A commit touches the files that lose a whole number of expected rows to it, so rows and deletion vectors
    add up. The number of touched files is right if a commit hits many rows of each file, or few files. If it
    hits about one row in each, up to half more files are touched than by keys drawn at random (1 instead of 1
    - 1/e). Skipping by the partitions of changes is not modelled.
    """

    def __init__(self) -> None:
        self._rows = LiveRows()
        self._live: dict[str, int] = {}  # as of the last commit
        self._keys: dict[str, KeyRange | None] = {}

    @property
    def live_rows(self) -> int:
        return self._rows.total

    def __contains__(self, path: str) -> bool:
        return path in self._live

    def keys(self, path: str) -> KeyRange | None:
        return self._keys[path]

    def kept(self, paths: Iterable[str]) -> int:
        """The number of live rows in these files, which a rewrite writes."""
        return self._rows.kept(path for path in paths if path in self._live)

    def commit(self, spec: CommitSpec) -> dict[str, tuple[int, int]]:
        """Apply a commit without its new files: for each file it touches, the live rows lost and left."""
        self._rows.commit(spec)
        if not any(shape.deleted_keys for shape in spec.partitions):
            return {}
        now = ((path, before, self._rows.live(path)) for path, before in self._live.items())
        touched = {path: (before - left, left) for path, before, left in now if left < before}
        self._live.update((path, left) for path, (_, left) in touched.items())
        return touched

    def add(self, file: DataFile, keys: KeyRange | None) -> None:
        """Add a file of rows that the last commit appended."""
        self._rows.add(file, file.rows, keys)
        self._keep(file, keys)

    def replace(
        self,
        gone: Collection[str],
        made: Sequence[DataFile],
        added_rows: int = 0,
        added_keys: Iterable[KeyRange | None] = (),
    ) -> None:
        """Replace files by new ones with their live rows and `added_rows` of the last commit."""
        read = [path for path in gone if path in self._live]
        keys = span_of_ranges([*(self._keys.pop(path) for path in read), *added_keys])
        self._rows.replace(read, [file for file in made if file.rows], added_rows)
        for file in made:
            if not file.rows:  # it has deletes only
                self._rows.add(file, 0)
        for path in read:
            del self._live[path]
        for file in made:
            self._keep(file, keys)

    def _keep(self, file: DataFile, keys: KeyRange | None) -> None:
        self._keys[file.path] = keys
        self._live[file.path] = self._rows.live(file.path)
