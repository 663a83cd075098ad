import random
from datetime import date, datetime, timedelta
from decimal import Decimal
from types import MappingProxyType, SimpleNamespace
from urllib.parse import unquote
from uuid import UUID

import pytest
from iceberg_manifests import entry, write_manifest
from iceberg_tables import BY_CITY, NOT_PARTITIONED, make_table
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import DataFileContent, FileFormat, ManifestEntryStatus
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.transforms import (
    BucketTransform,
    DayTransform,
    HourTransform,
    IdentityTransform,
    MonthTransform,
    TruncateTransform,
    VoidTransform,
    YearTransform,
)
from pyiceberg.typedef import Record
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    IntegerType,
    NestedField,
    StringType,
    TimestampType,
    TimestamptzType,
    UUIDType,
)

from bench.engines.iceberg.manifests import files_of, partition_text
from strategies.iceberg.files import DeleteKind, KeyBounds

FILE_PATH_COLUMN = 2147483546  # reserved id of file_path in position delete files (Iceberg spec, appendix)


@pytest.fixture
def read(tmp_path):
    """Writes entries into a manifest of format version 3, committed as number 7, and reads it."""

    def run(*entries, key=None, times_ms=MappingProxyType({}), listed=None):
        io, path = PyArrowFileIO(), f"file://{tmp_path / 'manifest.avro'}"
        write_manifest(io, path, *entries)
        manifest = SimpleNamespace(
            manifest_path=path, partition_spec_id=0, sequence_number=7, added_snapshot_id=5,
            added_files_count=len(entries) if listed is None else listed,
            existing_files_count=0, deleted_files_count=0,
        )  # fmt: skip
        return files_of(manifest, SimpleNamespace(io=io, specs=lambda: {0: BY_CITY}), key, times_ms).files

    return run


def deletes(path="d", **file):
    return entry(path, content=DataFileContent.POSITION_DELETES, **file)


def bounds(lowest, highest):
    return {
        "lower_bounds": {FILE_PATH_COLUMN: lowest.encode()},
        "upper_bounds": {FILE_PATH_COLUMN: highest.encode()},
    }


def test_a_data_file_is_read_with_its_split_offsets(read):
    (file,) = read(entry("a", split_offsets=[4, 500]))
    assert (file.path, file.size_bytes, file.rows, file.partition) == ("a", 1000, 10, "city=Oslo")
    assert (file.split_offsets, file.spec_id) == ((4, 500), 0)
    (file,) = read(entry("a"))
    assert file.split_offsets == ()


@pytest.mark.parametrize("content", [DataFileContent.DATA, DataFileContent.POSITION_DELETES])
def test_a_file_has_the_time_of_the_snapshot_that_added_it(read, content):
    old, new = entry("old", content=content), entry("new", content=content)
    old.snapshot_id, new.snapshot_id = 4, None  # a new entry may leave it to the manifest: 5
    assert [f.added_at_ms for f in read(old, new, times_ms={4: 60_000, 5: 120_000})] == [60_000, 120_000]
    assert [f.added_at_ms for f in read(old, new, times_ms={5: 120_000})] == [None, 120_000]  # 4 has expired
    assert [f.added_at_ms for f in read(old, new)] == [None, None]


def test_a_file_has_its_own_sequence_number_or_that_of_its_commit(read):
    own = read(entry("a"), entry("b", ManifestEntryStatus.EXISTING, 3), entry("c", sequence_number=0))
    assert [file.data_sequence_number for file in own] == [7, 3, 0]


def test_a_deleted_file_is_left_out(read):
    assert [file.path for file in read(entry("a"), entry("b", ManifestEntryStatus.DELETED, 3))] == ["a"]


def test_a_deletion_vector_is_a_blob_for_one_data_file(read):
    file, other = read(
        deletes("v.puffin", file_format=FileFormat.PUFFIN, referenced_data_file="a", content_offset=4,
                content_size_in_bytes=40, record_count=3),
        deletes("v.puffin", file_format=FileFormat.PUFFIN, referenced_data_file="b", content_offset=44,
                content_size_in_bytes=50),
    )  # fmt: skip
    assert (file.kind, file.size_bytes, file.rows) == (DeleteKind.DELETION_VECTOR, 40, 3)
    assert (file.path, file.referenced_data_file) == ("v.puffin", "a")
    assert (other.path, other.referenced_data_file, other.size_bytes) == ("v.puffin", "b", 50)


def test_position_deletes_name_their_data_file_outright_or_by_equal_bounds(read):
    files = read(
        deletes("outright", referenced_data_file="a", **bounds("b", "b")),
        deletes("bounds", **bounds("b", "b")),
        deletes("several", **bounds("b", "c")),
        deletes("none"),
        deletes("half", lower_bounds={FILE_PATH_COLUMN: b"b"}),
        deletes("other column", lower_bounds={1: b"b"}, upper_bounds={1: b"b"}),
    )
    assert {file.kind for file in files} == {DeleteKind.POSITION}
    assert {file.size_bytes for file in files} == {1000}
    assert [file.referenced_data_file for file in files] == ["a", "b", None, None, None, None]


