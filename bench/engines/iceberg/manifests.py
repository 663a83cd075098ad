"""The live files that an Iceberg manifest lists, with the bounds of their keys, as a table state holds them.

PyIceberg reads manifests with the schema of format version 2, which lacks the fields of version 3 for delete
files: the data file that a delete file applies to, and the size of a deletion vector. Here its Avro reader
uses the schema of version 3; fields that an older manifest lacks are None.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pyiceberg.avro.file import AvroFile
from pyiceberg.conversions import from_bytes
from pyiceberg.manifest import (
    DATA_FILE_TYPE,
    MANIFEST_ENTRY_SCHEMAS,
    DataFileContent,
    FileFormat,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
)
from pyiceberg.manifest import DataFile as IcebergFile
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import VoidTransform
from pyiceberg.types import IcebergType, NestedField, PrimitiveType, StructType, UUIDType

from bench.engines.iceberg.avro_files import WholeAvroFile
from strategies.iceberg.files import DeleteKind, IcebergDataFile, IcebergDeleteFile, KeyBounds
from strategies.partitions import path_of

LiveFile = IcebergDataFile | IcebergDeleteFile

# Field ids and the version are from the table spec, "Manifests"; positions follow the schema that is read.
_SCHEMA_VERSION = 3
_POSITIONS = {field.field_id: index for index, field in enumerate(DATA_FILE_TYPE[_SCHEMA_VERSION].fields)}
_PARTITION = 102
_REFERENCED_DATA_FILE = 143
_CONTENT_SIZE = 145
_DELETE_FILE_PATH = 2147483546  # reserved id of a position delete's column file_path


@dataclass(frozen=True, slots=True)
class ManifestFiles:
    """The files of a manifest that are not deleted, and the column ids that its equality deletes compare."""

    files: tuple[LiveFile, ...]
    equality_ids: frozenset[tuple[int, ...]]


def files_of(
    manifest: ManifestFile,
    table: Table,
    key: NestedField | None = None,
    snapshot_times_ms: Mapping[int, int] = MappingProxyType({}),
) -> ManifestFiles:
    """Read one manifest. With a `key` column, the files have its bounds.

    Data files get the time of the snapshot that added them, if `snapshot_times_ms` has it by id.
    """
    spec = table.specs()[manifest.partition_spec_id]
    entries, types = _read(manifest, table)
    live = [entry for entry in entries if entry.status is not ManifestEntryStatus.DELETED]
    return ManifestFiles(
        tuple(_live_file(entry, manifest, spec, types, key, snapshot_times_ms) for entry in live),
        frozenset(
            tuple(sorted(entry.data_file.equality_ids or ()))
            for entry in live
            if _content(entry.data_file) is DataFileContent.EQUALITY_DELETES
        ),
    )


@dataclass(frozen=True, slots=True)
class RecordedEntry:
    """An entry of a manifest: a file, and the sequence number of the commit that added it.

    `deleted_by` is the snapshot that removed it; None for a file that is live in the manifest.
    """

    file: LiveFile
    added_number: int
    deleted_by: int | None
    equality_ids: tuple[int, ...]


def entries_of(
    manifest: ManifestFile, table: Table, key: NestedField | None = None
) -> Iterator[RecordedEntry]:
    """All entries of one manifest of format version 2 or later, removed files included."""
    spec = table.specs()[manifest.partition_spec_id]
    entries, types = _read(manifest, table)
    for entry in entries:
        own = entry.file_sequence_number
        is_deleted = entry.status is ManifestEntryStatus.DELETED
        by = manifest.added_snapshot_id if entry.snapshot_id is None else entry.snapshot_id
        yield RecordedEntry(
            _live_file(entry, manifest, spec, types, key, {}),
            manifest.sequence_number if own is None else own,
            by if is_deleted else None,
            tuple(sorted(entry.data_file.equality_ids or ())),
        )


def _read(manifest: ManifestFile, table: Table) -> tuple[list[ManifestEntry], tuple[IcebergType, ...]]:
    """The entries of a manifest, and the types of its partition values.

    Raises ValueError if there are fewer than the manifest list states: PyIceberg takes a file that is cut off
    after one of its blocks for a whole one.
    """
    with AvroFile[ManifestEntry](
        WholeAvroFile(table.io.new_input(manifest.manifest_path)),
        MANIFEST_ENTRY_SCHEMAS[_SCHEMA_VERSION],
        read_types={-1: ManifestEntry, 2: IcebergFile},
        read_enums={0: ManifestEntryStatus, 101: FileFormat, 134: DataFileContent},
    ) as entries:
        types = _partition_types(entries.schema.find_field(_PARTITION).field_type)
        read = list(entries)
    counts = (manifest.added_files_count, manifest.existing_files_count, manifest.deleted_files_count)
    stated = [count for count in counts if count is not None]
    if len(stated) == len(counts) and len(read) < sum(stated):
        raise ValueError(f"{len(read)} entries, but the manifest list states {sum(stated)}")
    return read, types


def _partition_types(partition: IcebergType) -> tuple[IcebergType, ...]:
    return tuple(field.field_type for field in partition.fields) if isinstance(partition, StructType) else ()


def _live_file(
    entry: ManifestEntry,
    manifest: ManifestFile,
    spec: PartitionSpec,
    types: tuple[IcebergType, ...],
    key: NestedField | None,
    snapshot_times_ms: Mapping[int, int],
) -> LiveFile:
    """An entry without a sequence number inherits that of its commit, which the manifest list has."""
    file = entry.data_file
    explicit = entry.sequence_number
    sequence_number = manifest.sequence_number if explicit is None else explicit
    partition = partition_text(spec, file.partition, types)
    bounds = key_bounds(file, key) if key else None
    added_by = manifest.added_snapshot_id if entry.snapshot_id is None else entry.snapshot_id
    added_at_ms = None if added_by is None else snapshot_times_ms.get(added_by)
    if _content(file) is DataFileContent.DATA:
        return IcebergDataFile(
            file.file_path, file.file_size_in_bytes, file.record_count, partition, sequence_number,
            spec.spec_id, tuple(file.split_offsets or ()), bounds, added_at_ms=added_at_ms,
        )  # fmt: skip
    return IcebergDeleteFile(
        file.file_path, _content_bytes(file), file.record_count, partition, sequence_number,
        spec.spec_id, _referenced_data_file(file), bounds, kind=_delete_kind(file), added_at_ms=added_at_ms,
    )  # fmt: skip


def _content(file: IcebergFile) -> DataFileContent:
    """Manifests of format version 1 lack the field, and PyIceberg's default is a bare 0."""
    return DataFileContent(file.content)


