"""The metadata of a simulated Iceberg table: its manifests, and the bytes that snapshots keep in storage."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from bench.engines.iceberg.model.coefficients import Metadata
from bench.results.values import MaintenanceWork
from strategies.grouping import by_key

MERGE_FROM_MANIFESTS = 100  # commit.manifest.min-count-to-merge


@dataclass(slots=True)
class _Snapshot:
    at_ms: int
    list_bytes: int
    dropped_data_bytes: int  # of files that only earlier snapshots still reference
    dropped_manifest_bytes: int
    dropped_files_count: int  # data and delete files, as the bytes


@dataclass(slots=True)
class _Manifest:
    live_count: int  # of its files
    entries_count: int  # all entries, as stored


@dataclass(frozen=True, slots=True)
class Entries:
    """What a commit adds to manifests and removes from them: the number of files of each run, by its origin.

    Of the runs that are `gone` no file is left.
    """

    added: Mapping[str, int] = field(default_factory=dict)
    removed: Mapping[str, int] = field(default_factory=dict)
    gone: Collection[str] = ()


class _ManifestGroup:
    """The manifests of one content type, data or deletes, and the manifest of each live run of files."""

    def __init__(self) -> None:
        self._manifest_of: dict[str, int] = {}
        # Manifests that were merged, and the one they were merged into.
        self._merged_into: dict[int, int] = {}
        self.manifests: dict[int, _Manifest] = {}  # those with a live file, oldest first
        self._newest = 0

    def add(self, counts: Mapping[str, int]) -> int:
        """Add a manifest with these runs; returns its number."""
        self._newest += 1
        self._manifest_of.update(dict.fromkeys(counts, self._newest))
        files_count = sum(counts.values())
        self.manifests[self._newest] = _Manifest(files_count, files_count)
        return self._newest

    def take(self, entries: Entries) -> Counter[int]:
        """Remove files; returns how many of them each manifest had."""
        taken = Counter[int]()
        for key, count in entries.removed.items():
            taken[self._number(key)] += count
        for key in entries.gone:
            del self._manifest_of[key]
        return taken

    def merge(self) -> int:
        """Put all live files into one manifest; returns their number."""
        files_count = sum(manifest.live_count for manifest in self.manifests.values())
        self._newest += 1
        self._merged_into.update(dict.fromkeys(self.manifests, self._newest))
        self.manifests.clear()
        self.manifests[self._newest] = _Manifest(files_count, files_count)
        return files_count

    def first_with(self, keys: Iterable[str], count: int) -> list[str]:
        """The files that are in the first `count` manifests with any of them."""
        by_manifest = by_key(keys, self._number)
        return [key for number in sorted(by_manifest)[:count] for key in by_manifest[number]]

    def _number(self, key: str) -> int:
        """The manifest of a run."""
        passed, number = list[int](), self._manifest_of[key]
        while number in self._merged_into:
            passed.append(number)
            number = self._merged_into[number]
        self._manifest_of[key] = number
        self._merged_into.update(dict.fromkeys(passed, number))
        return number


class SimulatedMetadata:
    """Which manifest each live file is in, what commits write, and what expiry frees.

    A commit writes the table metadata, a manifest list, one manifest for the data files it adds and one for
    the delete files, and a new copy of each manifest that it removes files from (MergingSnapshotProducer).
    Manifests of data and of deletes are merged separately. Table metadata is never freed.
    """

    def __init__(self, sizes: Metadata) -> None:
        self._sizes = sizes
        self._data, self._deletes = _ManifestGroup(), _ManifestGroup()
        self._spent_bytes = 0  # manifests that only list what the current snapshot removed
        self._snapshots: list[_Snapshot] = []
        self.data_storage_bytes = 0
        self.metadata_storage_bytes = 0

    @property
    def manifests_count(self) -> int:
        """The manifests of the current snapshot."""
        return len(self._data.manifests) + len(self._deletes.manifests)

    def create(self) -> None:
        """Write the first table metadata, which has no snapshot."""
        self.metadata_storage_bytes = self._sizes.table_metadata_bytes

    def commit(
        self,
        at_ms: int,
        data: Entries,
        deletes: Entries,
        added_bytes: int,
        replaced_bytes: int,
    ) -> tuple[int, int]:
        """Commit a snapshot; the bytes of metadata it wrote, and in how many files."""
        dropped_bytes, self._spent_bytes = self._spent_bytes, 0
        written: list[int] = []
        for group, entries in ((self._data, data), (self._deletes, deletes)):
            dropped_bytes += self._change(group, entries, written)
        self.data_storage_bytes += added_bytes
        dropped_files_count = sum(data.removed.values()) + sum(deletes.removed.values())
        return self._snapshot(at_ms, written, replaced_bytes, dropped_bytes, dropped_files_count)

    def first_deletes(self, keys: Iterable[str], manifests_count: int) -> list[str]:
        """The delete files that are in the oldest `manifests_count` manifests with any of them."""
        return self._deletes.first_with(keys, manifests_count)

    def _change(self, group: _ManifestGroup, entries: Entries, written: list[int]) -> int:
        """Update the manifests of a group for a commit; the bytes that only older snapshots hold from now on.

        For each manifest it writes, the number of its entries is appended to `written`.
        """
        dropped_bytes, taken = 0, group.take(entries)
        for number, count in taken.items():
            manifest = group.manifests[number]
            dropped_bytes += self._manifest_bytes(manifest.entries_count)
            written.append(manifest.live_count)  # rewritten, with the removed files as deleted entries
            self._take_files(group, number, count)
        fresh = [number for number in taken if number in group.manifests]
        if entries.added:
            fresh.append(group.add(entries.added))
            written.append(sum(entries.added.values()))
        if len(group.manifests) >= MERGE_FROM_MANIFESTS:
            # The manifests that this commit has just written are deleted again: no snapshot references them.
            fresh_bytes = sum(self._manifest_bytes(group.manifests[n].entries_count) for n in fresh)
            self.metadata_storage_bytes -= fresh_bytes
            dropped_bytes += self._manifests_bytes(group) - fresh_bytes
            written.append(group.merge())
        return dropped_bytes

    def _take_files(self, group: _ManifestGroup, number: int, count: int) -> None:
        """Remove files from a manifest, which is rewritten; an empty one lasts for one more snapshot."""
        manifest = group.manifests[number]
        manifest.entries_count = manifest.live_count
        manifest.live_count -= count
        if not manifest.live_count:
            del group.manifests[number]
            self._spent_bytes += self._manifest_bytes(manifest.entries_count)

    def rewrite(self, at_ms: int) -> tuple[int, int]:
        """Merge the manifests of each content type into one (`rewrite_manifests`) if there are several."""
        several = [group for group in (self._data, self._deletes) if len(group.manifests) > 1]
        if not several:
            return 0, 0
        old_bytes, self._spent_bytes = sum(map(self._manifests_bytes, several)) + self._spent_bytes, 0
        return self._snapshot(at_ms, [group.merge() for group in several], 0, old_bytes)

    def expire(self, keep_from_ms: int, retain_last: int) -> tuple[int, int, MaintenanceWork]:
        """Expire snapshots before `keep_from_ms`, except the last ones, and free what only they held.

        Returns the bytes of metadata it wrote, in how many files, and what it removed.
        """
        most = max(0, len(self._snapshots) - max(1, retain_last))
        old_count = sum(snapshot.at_ms < keep_from_ms for snapshot in self._snapshots)
        expired = self._snapshots[: min(old_count, most)]
        if not expired:
            return 0, 0, MaintenanceWork(0, 0)
        del self._snapshots[: len(expired)]
        # What snapshot i dropped is held only by those before it; that includes the first one that is kept.
        gone = [*expired, self._snapshots[0]]
        self.data_storage_bytes -= sum(snapshot.dropped_data_bytes for snapshot in gone)
        self.metadata_storage_bytes -= sum(snapshot.dropped_manifest_bytes for snapshot in gone)
        self.metadata_storage_bytes -= sum(snapshot.list_bytes for snapshot in expired)
        first = self._snapshots[0]
        work = MaintenanceWork(sum(snapshot.dropped_files_count for snapshot in gone), len(expired))
        first.dropped_data_bytes = first.dropped_manifest_bytes = first.dropped_files_count = 0
        return self._table_metadata(), 1, work

    def _snapshot(
        self, at_ms: int, manifests: Collection[int], dropped_data_bytes: int, dropped_manifest_bytes: int,
        dropped_files_count: int = 0,
    ) -> tuple[int, int]:  # fmt: skip
        """Add a snapshot that wrote manifests with these numbers of entries."""
        sizes = self._sizes
        list_bytes = sizes.manifest_list_bytes + sizes.manifest_list_bytes_per_manifest * self.manifests_count
        self._snapshots.append(
            _Snapshot(at_ms, list_bytes, dropped_data_bytes, dropped_manifest_bytes, dropped_files_count)
        )
        written_bytes = sum(map(self._manifest_bytes, manifests)) + list_bytes
        self.metadata_storage_bytes += written_bytes
        return written_bytes + self._table_metadata(), len(manifests) + 2

    def _table_metadata(self) -> int:
        """A new version of the table metadata, which lists every snapshot."""
        per_snapshot = self._sizes.table_metadata_bytes_per_snapshot
        written_bytes = self._sizes.table_metadata_bytes + per_snapshot * len(self._snapshots)
        self.metadata_storage_bytes += written_bytes
        return written_bytes

    def _manifests_bytes(self, group: _ManifestGroup) -> int:
        return sum(self._manifest_bytes(manifest.entries_count) for manifest in group.manifests.values())

    def _manifest_bytes(self, files_count: int) -> int:
        return self._sizes.manifest_bytes + self._sizes.manifest_bytes_per_file * files_count
