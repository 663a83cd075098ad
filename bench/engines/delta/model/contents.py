"""What is in the data files of a simulated Delta table: their live rows, and the range of their keys."""

from collections.abc import Collection, Iterable, Sequence

from bench.engines.delta.model.writers import is_merge
from bench.engines.simulated.key_ranges import KeyRange, span_of_ranges
from bench.engines.simulated.live_rows import LiveRows
from strategies.delta.files import DeltaDataFile
from workloads.commit import CommitSpec


class Contents:
    """The rows and keys of each data file by its path, updated by every commit and rewrite.

    A commit is taken to touch the files that lose a whole row to it, in whole numbers of expected rows. So
    rows and deletion vectors add up, and the number of touched files is as expected where commits hit many
    rows of a file or few files at all; where they hit about one row in each, up to half more are touched than
    keys drawn at random would (1 instead of 1 - 1/e). No skipping by the partitions of changes is modelled.
    """

    def __init__(self) -> None:
        self._rows = LiveRows()
        self._live: dict[str, int] = {}  # as of the last commit
        self._keys: dict[str, KeyRange | None] = {}

    @property
    def live_rows(self) -> int:
        """The live rows of all files."""
        return self._rows.total

    def keys(self, path: str) -> KeyRange | None:
        """The lowest and the highest key of a file; None if they are not known."""
        return self._keys[path]

    def kept(self, paths: Iterable[str]) -> int:
        """The number of rows that a rewrite of these files writes."""
        return self._rows.kept(paths)

    def commit(self, spec: CommitSpec) -> dict[str, int]:
        """Apply a commit, whose files come later; the files it touches, with the live rows left in each."""
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
        """Replace files by others, which hold their live rows and `added_rows` of the last commit."""
        keys = span_of_ranges([*(self._keys.pop(path) for path in gone), *added_keys])
        self._rows.replace(gone, made, added_rows)
        for path in gone:
            del self._live[path]
        for file in made:
            self._keep(file, keys)

    def _keep(self, file: DeltaDataFile, keys: KeyRange | None) -> None:
        self._keys[file.path] = keys
        self._live[file.path] = self._rows.live(file.path)
