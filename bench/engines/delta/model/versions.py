"""The versions of a simulated Delta table."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from bench.engines.contract import Tag, Version, change_of, metadata_change
from bench.engines.delta.ledger import DeltaLedger
from bench.engines.delta.model.auto_compaction import AutoCompaction
from bench.engines.delta.model.changes import Changes
from bench.engines.delta.model.files import vector_file_bytes
from bench.engines.delta.model.log import SimulatedLog
from bench.engines.simulated.contents import Opened
from bench.engines.simulated.key_ranges import KeyRange, meeting_count
from bench.engines.simulated.selection import Selection
from bench.engines.simulated.storage import Storage
from bench.results.values import CommitWork
from strategies.delta.files import DeletionVector, DeltaDataFile
from strategies.series import Run

KeysOf = Callable[[Run[DeltaDataFile]], tuple[KeyRange | None, int]]


class Versions:
    """Commits changes to ledger, log and storage; automatic compaction counts their files.

    `keys_of` gives the keys of the first file of a run.
    """

    def __init__(
        self, ledger: DeltaLedger, log: SimulatedLog, automatic: AutoCompaction, keys_of: KeysOf
    ) -> None:
        self._ledger, self._log, self._automatic, self._keys_of = ledger, log, automatic, keys_of
        self.storage = Storage()
        self._vectors: dict[str, DeletionVector] = {}
        self._marked_keys: dict[str, KeyRange | None] = {}  # of the data files of these vectors
        self._opened: dict[Selection, Opened] = {}
        self._vector_files: dict[str, tuple[int, int]] = {}  # live vectors, and bytes of the file

    @property
    def vectors(self) -> Mapping[str, DeletionVector]:
        """The live vectors by the path of their data file."""
        return MappingProxyType(self._vectors)

    def opened(self, wanted: Selection) -> Opened:
        """What a query opens of the vectors; it is kept up to date from then on."""
        if wanted not in self._opened:
            self._opened[wanted] = Opened()
            for vector in self._vectors.values():
                self._count(vector, 1, [wanted])
        return self._opened[wanted]

    def write(self, changes: Changes, at_ms: int, tag: Tag | None) -> Version:
        """In the log, a data file that gets a vector is removed and added again; in the table it stays."""
        before, after = (*changes.removed, *changes.marked), (*changes.added, *changes.marked)
        old_vectors = self._replace_vectors(before, changes)
        self._automatic.saw(changes.added, changes.removed)
        self._ledger.remove_data(changes.removed)
        self._ledger.remove(vector.key for vector in old_vectors)
        self._ledger.add([*changes.added, *changes.vectors], at_ms)
        self._store(changes, old_vectors, at_ms)
        change = change_of([*changes.added, *changes.vectors], [*changes.removed, *old_vectors])
        new = {run.origin for run in changes.added}  # a recorded file may come with a vector
        again_count = sum(run.origin not in new for run in changes.marked)
        entry = self._log.append(
            change.files_added_count + again_count, change.files_removed_count + again_count
        )
        change += metadata_change(entry.size_bytes, entry.files_count)
        work = CommitWork(
            partitions_count=len({run.first.partition for run in after}),
            checkpointed_files_count=entry.checkpointed_count or 0,
        )
        return Version(str(entry.version), changes.operation, change, tag, work=work)

    def _replace_vectors(self, runs: Iterable[Run[DeltaDataFile]], changes: Changes) -> list[DeletionVector]:
        """Replace the vectors of these data files; returns the old ones."""
        files = (file for run in runs for file in run.files()) if self._vectors else ()
        old = [self._vectors.pop(file.path) for file in files if file.path in self._vectors]
        for vector in old:
            self._count(vector, -1, self._opened)
            del self._marked_keys[vector.data_file]
        for run, vector in zip(changes.marked, changes.vectors, strict=True):
            self._vectors[vector.data_file] = vector
            self._marked_keys[vector.data_file], _ = self._keys_of(run)
            self._count(vector, 1, self._opened)
        return old

    def _count(self, vector: DeletionVector, sign: int, queries: Iterable[Selection]) -> None:
        for wanted in queries:
            if not wanted.admits(vector.partition):
                continue
            count = sign * meeting_count(wanted.keys, self._marked_keys[vector.data_file], 0, 1)
            self._opened[wanted].files_count += count
            self._opened[wanted].size_bytes += count * vector.size_bytes

    def _store(self, changes: Changes, old_vectors: Iterable[DeletionVector], at_ms: int) -> None:
        for run in changes.added:
            self.storage.write(run.first.size_bytes, run.count)
        if changes.vectors:
            size_bytes = vector_file_bytes(changes.vectors)
            self.storage.write(size_bytes)
            self._vector_files[changes.vectors[0].path] = len(changes.vectors), size_bytes
        for run in changes.removed:
            self.storage.drop(at_ms, run.first.size_bytes, run.count)
        for vector in old_vectors:
            self._drop_vector(vector.path, at_ms)

    def _drop_vector(self, path: str, at_ms: int) -> None:
        """A file of deletion vectors stays until none of its vectors is live."""
        count, size_bytes = self._vector_files.pop(path)
        if count > 1:
            self._vector_files[path] = count - 1, size_bytes
        else:
            self.storage.drop(at_ms, size_bytes)