def test_files_have_the_key_ranges_of_the_column_asked_for(read):
    told = {"lower_bounds": {2: b"b"}, "upper_bounds": {2: b"c"}, "null_value_counts": {2: 0}}
    entries = entry("a", **told), deletes("d", **told)
    key = NestedField(2, "city", StringType())
    assert [file.key_bounds for file in read(*entries, key=key)] == [KeyBounds("b", "c")] * 2
    assert [file.key_bounds for file in read(*entries)] == [None, None]


def test_a_manifest_with_fewer_entries_than_are_listed_is_damaged(read):
    with pytest.raises(ValueError, match="2 entries, but the manifest list states 3"):
        read(entry("a"), entry("b"), listed=3)
    assert len(read(entry("a"), entry("b"), listed=1)) == 2


def test_equality_deletes_name_no_data_file(read):
    (file,) = read(entry("e", content=DataFileContent.EQUALITY_DELETES, equality_ids=[1], **bounds("b", "b")))
    assert (file.kind, file.referenced_data_file) == (DeleteKind.EQUALITY, None)


@pytest.mark.parametrize("version", ["1", "2"])
def test_tables_of_older_versions_hold_data_files(tmp_path, version):
    table = make_table(tmp_path, [{"Oslo": 2}, {"Oslo": 1}], NOT_PARTITIONED, **{"format-version": version})
    manifests = table.current_snapshot().manifests(table.io)
    files = [file for manifest in manifests for file in files_of(manifest, table).files]
    assert sorted((file.rows, file.partition, type(file).__name__) for file in files) == [
        (1, "", "IcebergDataFile"), (2, "", "IcebergDataFile"),
    ]  # fmt: skip
    assert sorted(file.data_sequence_number for file in files) == ([0, 0] if version == "1" else [1, 2])
    assert all(file.split_offsets == (4,) for file in files)


def text(transform, type_, value, name="x"):
    spec = PartitionSpec(PartitionField(1, 1000, transform, name))
    return partition_text(spec, Record(value), (type_,))


EPOCH = datetime(1970, 1, 1)
DAY = (date(2026, 3, 1) - EPOCH.date()).days
MICROS = round((datetime(2026, 3, 1, 7, 30) - EPOCH) / timedelta(microseconds=1))


@pytest.mark.parametrize(
    ("transform", "type_", "value", "told"),
    [
        (IdentityTransform(), StringType(), "Oslo", "x=Oslo"),
        (IdentityTransform(), StringType(), "", "x="),
        (IdentityTransform(), StringType(), "a/b%2F=c", "x=a%2Fb%252F=c"),
        (IdentityTransform(), StringType(), None, "x=null"),
        (IdentityTransform(), StringType(), "null", "x=%6Eull"),
        (IdentityTransform(), StringType(), "None", "x=None"),
        (IdentityTransform(), IntegerType(), -3, "x=-3"),
        (IdentityTransform(), BooleanType(), True, "x=true"),
        (IdentityTransform(), DateType(), DAY, "x=2026-03-01"),
        (IdentityTransform(), DateType(), 10**8, "x=100000000"),
        (IdentityTransform(), TimestampType(), MICROS, "x=2026-03-01T07:30:00"),
        (IdentityTransform(), TimestamptzType(), MICROS, "x=2026-03-01T07:30:00+00:00"),
        (IdentityTransform(), DecimalType(9, 2), Decimal("1.50"), "x=1.50"),
        (IdentityTransform(), UUIDType(), UUID(int=5), f"x={UUID(int=5)}"),
        (IdentityTransform(), BinaryType(), b"\xff\xff", "x=%2F%2F8="),
        (BucketTransform(8), IntegerType(), 5, "x=5"),
        (TruncateTransform(2), StringType(), "Os", "x=Os"),
        (YearTransform(), IntegerType(), 56, "x=2026"),
        (MonthTransform(), IntegerType(), 56 * 12 + 2, "x=2026-03"),
        (DayTransform(), DateType(), DAY, "x=2026-03-01"),
        (HourTransform(), IntegerType(), DAY * 24 + 7, "x=2026-03-01-07"),
        (DayTransform(), DateType(), None, "x=null"),
        (VoidTransform(), StringType(), None, ""),
    ],
)
def test_a_partition_is_told_in_icebergs_words(transform, type_, value, told):
    assert text(transform, type_, value) == told


def test_partitions_of_a_spec_have_texts_of_their_own():
    alphabet, draw = "nul%/=6E2F", random.Random(1)
    values = {None, "null", "%6Eull", "None", ""} | {
        "".join(draw.choices(alphabet, k=draw.randint(0, 6))) for _ in range(5000)
    }
    spec = PartitionSpec(
        PartitionField(1, 1000, IdentityTransform(), "a/b=c"),
        PartitionField(2, 1001, IdentityTransform(), "d"),
    )
    types = (StringType(), StringType())
    texts = {value: partition_text(spec, Record(value, "x"), types) for value in values}
    assert len(set(texts.values())) == len(values)
    for value, told in texts.items():
        (name, first), last = (part.split("=", 1) for part in told.split("/"))
        assert unquote(name) == "a/b=c"
        assert last == ["d", "x"]
        assert unquote(first) == ("null" if value is None else value)
