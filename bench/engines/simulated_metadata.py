"""The metadata of a simulated Iceberg table: manifests, and the bytes that snapshots keep on storage."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from bench.engines.costs import Metadata

MERGE_FROM_MANIFESTS = 100  # commit.manifest.min-count-to-merge


@dataclass(slots=True)
class _Snapshot:
    at_s: float
    list_bytes: int
    dropped_data_bytes: int  # of files that only earlier snapshots still hold
    dropped_manifest_bytes: int


@dataclass(slots=True)
class _Manifest:
    live_count: int  # of its files that are live
    entries_count: int  # all it names, as it lies on storage


class SimulatedMetadata:
    """Which manifest each live file is in, what commits write, and what expiry frees.

    A commit writes the table metadata, a manifest list, a manifest of the files it adds, and anew each
    manifest it removes files from (MergingSnapshotProducer). Table metadata is never freed.
    """

    def __init__(self, sizes: Metadata) -> None:
        self._sizes = sizes
        self._manifest_of: dict[str, int] = {}
        self._manifests: dict[int, _Manifest] = {}  # those with a live file
        self._spent_bytes = 0  # manifests that only say what the current snapshot removed
        self._next_manifest = 0
        self._snapshots: list[_Snapshot] = []
        self.data_storage_bytes = 0
        self.metadata_storage_bytes = 0

    @property
    def manifests_count(self) -> int:
        """Manifests of the current snapshot."""
        return len(self._manifests)

    def create(self) -> None:
        """The first table metadata, of no snapshot."""
        self.metadata_storage_bytes = self._sizes.table_metadata_bytes

    def commit(
        self,
        at_s: float,
        added: Collection[str],
        removed: Iterable[str],
        added_bytes: int,
        removed_bytes: int,
    ) -> tuple[int, int]:
        """One snapshot; how many bytes of metadata it wrote, in how many files."""
        dropped_bytes, self._spent_bytes = self._spent_bytes, 0
        touched = Counter(self._manifest_of.pop(path) for path in removed)
        written = []
        for number, count in touched.items():
            manifest = self._manifests[number]
            dropped_bytes += self._manifest_bytes(manifest.entries_count)
            written.append(manifest.live_count)  # anew: what stays and what goes
            self._take_files(number, count)
        fresh = [number for number in touched if number in self._manifests]
        if added:
            fresh.append(self._new_manifest(added))
            written.append(len(added))
        if self.manifests_count >= MERGE_FROM_MANIFESTS:
            # What this commit has just written is deleted with it: no snapshot names it.
            fresh_bytes = sum(self._manifest_bytes(self._manifests[n].entries_count) for n in fresh)
            self.metadata_storage_bytes -= fresh_bytes
            dropped_bytes += self._manifests_bytes() - fresh_bytes
            written.append(self._merge())
        self.data_storage_bytes += added_bytes
        return self._snapshot(at_s, written, removed_bytes, dropped_bytes)

    def _take_files(self, number: int, count: int) -> None:
        """Remove files of a manifest, which is written anew; without a live one it lasts one snapshot."""
        manifest = self._manifests[number]
        manifest.entries_count = manifest.live_count
        manifest.live_count -= count
        if not manifest.live_count:
            del self._manifests[number]
            self._spent_bytes += self._manifest_bytes(manifest.entries_count)

    def rewrite(self, at_s: float) -> tuple[int, int]:
        """All manifests regrouped into one (`rewrite_manifests`); nothing where there is one already."""
        if self.manifests_count <= 1:
            return 0, 0
        old_bytes, self._spent_bytes = self._manifests_bytes() + self._spent_bytes, 0
        return self._snapshot(at_s, [self._merge()], 0, old_bytes)

    def expire(self, keep_from_s: float, retain_last: int) -> tuple[int, int]:
        """Forget snapshots before `keep_from_s`, save the last ones, and free what only they held."""
        last = max(0, len(self._snapshots) - max(1, retain_last))
        kept = next((i for i, s in enumerate(self._snapshots) if s.at_s >= keep_from_s), len(self._snapshots))
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

    def _new_manifest(self, paths: Collection[str]) -> int:
        self._next_manifest += 1
        self._manifest_of.update(dict.fromkeys(paths, self._next_manifest))
        self._manifests[self._next_manifest] = _Manifest(len(paths), len(paths))
        return self._next_manifest

    def _merge(self) -> int:
        """All live files into one manifest; how many there are."""
        self._manifests.clear()
        self._new_manifest(tuple(self._manifest_of))
        return len(self._manifest_of)

    def _snapshot(
        self, at_s: float, manifests: Collection[int], dropped_data_bytes: int, dropped_manifest_bytes: int
    ) -> tuple[int, int]:
        """A snapshot that wrote manifests of so many files each."""
        sizes = self._sizes
        list_bytes = sizes.manifest_list_bytes + sizes.manifest_list_bytes_per_manifest * self.manifests_count
        self._snapshots.append(_Snapshot(at_s, list_bytes, dropped_data_bytes, dropped_manifest_bytes))
        written_bytes = sum(map(self._manifest_bytes, manifests)) + list_bytes
        self.metadata_storage_bytes += written_bytes
        return written_bytes + self._table_metadata(), len(manifests) + 2

    def _table_metadata(self) -> int:
        """A new version of the table metadata, which lists every snapshot."""
        per_snapshot = self._sizes.table_metadata_bytes_per_snapshot
        written_bytes = self._sizes.table_metadata_bytes + per_snapshot * len(self._snapshots)
        self.metadata_storage_bytes += written_bytes
        return written_bytes

    def _manifests_bytes(self) -> int:
        return sum(self._manifest_bytes(manifest.entries_count) for manifest in self._manifests.values())

    def _manifest_bytes(self, files_count: int) -> int:
        return self._sizes.manifest_bytes + self._sizes.manifest_bytes_per_file * files_count
