"""The commit of a rewrite by PyIceberg, with the guarantees of `RewriteFiles` of Iceberg 1.11.0.

PyIceberg 0.12 has no replace: its own commits give added files a new sequence number, so that deletes
committed since the plan would miss them, take concurrent appends for conflicts, refuse the operation REPLACE
and cannot write manifests of delete files. So this module writes the manifests and the snapshot, and leaves
files of metadata and the catalog to PyIceberg.
"""

import itertools
import uuid
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import cast

from pyiceberg.avro.codecs import AvroCompressionCodec
from pyiceberg.exceptions import CommitFailedException, CommitStateUnknownException
from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
    ManifestWriterV2,
    write_manifest_list,
)
from pyiceberg.schema import Schema
from pyiceberg.table import Table, TableProperties
from pyiceberg.table.refs import MAIN_BRANCH, SnapshotRefType
from pyiceberg.table.snapshots import (
    Operation,
    Snapshot,
    SnapshotSummaryCollector,
    Summary,
    update_snapshot_summaries,
)
from pyiceberg.table.update import (
    AddSnapshotUpdate,
    AssertRefSnapshotId,
    AssertTableUUID,
    SetSnapshotRefUpdate,
)
from pyiceberg.typedef import TableVersion
from pyiceberg.types import IntegerType, ListType, StructType

from bench.engines.contract import TAG_PROPERTY, Tag
from bench.engines.iceberg.single_node.live_entries import (
    EntryReader,
    LiveEntries,
    content_of,
    is_delete,
    scope_of,
    sequence_number,
)
from bench.engines.iceberg.single_node.rows import POSITION_COLUMNS
from bench.errors import first_error
from strategies.grouping import by_key

_RETRIES = 4  # commit.retry.num-retries of Iceberg


@dataclass(frozen=True, slots=True)
class Replacement:
    """What a rewrite removes, by location, and adds; `planned` is its snapshot then, `table` as last loaded.

    `converted` are data files that stay, and whose deletes are in new position delete files.
    """

    table: Table
    planned: Snapshot
    removed: frozenset[str]
    added: tuple[DataFile, ...]
    converted: frozenset[str] = frozenset()


def commit_replacement(replacement: Replacement, entries: EntryReader, tag: Tag) -> None:
    """Replace the files in one commit; nothing is committed if there is nothing to replace.

    Raises ValueError for a conflict: a removed or converted file is no longer live, a position delete was
    committed for a replaced data file since the plan, or another commit came first at every try. Appends and
    equality deletes are no conflict: new data files keep the sequence number of the planned snapshot, so that
    deletes committed since then apply to them. After a failure the new files are deleted, unless it is
    unknown whether the commit succeeded.
    """
    if not (replacement.removed or replacement.added):
        return
    table = replacement.table
    try:
        for attempt in itertools.count():
            table.refresh()
            try:
                _commit_once(table, replacement, entries, tag)
                return
            except CommitFailedException as error:  # another commit came first
                if attempt == _RETRIES:
                    raise ValueError(
                        f"another snapshot was committed meanwhile at each of {attempt + 1} tries: {error}"
                    ) from error
    except CommitStateUnknownException as error:
        raise ValueError(f"whether the rewrite was committed is unknown: {error}") from error
    except Exception as error:
        delete_files(table, (file.file_path for file in replacement.added))
        raise ValueError(first_error(error)) from error


def delete_files(table: Table, locations: Iterable[str]) -> None:
    """Delete files that no snapshot references."""
    for location in locations:
        with suppress(OSError):
            table.io.delete(location)


def _commit_once(table: Table, replacement: Replacement, entries: EntryReader, tag: Tag) -> None:
    live = entries.read(table)
    head = live.snapshot
    removed = _removed(live, replacement)
    removed += _outdated(live, removed, replacement.planned if replacement.added else head)
    gone = frozenset(entry.data_file.file_path for entry in removed)
    attempt = _Attempt(table, table.metadata.new_snapshot_id())
    try:
        manifests = [
            *attempt.added(replacement.added, replacement.planned.sequence_number),
            *attempt.written(removed, ManifestEntryStatus.DELETED),
            *(kept for part in live.by_manifest for kept in attempt.kept(*part, gone)),
        ]
        summary = _summary(table, head, replacement.added, removed, {TAG_PROPERTY: str(tag)})
        snapshot = attempt.snapshot(manifests, head, summary)
        _publish(table, snapshot, head)
    except CommitStateUnknownException:
        raise
    except Exception:
        delete_files(table, attempt.locations)
        raise