def _delete_kind(file: IcebergFile) -> DeleteKind:
    if _content(file) is DataFileContent.EQUALITY_DELETES:
        return DeleteKind.EQUALITY
    return DeleteKind.DELETION_VECTOR if file.file_format == FileFormat.PUFFIN else DeleteKind.POSITION


def _content_bytes(file: IcebergFile) -> int:
    """A deletion vector is one blob of a Puffin file (ScanTaskUtil.contentSizeInBytes)."""
    blob_bytes = file[_POSITIONS[_CONTENT_SIZE]]
    return file.file_size_in_bytes if blob_bytes is None else int(blob_bytes)


def _referenced_data_file(file: IcebergFile) -> str | None:
    """The only data file that a delete file applies to, as named or by bounds (ContentFileUtil)."""
    if _content(file) is DataFileContent.EQUALITY_DELETES:
        return None
    named = file[_POSITIONS[_REFERENCED_DATA_FILE]]
    if named is not None:
        return str(named)
    lowest = (file.lower_bounds or {}).get(_DELETE_FILE_PATH)
    highest = (file.upper_bounds or {}).get(_DELETE_FILE_PATH)
    return lowest.decode() if lowest is not None and lowest == highest else None


def partition_text(spec: PartitionSpec, values: Any, types: tuple[IcebergType, ...]) -> str:
    """A partition as a path of name=value, with Iceberg's texts for dates, times and buckets.

    A field that was dropped from the spec, which is always null, is left out.
    """
    return path_of(
        (field.name, _value_text(field.transform, type_, values[index]))
        for index, (field, type_) in enumerate(zip(spec.fields, types, strict=True))
        if not isinstance(field.transform, VoidTransform)
    )


def _value_text(transform: Any, type_: IcebergType, value: object) -> str | None:
    if value is None:
        return None
    try:
        return str(transform.to_human_string(type_, value))
    except OverflowError:  # a date beyond Python's year 9999
        return str(value)


def key_column(equality_ids: Collection[tuple[int, ...]], schema: Schema) -> NestedField | None:
    """The one column that all equality deletes compare; None if they compare several, or one without bounds.

    `equality_ids` holds the field ids of each delete file. UUIDs have bounds, but Iceberg 1.11.0 compares
    them by signed halves, which is not the order they were written in: a file may contain keys outside them.
    """
    compared = {field_id for ids in equality_ids for field_id in ids}
    if len(compared) != 1:
        return None
    try:
        field = schema.find_field(compared.pop())
    except ValueError:  # the column was dropped
        return None
    has_bounds = isinstance(field.field_type, PrimitiveType) and not isinstance(field.field_type, UUIDType)
    return field if has_bounds else None


def key_bounds(file: IcebergFile, key: NestedField) -> KeyBounds:
    """The key bounds of a data or delete file. What its manifest leaves open counts as possible.

    A required column has no nulls, whatever its counts (DeleteFileIndex at 1.11.0: containsNull, allNull).
    """
    null_count = (file.null_value_counts or {}).get(key.field_id)
    value_count = (file.value_counts or {}).get(key.field_id)  # nulls included
    lower, upper = _bound(file.lower_bounds, key), _bound(file.upper_bounds, key)
    is_known = lower is not None and upper is not None and lower <= upper  # NaN is neither
    return KeyBounds(
        lower if is_known else None,
        upper if is_known else None,
        nulls=not key.required and null_count != 0,
        values=key.required or null_count is None or null_count != value_count,
    )


def _bound(bounds: dict[int, bytes] | None, key: NestedField) -> Any:
    bound = (bounds or {}).get(key.field_id)
    if bound is None or not isinstance(key.field_type, PrimitiveType):
        return None
    return from_bytes(key.field_type, bound)
