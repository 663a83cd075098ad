"""The versions of a simulated Delta table, and the storage of its files."""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from bench.engines.contract import Tag, Version
from bench.engines.delta.ledger import DeltaLedger
from bench.engines.delta.model.auto_compaction import AutoCompaction, CountedFile
from bench.engines.delta.model.changes import Changes
from bench.engines.delta.model.files import vector_file_bytes
from bench.engines.delta.model.log import Entry, SimulatedLog
from bench.results.values import Change
from strategies.delta.files import DeletionVector, DeltaDataFile, live_bytes


class Versions:
    """Commits changes to ledger, log and storage; automatic compaction counts their files."""

    def __init__(self, ledger: DeltaLedger, log: SimulatedLog, automatic: AutoCompaction) -> None:
        self._ledger, self._log, self._automatic = ledger, log, automatic
        self.storage = Storage()
        self._vectors: dict[str, DeletionVector] = {}

    @property
    def vectors(self) -> Mapping[str, DeletionVector]:
        """The live vectors by the path of their data file."""
        return MappingProxyType(self._vectors)

    def write(self, changes: Changes, at_ms: int, tag: Tag | None) -> tuple[Version, Entry]:
        """In the log, a data file that gets a vector is removed and added again; in the table it stays."""
        data = self._ledger.data_files
        marked = [vector.data_file for vector in changes.vectors]
        removed = [self._counted(data[path]) for path in (*changes.removed, *marked)]
        added = [*changes.added, *(data[path] for path in marked)]
        old_vectors = self._replace_vectors((*changes.removed, *marked), changes.vectors)
        self._automatic.saw([self._counted(file) for file in added], removed)
        added_bytes, replaced_bytes = self._update_ledger(changes, old_vectors, at_ms)
        self._store(changes, old_vectors, at_ms)
        entry = self._log.append(len(added), len(removed))
        change = Change(
            len(changes.added), len(changes.removed), len(changes.vectors), len(old_vectors),
            added_bytes, replaced_bytes, entry.size_bytes, entry.files_count,
        )  # fmt: skip
        return Version(str(entry.version), changes.operation, change, tag), entry

    def _counted(self, file: DeltaDataFile) -> CountedFile:
        return file.partition, live_bytes(file, self._vectors.get(file.path))

    def _replace_vectors(
        self, paths: Iterable[str], vectors: Iterable[DeletionVector]
    ) -> list[DeletionVector]:
        """Replace the vectors of these data files; returns the old ones."""
        old = [self._vectors.pop(path) for path in paths if path in self._vectors]
        self._vectors.update((vector.data_file, vector) for vector in vectors)
        return old

    def _update_ledger(
        self, changes: Changes, old_vectors: Iterable[DeletionVector], at_ms: int
    ) -> tuple[int, int]:
        """Returns the bytes added and the bytes replaced."""
        before_bytes = self._ledger.size_bytes
        self._ledger.remove([*changes.removed, *(vector.key for vector in old_vectors)])
        left_bytes = self._ledger.size_bytes
        self._ledger.add([*changes.added, *changes.vectors], at_ms)
        return self._ledger.size_bytes - left_bytes, before_bytes - left_bytes

    def _store(self, changes: Changes, old_vectors: Iterable[DeletionVector], at_ms: int) -> None:
        for file in changes.added:
            self.storage.write(file.path, file.size_bytes)
        if changes.vectors:
            size_bytes = vector_file_bytes(changes.vectors)
            self.storage.write(changes.vectors[0].path, size_bytes, len(changes.vectors))
        for path in (*changes.removed, *(vector.path for vector in old_vectors)):
            self.storage.drop(path, at_ms)


@dataclass(slots=True)
class _Stored:
    size_bytes: int
    references: int  # live data files, or vectors, in it


class Storage:
    """A file of deletion vectors stays until none of its vectors is live."""

    def __init__(self) -> None:
        self._live: dict[str, _Stored] = {}
        self._dropped: deque[tuple[int, int]] = deque()  # when, and bytes, oldest first
        self.size_bytes = 0

    @property
    def files_count(self) -> int:
        return len(self._live) + len(self._dropped)

    def write(self, path: str, size_bytes: int, references: int = 1) -> None:
        self._live[path] = _Stored(size_bytes, references)
        self.size_bytes += size_bytes

    def drop(self, path: str, at_ms: int) -> None:
        """Drop one reference to a file. `at_ms` must not decrease from call to call."""
        stored = self._live[path]
        stored.references -= 1
        if not stored.references:
            del self._live[path]
            self._dropped.append((at_ms, stored.size_bytes))

    def vacuum(self, older_than_ms: int) -> None:
        """Delete the files that left the table before `older_than_ms`."""
        while self._dropped and self._dropped[0][0] < older_than_ms:
            _, size_bytes = self._dropped.popleft()
            self.size_bytes -= size_bytes