def _publish(table: Table, snapshot: Snapshot, head: Snapshot) -> None:
    """Commit a snapshot on `head`.

    Raises CommitStateUnknownException if the catalog fails, and cannot say afterwards whether it has it.
    """
    required = (
        AssertTableUUID(uuid=table.metadata.table_uuid),
        AssertRefSnapshotId.model_validate({"ref": MAIN_BRANCH, "snapshot-id": head.snapshot_id}),
    )
    try:
        table.catalog.commit_table(
            table, required, (AddSnapshotUpdate(snapshot=snapshot), _head_is(snapshot))
        )
    except (CommitFailedException, CommitStateUnknownException):
        raise
    except Exception as error:
        try:
            is_committed = table.refresh().snapshot_by_id(snapshot.snapshot_id) is not None
        except Exception:
            raise CommitStateUnknownException(str(error)) from error
        if not is_committed:
            raise


@dataclass(frozen=True, slots=True)
class _Attempt:
    """Writes the metadata of one snapshot; `locations` are those of its files."""

    table: Table
    snapshot_id: int
    id: uuid.UUID = field(default_factory=uuid.uuid4)
    locations: list[str] = field(default_factory=list)

    def added(self, files: Iterable[DataFile], data_number: int | None) -> list[ManifestFile]:
        """New data files have a sequence number; a delete file gets that of this snapshot."""
        entries = [
            ManifestEntry.from_args(
                sequence_number=None if is_delete(file) else data_number,
                file_sequence_number=None,
                data_file=file,
            )
            for file in files
        ]
        return self.written(entries, ManifestEntryStatus.ADDED)

    def kept(
        self, manifest: ManifestFile, entries: Mapping[str, ManifestEntry], removed: frozenset[str]
    ) -> list[ManifestFile]:
        """The manifest as it is unless it has a removed file."""
        staying = [entry for path, entry in entries.items() if path not in removed]
        if len(staying) == len(entries):
            return [manifest] if entries else []
        return self.written(staying, ManifestEntryStatus.EXISTING)

    def written(self, entries: Iterable[ManifestEntry], status: ManifestEntryStatus) -> list[ManifestFile]:
        """A manifest for each partition spec and content. What stays keeps the snapshot that added it."""
        by_manifest = by_key(entries, lambda entry: (entry.data_file.spec_id, is_delete(entry.data_file)))
        made = []
        for (spec_id, of_deletes), same in sorted(by_manifest.items(), key=lambda item: item[0]):
            kind = _DeleteManifestWriter if of_deletes else ManifestWriterV2
            output = self.table.io.new_output(self._location(f"{self.id}-m{len(self.locations)}.avro"))
            spec = self.table.specs()[spec_id]
            with kind(spec, self.table.schema(), output, self.snapshot_id, self._codec) as writer:
                for entry in same:
                    writer.add_entry(
                        ManifestEntry.from_args(
                            status=status,
                            snapshot_id=entry.snapshot_id
                            if status is ManifestEntryStatus.EXISTING
                            else self.snapshot_id,
                            sequence_number=entry.sequence_number,
                            file_sequence_number=entry.file_sequence_number,
                            data_file=entry.data_file,
                        )
                    )
            made.append(writer.to_manifest_file())
        return made

    def snapshot(self, manifests: Sequence[ManifestFile], head: Snapshot, summary: Summary) -> Snapshot:
        location = self._location(f"snap-{self.snapshot_id}-0-{self.id}.avro")
        number = self.table.metadata.next_sequence_number()
        with write_manifest_list(
            format_version=self.table.metadata.format_version,
            output_file=self.table.io.new_output(location),
            snapshot_id=self.snapshot_id,
            parent_snapshot_id=head.snapshot_id,
            sequence_number=number,
            avro_compression=self._codec,
        ) as writer:
            writer.add_manifests(list(manifests))
        return Snapshot.model_validate(
            {
                "snapshot-id": self.snapshot_id,
                "parent-snapshot-id": head.snapshot_id,
                "sequence-number": number,
                "manifest-list": location,
                "summary": summary,
                "schema-id": self.table.metadata.current_schema_id,
            }
        )

    def _location(self, name: str) -> str:
        location = self.table.location_provider().new_metadata_location(name)
        self.locations.append(location)
        return location

    @property
    def _codec(self) -> AvroCompressionCodec:
        name = self.table.properties.get(
            TableProperties.WRITE_AVRO_COMPRESSION, TableProperties.WRITE_AVRO_COMPRESSION_DEFAULT
        )
        return cast(AvroCompressionCodec, name)  # PyIceberg refuses other names


