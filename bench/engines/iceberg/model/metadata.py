"""The metadata of a simulated Iceberg table: manifests, and the bytes that snapshots keep on storage."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from bench.engines.iceberg.model.coefficients import Metadata

MERGE_FROM_MANIFESTS = 100  # commit.manifest.min-count-to-merge


@dataclass(slots=True)
class _Snapshot:
    at_ms: int
    list_bytes: int
    dropped_data_bytes: int  # of files that only earlier snapshots still hold
    dropped_manifest_bytes: int


@dataclass(slots=True)
class _Manifest:
    live_count: int  # of its files that are live
    entries_count: int  # all it names, as it lies on storage


class _Shelf:
    """The manifests of one content, data or deletes: which one each live file is in."""

    def __init__(self) -> None:
        self._manifest_of: dict[str, int] = {}
        self.manifests: dict[int, _Manifest] = {}  # those with a live file, the oldest first
        self._newest = 0

    def __contains__(self, key: str) -> bool:
        return key in self._manifest_of

    def add(self, keys: Collection[str]) -> int:
        """A new manifest of these files; its number."""
        self._newest += 1
        self._manifest_of.update(dict.fromkeys(keys, self._newest))
        self.manifests[self._newest] = _Manifest(len(keys), len(keys))
        return self._newest

    def take(self, keys: Iterable[str]) -> Counter[int]:
        """Files go; how many of each manifest."""
        return Counter(self._manifest_of.pop(key) for key in keys)

    def merge(self) -> int:
        """All live files into one manifest; how many there are."""
        self.manifests.clear()
        self.add(tuple(self._manifest_of))
        return len(self._manifest_of)

    def first_with(self, keys: Iterable[str], count: int) -> list[str]:
        """Of these files those in the first `count` manifests that hold any."""
        by_manifest: dict[int, list[str]] = {}
        for key in keys:
            by_manifest.setdefault(self._manifest_of[key], []).append(key)
        return [key for number in sorted(by_manifest)[:count] for key in by_manifest[number]]


class SimulatedMetadata:
    """Which manifest each live file is in, what commits write, and what expiry frees.

    A commit writes the table metadata, a manifest list, a manifest of the data files it adds and one of
    the delete files, and anew each manifest it removes files from (MergingSnapshotProducer). Manifests of
    data and of deletes are merged apart. Table metadata is never freed.
    """

    def __init__(self, sizes: Metadata) -> None:
        self._sizes = sizes
        self._data, self._deletes = _Shelf(), _Shelf()
        self._spent_bytes = 0  # manifests that only say what the current snapshot removed
        self._snapshots: list[_Snapshot] = []
        self.data_storage_bytes = 0
        self.metadata_storage_bytes = 0

    @property
    def manifests_count(self) -> int:
        """Manifests of the current snapshot."""
        return len(self._data.manifests) + len(self._deletes.manifests)

    def create(self) -> None:
        """The first table metadata, of no snapshot."""
        self.metadata_storage_bytes = self._sizes.table_metadata_bytes

    def commit(
        self,
        at_ms: int,
        added: Collection[str],
        removed: Collection[str],
        added_bytes: int,
        replaced_bytes: int,
        added_deletes: Collection[str] = (),
    ) -> tuple[int, int]:
        """One snapshot; how many bytes of metadata it wrote, in how many files.

        Files are named by their `key`; those removed are of both contents.
        """
        dropped_bytes, self._spent_bytes = self._spent_bytes, 0
        written: list[int] = []
        for shelf, added_to_it in ((self._data, added), (self._deletes, added_deletes)):
            taken = shelf.take(key for key in removed if key in shelf)
            dropped_bytes += self._change(shelf, added_to_it, taken, written)
        self.data_storage_bytes += added_bytes
        return self._snapshot(at_ms, written, replaced_bytes, dropped_bytes)

    def first_deletes(self, keys: Iterable[str], manifests_count: int) -> list[str]:
        """Of these delete files those in the oldest so many manifests that hold any of them."""
        return self._deletes.first_with(keys, manifests_count)

    def _change(
        self, shelf: _Shelf, added: Collection[str], taken: Mapping[int, int], written: list[int]
    ) -> int:
        """Manifests of a content after a commit; the bytes that only older snapshots hold from then on.

        Those written are added to `written`, as the number of files they name.
        """
        dropped_bytes = 0
        for number, count in taken.items():
            manifest = shelf.manifests[number]
            dropped_bytes += self._manifest_bytes(manifest.entries_count)
            written.append(manifest.live_count)  # anew: what stays and what goes
            self._take_files(shelf, number, count)
        fresh = [number for number in taken if number in shelf.manifests]
        if added:
            fresh.append(shelf.add(added))
            written.append(len(added))
        if len(shelf.manifests) >= MERGE_FROM_MANIFESTS:
            # What this commit has just written is deleted with it: no snapshot names it.
            fresh_bytes = sum(self._manifest_bytes(shelf.manifests[n].entries_count) for n in fresh)
            self.metadata_storage_bytes -= fresh_bytes
            dropped_bytes += self._manifests_bytes(shelf) - fresh_bytes
            written.append(shelf.merge())
        return dropped_bytes

    def _take_files(self, shelf: _Shelf, number: int, count: int) -> None:
        """Remove files of a manifest, which is written anew; without a live one it lasts one snapshot."""
        manifest = shelf.manifests[number]
        manifest.entries_count = manifest.live_count
        manifest.live_count -= count
        if not manifest.live_count:
            del shelf.manifests[number]
            self._spent_bytes += self._manifest_bytes(manifest.entries_count)

    def rewrite(self, at_ms: int) -> tuple[int, int]:
        """The manifests of each content regrouped into one (`rewrite_manifests`), where there are more."""
        several = [shelf for shelf in (self._data, self._deletes) if len(shelf.manifests) > 1]
        if not several:
            return 0, 0
        old_bytes, self._spent_bytes = sum(map(self._manifests_bytes, several)) + self._spent_bytes, 0
        return self._snapshot(at_ms, [shelf.merge() for shelf in several], 0, old_bytes)

    def expire(self, keep_from_ms: int, retain_last: int) -> tuple[int, int]:
        """Forget snapshots before `keep_from_ms`, save the last ones, and free what only they held."""
        last = max(0, len(self._snapshots) - max(1, retain_last))
        kept = sum(snapshot.at_ms < keep_from_ms for snapshot in self._snapshots)
        expired = self._snapshots[: min(kept, last)]
        if not expired:
            return 0, 0
        del self._snapshots[: len(expired)]
        # What snapshot i dropped is held by those before i alone, the first one kept included.
        gone = [*expired, self._snapshots[0]]
        self.data_storage_bytes -= sum(snapshot.dropped_data_bytes for snapshot in gone)
        self.metadata_storage_bytes -= sum(snapshot.dropped_manifest_bytes for snapshot in gone)
        self.metadata_storage_bytes -= sum(snapshot.list_bytes for snapshot in expired)
        first = self._snapshots[0]
        first.dropped_data_bytes = first.dropped_manifest_bytes = 0
        return self._table_metadata(), 1

    def _snapshot(
        self, at_ms: int, manifests: Collection[int], dropped_data_bytes: int, dropped_manifest_bytes: int
    ) -> tuple[int, int]:
        """A snapshot that wrote manifests of so many files each."""
        sizes = self._sizes
        list_bytes = sizes.manifest_list_bytes + sizes.manifest_list_bytes_per_manifest * self.manifests_count
        self._snapshots.append(_Snapshot(at_ms, list_bytes, dropped_data_bytes, dropped_manifest_bytes))
        written_bytes = sum(map(self._manifest_bytes, manifests)) + list_bytes
        self.metadata_storage_bytes += written_bytes
        return written_bytes + self._table_metadata(), len(manifests) + 2

    def _table_metadata(self) -> int:
        """A new version of the table metadata, which lists every snapshot."""
        per_snapshot = self._sizes.table_metadata_bytes_per_snapshot
        written_bytes = self._sizes.table_metadata_bytes + per_snapshot * len(self._snapshots)
        self.metadata_storage_bytes += written_bytes
        return written_bytes

    def _manifests_bytes(self, shelf: _Shelf) -> int:
        return sum(self._manifest_bytes(manifest.entries_count) for manifest in shelf.manifests.values())

    def _manifest_bytes(self, files_count: int) -> int:
        return self._sizes.manifest_bytes + self._sizes.manifest_bytes_per_file * files_count
