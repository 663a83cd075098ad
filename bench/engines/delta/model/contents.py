"""The live rows of each data file of a simulated Delta table, and the range of its keys."""

from collections.abc import Collection, Iterable, Sequence

from bench.engines.delta.model.writers import is_merge
from bench.engines.simulated.key_ranges import KeyRange, span_of_ranges
from bench.engines.simulated.live_rows import LiveRows
from strategies.delta.files import DeltaDataFile
from workloads.commit import CommitSpec


class Contents:
    """Rows and keys by the path of a data file, updated by every commit and rewrite.

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

    def keys(self, path: str) -> KeyRange | None:
        return self._keys[path]

    def kept(self, paths: Iterable[str]) -> int:
        return self._rows.kept(paths)

    def commit(self, spec: CommitSpec) -> dict[str, int]:
        """Apply a commit without its new files; returns the live rows left in each file it touches."""
        self._rows.commit(spec)
        if not is_merge(spec):
            return {}
        now = ((path, before, self._rows.live(path)) for path, before in self._live.items())
        touched = {path: left for path, before, left in now if left < before}
        self._live.update(touched)
        return touched

    def add(self, file: DeltaDataFile, keys: KeyRange | None) -> None:
        """Add a file of rows that the last commit appended."""
        self._rows.add(file, file.rows, keys)
        self._keep(file, keys)

    def replace(
        self,
        gone: Collection[str],
        made: Sequence[DeltaDataFile],
        added_rows: int = 0,
        added_keys: Iterable[KeyRange | None] = (),
    ) -> None:
        """Replace files by new ones with their live rows and `added_rows` of the last commit."""
        keys = span_of_ranges([*(self._keys.pop(path) for path in gone), *added_keys])
        self._rows.replace(gone, made, added_rows)
        for path in gone:
            del self._live[path]
        for file in made:
            self._keep(file, keys)

    def _keep(self, file: DeltaDataFile, keys: KeyRange | None) -> None:
        self._keys[file.path] = keys
        self._live[file.path] = self._rows.live(file.path)