def _head_is(snapshot: Snapshot) -> SetSnapshotRefUpdate:
    return SetSnapshotRefUpdate.model_validate(
        {"ref-name": MAIN_BRANCH, "type": SnapshotRefType.BRANCH, "snapshot-id": snapshot.snapshot_id}
    )


class _DeleteManifestWriter(ManifestWriterV2):
    def content(self) -> ManifestContent:
        return ManifestContent.DELETES

    @property
    def _meta(self) -> dict[str, str]:
        return {**super()._meta, "content": "deletes"}

    def _with_partition(self, format_version: TableVersion) -> Schema:
        """PyIceberg 0.12 writes `equality_ids` as longs, with which Java cannot read the manifest."""
        entry = super()._with_partition(format_version)
        data_file = entry.find_field("data_file")
        ids = ListType(element_id=136, element_type=IntegerType(), element_required=True)
        fields = (
            field.model_copy(update={"field_type": ids}) if field.name == "equality_ids" else field
            for field in cast(StructType, data_file.field_type).fields
        )
        fixed = data_file.model_copy(update={"field_type": StructType(*fields)})
        return Schema(*(fixed if field.name == "data_file" else field for field in entry.fields))


def _summary(
    table: Table,
    head: Snapshot,
    added: Iterable[DataFile],
    removed: Iterable[ManifestEntry],
    properties: Mapping[str, str],
) -> Summary:
    """PyIceberg computes the totals of an overwrite, which are the same, and not those of a replace."""
    collector, schema, specs = SnapshotSummaryCollector(), table.schema(), table.specs()
    for file in added:
        collector.add_file(file, schema, specs[file.spec_id])
    for entry in removed:
        collector.remove_file(entry.data_file, schema, specs[entry.data_file.spec_id])
    totals = update_snapshot_summaries(
        Summary(Operation.OVERWRITE, **collector.build(), **properties), head.summary
    )
    return Summary(Operation.REPLACE, **totals.additional_properties)


def _removed(live: LiveEntries, replacement: Replacement) -> list[ManifestEntry]:
    """The live entries of all removed files. Raises ValueError for a conflict.

    Source: MergingSnapshotProducer.validateNoNewDeletesForDataFiles of 1.11.0 without equality deletes, as
    BaseRewriteFiles calls it when the new files keep the planned sequence number.
    """
    known = {**live.data, **live.deletes}
    missing = sorted((replacement.removed | replacement.converted) - known.keys())
    if missing:
        raise ValueError(f"{missing[0]} is no longer live")
    entries = [known[path] for path in sorted(replacement.removed)]
    replaced = [entry.data_file for entry in entries if not is_delete(entry.data_file)]
    planned_number = replacement.planned.sequence_number or 0
    newer = [
        entry.data_file
        for entry in live.deletes.values()
        if content_of(entry.data_file) is DataFileContent.POSITION_DELETES
        and sequence_number(entry) > planned_number
    ]
    for delete in newer:
        if any(_may_hold(delete, file) for file in replaced):
            raise ValueError(f"a newer position delete was committed meanwhile: {delete.file_path}")
    return entries


def _outdated(live: LiveEntries, removed: Iterable[ManifestEntry], newest: Snapshot) -> list[ManifestEntry]:
    """The delete files that are older than every data file that stays or comes, of which `newest` is one.

    They apply to none. Source: MergingSnapshotProducer.apply of 1.11.0, which leaves the files that come out
    of account, and so drops deletes that were committed since the plan and apply to them.
    """
    gone = {entry.data_file.file_path for entry in removed}
    stay = (sequence_number(entry) for path, entry in live.data.items() if path not in gone)
    oldest = min([newest.sequence_number or 0, *stay])
    return [
        entry for path, entry in live.deletes.items() if path not in gone and sequence_number(entry) < oldest
    ]


def _may_hold(delete: DataFile, file: DataFile) -> bool:
    """Whether a position delete file may hold positions of a data file, by its partition and bounds."""
    path = file.file_path.encode()
    field_id = POSITION_COLUMNS[0].field_id
    lowest = (delete.lower_bounds or {}).get(field_id)
    highest = (delete.upper_bounds or {}).get(field_id)
    is_beyond = (lowest is not None and path < lowest) or (highest is not None and path > highest)
    return scope_of(delete) == scope_of(file) and not is_beyond
