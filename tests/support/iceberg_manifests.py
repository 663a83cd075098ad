"""Manifests of format version 3 made by hand."""

from pyiceberg.avro.file import AvroOutputFile
from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestEntry,
    ManifestEntryStatus,
    data_file_with_partition,
    manifest_entry_schema_with_data_file,
)
from pyiceberg.typedef import Record
from pyiceberg.types import NestedField, StringType, StructType

_DEFAULTS = {
    "content": DataFileContent.DATA, "file_format": FileFormat.PARQUET, "partition": Record("Oslo"),
    "record_count": 10, "file_size_in_bytes": 1000,
}  # fmt: skip


def entry(path, status=ManifestEntryStatus.ADDED, sequence_number=None, **file):
    """An entry of a file in the partition city=Oslo unless `file` says otherwise."""
    data_file = DataFile.from_args(_table_format_version=3, file_path=path, **{**_DEFAULTS, **file})
    return ManifestEntry.from_args(
        _table_format_version=3, status=status, snapshot_id=1, sequence_number=sequence_number,
        file_sequence_number=sequence_number, data_file=data_file,
    )  # fmt: skip


def write_manifest(io, path, *entries):
    """A manifest of a table partitioned by city."""
    partition = StructType(NestedField(1000, "city", StringType()))
    schema = manifest_entry_schema_with_data_file(3, data_file_with_partition(partition, 3))
    with AvroOutputFile(io.new_output(path), schema, "manifest_entry") as writer:
        writer.write_block(list(entries))
