"""The files that commits of a simulated Hudi table write."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from bench.engines.contract import TableSpec
from bench.engines.hudi.model.files import FileMaker
from bench.engines.hudi.model.groups import Groups
from bench.engines.hudi.model.writers import (
    PartitionChanges,
    RowBytes,
    Share,
    by_bucket,
    by_place,
    packed,
)
from bench.engines.hudi.packing import Packing
from bench.engines.hudi.table_keys import is_merge_on_read, keys_of, path_of
from bench.engines.simulated.key_ranges import KeyRange, ranges_of_rows
from bench.results.values import Change
from strategies.grouping import by_key
from strategies.hudi.files import BaseFile, FileGroupId, LogFile
from workloads.commit import CommitSpec


@dataclass(slots=True)
class Written:
    """The files that a commit adds and removes, and how many it reads to find its keys."""

    added: list[BaseFile | LogFile] = field(default_factory=list)
    removed: list[BaseFile | LogFile] = field(default_factory=list)
    looked_up_count: int = 0

    @property
    def partitions(self) -> frozenset[str]:
        return frozenset(file.partition for file in self.added)


class Writer:
    def __init__(
        self, spec: TableSpec, groups: Groups, maker: FileMaker, packing: Packing, row_bytes: RowBytes
    ) -> None:
        self._groups, self._maker = groups, maker
        self._is_merge_on_read = is_merge_on_read(spec)
        keys = keys_of(spec)
        self._buckets_count = keys.index_buckets if keys.index == "bucket" else None
        self._packing, self._row_bytes = packing, row_bytes

    def commit(self, spec: CommitSpec, at_ms: int) -> Written:
        lost, row_bytes = self._groups.commit(spec), self._row_bytes.estimate
        lost_in = by_key(lost, lambda group: group.partition)
        written = Written(looked_up_count=self.looked_up_count(spec))
        write = self._merge_on_read if self._is_merge_on_read else self._copy_on_write
        for changes in _changes(spec):
            own = {group: lost[group] for group in lost_in.get(changes.partition, ())}
            for share in self._shares(spec, changes, own, row_bytes):
                group = share.group or self._maker.group(changes.partition)
                rows = share.inserted + share.updated
                write(share, group, _keys_of(spec, rows) if rows else None, at_ms, written)
        self._row_bytes.note(written.added)
        return written

    def looked_up_count(self, spec: CommitSpec) -> int:
        """An upsert without buckets looks up its keys in all base files of their partitions."""
        if self._buckets_count is not None or not is_upsert(spec):
            return 0
        return sum(self._groups.bases_in(changes.partition).files_count for changes in _changes(spec))

    def changed_groups(self, spec: CommitSpec) -> frozenset[FileGroupId]:
        """The file groups of which a commit would change rows; with a bucket index, all that it writes to."""
        if self._buckets_count is None:
            return self._groups.losing(spec)
        return frozenset(
            group
            for changes in _changes(spec)
            for number, *_ in by_bucket(changes, self._buckets_count, spec.index)
            if (group := _bucket(changes.partition, number)) in self._groups
        )

    def packed_groups(self, spec: CommitSpec) -> frozenset[FileGroupId]:
        """The file groups with small base files that would get new rows of a commit."""
        if self._buckets_count is not None:
            return frozenset()
        found = set[FileGroupId]()
        for changes in _changes(spec):
            rows = min(changes.live, spec.inserts) if is_upsert(spec) else changes.live
            small = self._groups.small_in(changes.partition)
            into = packed(
                rows, small, self._packing, self._row_bytes.estimate, is_merge_on_read=self._is_merge_on_read
            )
            found.update(group for group, _ in into if group is not None)
        return frozenset(found)

    def expected_change(self, spec: CommitSpec, groups: Collection[FileGroupId]) -> Change:
        """About what a commit would write that changes these groups."""
        new_count = len(spec.partitions) if spec.inserts and self._buckets_count is None else 0
        if self._is_merge_on_read:
            return Change(new_count, delete_files_added_count=len(groups), added_bytes=spec.expected_bytes)
        gone = [file for group in groups for file in self._groups[group].files]
        replaced_bytes = sum(file.size_bytes for file in gone)
        return Change(
            new_count + len(groups), len(gone), added_bytes=spec.expected_bytes + replaced_bytes,
            replaced_bytes=replaced_bytes, replaced_rows=sum(file.rows for file in gone),
        )  # fmt: skip

    def _shares(
        self, spec: CommitSpec, changes: PartitionChanges, lost: Mapping[FileGroupId, int], row_bytes: int
    ) -> Iterable[Share]:
        if self._buckets_count is not None:
            hits = by_bucket(changes, self._buckets_count, spec.index)
            return (self._to_bucket(changes.partition, *hit) for hit in hits)
        small = self._groups.small_in(changes.partition)
        return by_place(
            changes, lost, small, self._packing, row_bytes,
            groups_count=self._groups.bases_in(changes.partition).files_count,
            is_merge_on_read=self._is_merge_on_read,
        )  # fmt: skip

    def _to_bucket(self, partition: str, number: int, live: int, deleted: int) -> Share:
        """The first share of a bucket goes to a base file."""
        group = _bucket(partition, number)
        return Share(group, 0, live, deleted) if group in self._groups else Share(group, live)

    def _merge_on_read(
        self, share: Share, group: FileGroupId, keys: KeyRange | None, at_ms: int, written: Written
    ) -> None:
        """Changes go to a log file, unless new rows make Hudi rewrite the base file, changes included."""
        if share.inserted:
            self._into_base(group, share.inserted + share.updated, keys, at_ms, written)
        elif share.updated or share.deleted:
            log = self._maker.log(group, share.updated, share.deleted)
            self._groups.add_log(log, share.updated, keys, at_ms)
            written.added.append(log)

    def _copy_on_write(
        self, share: Share, group: FileGroupId, keys: KeyRange | None, at_ms: int, written: Written
    ) -> None:
        if group in self._groups or share.inserted:
            self._into_base(group, share.inserted + share.updated, keys, at_ms, written)

    def _into_base(
        self, group: FileGroupId, rows: int, keys: KeyRange | None, at_ms: int, written: Written
    ) -> None:
        """Write a base file with these rows and the live rows of the group."""
        gone = self._groups[group].files if group in self._groups else ()
        base = self._maker.base(group, rows + self._groups.kept(gone))
        if gone:
            self._groups.replace_base(base, gone, at_ms, rows, keys)
        else:
            self._groups.add_base(base, keys, at_ms)
        written.added.append(base)
        written.removed += gone


def _bucket(partition: str, number: int) -> FileGroupId:
    return FileGroupId(partition, f"bucket-{number:05}")


def is_upsert(spec: CommitSpec) -> bool:
    """Whether a commit may change rows of the table."""
    return spec.keys is not None or bool(spec.updates or spec.deletes)


def _changes(spec: CommitSpec) -> Iterator[PartitionChanges]:
    has_new_keys = spec.keys is None or spec.keys.new_count > 0
    for shape in spec.partitions:
        keys = max(shape.deleted_keys, shape.live_rows) if is_upsert(spec) else shape.rows
        yield PartitionChanges(path_of(shape.partition), keys, shape.live_rows, has_new_keys)


def _keys_of(spec: CommitSpec, rows: int) -> KeyRange | None:
    """The range of the keys of `rows` rows of a commit, which are distributed by their hash."""
    if is_upsert(spec):
        return ranges_of_rows(spec, rows, 1)[0]
    return spec.first_row + 1, spec.first_row + spec.rows
