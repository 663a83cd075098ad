"""What the executor says of the files that it writes, against what is in them."""

import datetime as dt
import math
import struct
import uuid
from decimal import Decimal
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from merge_on_read import NOT_PARTITIONED, row, values_of
from pyiceberg.conversions import from_bytes, to_bytes
from pyiceberg.schema import Schema
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    NestedField,
    StringType,
    TimestampType,
    TimestamptzType,
    TimeType,
    UUIDType,
)

from bench.engines.iceberg.single_node.written_files import row_group_rows
from strategies.state import MIB

UTC = dt.UTC
COLUMNS = {
    "flag": (BooleanType(), True, False),
    "count": (IntegerType(), -5, 2**31 - 1),
    "key": (LongType(), -(2**63), 2**63 - 1),
    "share": (FloatType(), -1.5, 0.25),
    "price": (DoubleType(), -1e300, 5e-324),
    "small": (DecimalType(4, 2), Decimal("-1.25"), Decimal("12.25")),
    "money": (DecimalType(9, 2), Decimal("-1.25"), Decimal("1234567.89")),
    "large": (DecimalType(18, 3), Decimal("-1.250"), Decimal("999999999999999.999")),
    "huge": (
        DecimalType(38, 10), Decimal("-1.5000000000"), Decimal("1234567890123456789012345678.0123456789"),
    ),
    "day": (DateType(), dt.date(1, 1, 1), dt.date(9999, 12, 31)),
    "time": (TimeType(), dt.time(0, 0, 0, 1), dt.time(23, 59, 59, 999_999)),
    "local": (TimestampType(), dt.datetime(1900, 1, 1, 0, 0, 0, 1), dt.datetime(2262, 1, 1)),
    "instant": (
        TimestamptzType(), dt.datetime(1, 1, 1, tzinfo=UTC), dt.datetime(2024, 3, 31, 1, 30, tzinfo=UTC),
    ),
    "name": (StringType(), "", "é'\"% \n\U0010ffff"),
    "id": (UUIDType(), uuid.UUID(int=1).bytes, uuid.UUID(int=2**128 - 1).bytes),
    "blob": (BinaryType(), b"", b"\x00\xff"),
    'Q"uoted. Näme \'x': (LongType(), 1, 2),
    "filename": (LongType(), 1, 2),
    "file_row_number": (LongType(), 1, 2),
    "n": (LongType(), 1, 2),
    "select": (StringType(), "a", "b"),
}  # fmt: skip


def schema_of(columns):
    return Schema(*(NestedField(1 + n, name, kind) for n, (name, (kind, *_)) in enumerate(columns.items())))


@pytest.fixture
def make(make_lake):
    """Makes a table of these columns with a commit for each of their values, rewritten; its one file."""

    def rewritten(folder="lake", **columns):
        lake = make_lake(folder, schema=schema_of(columns), spec=NOT_PARTITIONED)
        for values in zip(*(values for _, *values in columns.values()), strict=True):
            lake.append(dict(zip(columns, values, strict=True)))
        before = lake.rows()
        lake.rewrite_all()
        assert lake.rows() == before
        (file,) = lake.data_files()
        return file, lake

    return rewritten


def test_values_of_all_types_and_nulls_stay_with_their_field_ids(make):
    columns = {name: (*of, None) for name, of in COLUMNS.items()}
    file, lake = make(**columns)
    assert lake.rows().total() == 3
    assert lake.load().scan().to_arrow().num_rows == 3  # by another reader
    for field_id, (kind, *values) in enumerate(columns.values(), start=1):
        bounds = [to_bytes(kind, value) for value in values[:2]]
        expected = bounds if kind != BooleanType() else bounds[::-1]
        if kind not in (StringType(), BinaryType()):
            assert [file.lower_bounds[field_id], file.upper_bounds[field_id]] == expected, kind
        assert (file.value_counts[field_id], file.null_value_counts[field_id]) == (3, 1)
        assert file.column_sizes[field_id] > 0


def test_types_in_parquet_are_those_of_the_spec(make):
    file, _ = make(**{name: (kind, one, two) for name, (kind, one, two) in COLUMNS.items()})
    stored = pq.ParquetFile(path_of(file)).schema
    named = {stored.column(n).name: stored.column(n) for n in range(len(stored))}
    assert str(named["time"].logical_type) == "Time(isAdjustedToUTC=false, timeUnit=microseconds)"
    assert "isAdjustedToUTC=false" in str(named["local"].logical_type)
    assert "isAdjustedToUTC=true" in str(named["instant"].logical_type)
    assert named["instant"].physical_type == "INT64"
    for name, kind in (("small", "INT32"), ("money", "INT32"), ("large", "INT64")):
        assert named[name].physical_type == kind
    assert str(named["huge"].logical_type) == "Decimal(precision=38, scale=10)"
    assert str(named["id"].logical_type) == "UUID"


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(values=[0.0])
@example(values=[-0.0])
@example(values=[0.0, -0.0])
@example(values=[-0.0, 0.0, math.nan])
@given(
    values=st.lists(
        st.none()
        | st.sampled_from([0.0, -0.0, math.nan, math.inf, -math.inf])
        | st.floats(width=32, allow_subnormal=False),
        min_size=1,
        max_size=4,
    )
)
def test_bounds_and_counts_of_floats_are_those_of_the_values(make, request, values):
    request.node.examples = number = getattr(request.node, "examples", 0) + 1
    file, _ = make(f"lake-{number}", share=(FloatType(), *values), price=(DoubleType(), *values))
    known = [value for value in values if value is not None]
    numbers = sorted((v for v in known if not math.isnan(v)), key=lambda v: (v, math.copysign(1, v)))
    for field_id, kind, code in ((1, FloatType(), "<f"), (2, DoubleType(), "<d")):
        assert file.null_value_counts[field_id] == len(values) - len(known)
        assert file.nan_value_counts[field_id] == len(known) - len(numbers)
        if numbers:
            bounds = file.lower_bounds[field_id], file.upper_bounds[field_id]
            assert bounds == (struct.pack(code, numbers[0]), struct.pack(code, numbers[-1])), kind
        else:
            assert field_id not in file.lower_bounds
            assert field_id not in file.upper_bounds


def test_bounds_of_long_strings_are_cut_to_16_characters(make):
    long, short = "é" * 40, "a" * 17
    file, _ = make(name=(StringType(), long, short), top=(StringType(), "\U0010ffff" * 20, "b"))
    assert from_bytes(StringType(), file.lower_bounds[1]) == "a" * 16
    assert from_bytes(StringType(), file.upper_bounds[1]) == "é" * 15 + "ê"
    assert 2 not in file.upper_bounds  # no string of 16 characters is above
    assert from_bytes(StringType(), file.lower_bounds[2]) == "b"


def test_metrics_are_those_that_the_table_asks_for(make_lake):
    columns = {"a": DoubleType(), "b": DoubleType(), "c": DoubleType()}
    lake = make_lake(
        schema=schema_of({name: (kind,) for name, kind in columns.items()}), spec=NOT_PARTITIONED,
        **{"write.metadata.metrics.column.a": "none", "write.metadata.metrics.column.b": "counts"},
    )  # fmt: skip
    for value in (math.nan, 0.0, None):
        lake.append(dict.fromkeys(columns, value))
    lake.rewrite_all()
    (file,) = lake.data_files()
    assert set(file.nan_value_counts) == set(file.null_value_counts) == {2, 3}
    assert set(file.lower_bounds) == set(file.upper_bounds) == {3}


def path_of(file):
    return file.file_path.removeprefix("file://")


def stored_file(lake):
    (file,) = lake.data_files()
    return pq.read_metadata(path_of(file)), file


@pytest.mark.parametrize(
    ("codec", "stored"),
    [
        (None, "ZSTD"), ("zstd", "ZSTD"), ("ZSTD", "ZSTD"), ("snappy", "SNAPPY"), ("gzip", "GZIP"),
        ("lz4", "LZ4"), ("uncompressed", "UNCOMPRESSED"),
    ],
)  # fmt: skip
def test_files_are_in_the_codec_of_the_table(make_lake, codec, stored):
    lake = make_lake(**{"write.parquet.compression-codec": codec} if codec else {})
    lake.append(row(1))
    lake.rewrite_all()
    assert stored_file(lake)[0].row_group(0).column(0).compression == stored


def test_delete_files_may_have_a_codec_of_their_own(make_lake):
    lake = make_lake(**{"write.delete.parquet.compression-codec": "gzip"})
    lake.append(row(1), row(2))
    lake.delete_equal(["id"], [(1,)], ("Oslo",))
    lake.convert_all()
    (delete,) = (e.data_file for e in lake.entries() if "-delete-" in e.data_file.file_path)
    assert pq.read_metadata(path_of(delete)).row_group(0).column(0).compression == "GZIP"


@pytest.mark.parametrize(
    ("properties", "match"),
    [
        ({"write.parquet.compression-codec": "brotli"}, "brotli"),
        ({"write.parquet.compression-level": "high"}, "compression-level"),
        ({"write.parquet.row-group-size-bytes": "x"}, "row-group-size-bytes"),
    ],
)
def test_a_property_that_cannot_be_kept_is_refused(make_lake, properties, match):
    lake = make_lake(**properties)
    rows = pa.table({"id": [1], "city": ["Oslo"], "n": [1]}, schema=lake.load().schema().as_arrow())
    lake.add_file(rows, ("Oslo",))
    stored = lake.stored()
    with pytest.raises(ValueError, match=match):
        lake.rewrite_all()
    assert lake.stored() == stored


def noise(lake, rows, start=0):
    """Rows that cannot be compressed to much less than 8 bytes each, in one file."""
    values = [hash((start + n, "noise")) % 2**62 for n in range(rows)]
    columns = {"id": values, "city": ["Oslo"] * rows, "n": values}
    return pa.table(columns, schema=lake.load().schema().as_arrow())


def test_a_higher_level_makes_smaller_files(make_lake):
    sizes = []
    for level in ("1", "19"):
        lake = make_lake(level, **{"write.parquet.compression-level": level})
        texts = [f"{n * 7919 % 1000} and {n * 31 % 77} words" for n in range(5000)]
        columns = {"id": [1] * 5000, "city": texts, "n": [1] * 5000}
        lake.add_file(pa.table(columns, schema=lake.load().schema().as_arrow()), ("Oslo",))
        lake.rewrite_all()
        sizes.append(stored_file(lake)[1].file_size_in_bytes)
    assert sizes[1] < 0.95 * sizes[0]


def test_row_groups_have_about_the_bytes_of_the_table_and_offsets_of_their_own(make_lake):
    lake = make_lake(**{"write.parquet.row-group-size-bytes": str(128 * 1024)})
    lake.add_file(noise(lake, 30_000), ("Oslo",))
    before = lake.rows()
    lake.rewrite_all()
    metadata, file = stored_file(lake)
    groups = [metadata.row_group(n) for n in range(metadata.num_row_groups)]
    assert lake.rows() == before
    assert len(groups) > 2
    assert all(0.5 * 128 * 1024 < group.total_byte_size <= 1.1 * 128 * 1024 for group in groups[:-1])
    starts = [group.column(0).dictionary_page_offset or group.column(0).data_page_offset for group in groups]
    assert list(file.split_offsets) == starts
    assert file.record_count == 30_000
    assert file.sort_order_id == 0  # unsorted
    assert file.file_size_in_bytes == Path(path_of(file)).stat().st_size


def test_a_row_group_has_the_bytes_of_the_table_unless_it_would_fill_the_memory():
    assert (
        row_group_rows(128 * MIB, bytes_per_row=400.0, columns_count=17, memory_bytes=1024 * MIB) == 333_824
    )
    of_small_rows = partial(row_group_rows, 128 * MIB, bytes_per_row=40.0, columns_count=17)
    assert of_small_rows(memory_bytes=1024 * MIB) == 860_160  # a quarter of the memory at 312 bytes
    assert of_small_rows(memory_bytes=256 * MIB) == 215_040
    assert of_small_rows(memory_bytes=64 * 1024 * MIB) == 3_354_624
    assert of_small_rows(memory_bytes=1) == 2048


def test_row_groups_leave_room_in_the_memory_of_the_executor(make_lake):
    groups_counts = []
    for memory_mib in (4, 1024):
        lake = make_lake(f"of_{memory_mib}", memory_bytes=memory_mib * MIB)
        lake.add_file(noise(lake, 30_000), ("Oslo",))
        lake.rewrite_all()
        groups_counts.append(stored_file(lake)[0].num_row_groups)
    assert groups_counts[0] > 2
    assert groups_counts[1] == 1


@pytest.mark.parametrize("row_group_rows", [100, 2500, 100_000])
def test_a_group_above_the_target_makes_files_of_at_most_the_target(make_lake, row_group_rows):
    """Otherwise each new file is small again, and is rewritten for ever."""
    lake = make_lake()
    for start in range(5):
        lake.add_file(noise(lake, 10_000, 10_000 * start), ("Oslo",), row_group_size=row_group_rows)
    before, old = lake.rows(), lake.data_files()
    target_bytes = int(2.5 * old[0].file_size_in_bytes)
    lake.rewrite_all(target_bytes)
    sizes = [file.file_size_in_bytes for file in lake.data_files()]
    assert lake.rows() == before
    assert len(sizes) == 3
    assert all(size <= target_bytes for size in sizes)


def test_a_file_above_the_target_is_split_at_its_row_groups(make_lake):
    lake = make_lake()
    lake.add_file(noise(lake, 20_000), ("Oslo",), row_group_size=1000)
    lake.delete_positions([(lake.data_files()[0].file_path, n) for n in (0, 999, 1000, 19_999)], ("Oslo",))
    before, (old,) = lake.rows(), lake.data_files()
    lake.rewrite_all(old.file_size_in_bytes // 3)
    assert lake.rows() == before
    assert before.total() == 19_996
    assert len(lake.data_files()) == 4


def test_an_empty_row_group_is_no_whole_file(make_lake):
    lake, rows = make_lake(), 10_000
    arrow = noise(lake, rows)
    location = lake.add_file(arrow, ("Oslo",))
    with pq.ParquetWriter(location.removeprefix("file://"), arrow.schema) as writer:
        for part in (arrow[:0], arrow[:5000], arrow[5000:]):
            writer.write_table(part)
    metadata = pq.read_metadata(location.removeprefix("file://"))
    assert [metadata.row_group(n).num_rows for n in range(3)] == [0, 5000, 5000]
    lake.rewrite_all(lake.data_files()[0].file_size_in_bytes // 2)
    assert lake.rows().total() == rows


def test_a_group_whose_rows_are_all_deleted_makes_no_file(make_lake):
    lake = make_lake()
    lake.append(row(1))
    lake.delete_equal(["id"], [(1,)], ("Oslo",))
    stored = lake.stored()
    lake.rewrite_all(8 * MIB)
    assert lake.data_files() == []
    assert [path for path in lake.stored() - stored if path.suffix == ".parquet"] == []


def test_a_converted_delete_names_its_file_alone(make_lake):
    lake = make_lake()
    lake.append(*(row(n) for n in range(10)))
    lake.append(row(11))
    first, _ = lake.data_files()
    lake.delete_equal(["id"], [(3,), (7,)], ("Oslo",))
    lake.convert_all()
    (delete,) = (e.data_file for e in lake.entries() if "-delete-" in e.data_file.file_path)
    path_id, position_id = 2147483546, 2147483545
    assert delete.lower_bounds[path_id] == delete.upper_bounds[path_id] == first.file_path.encode()
    bounds = [from_bytes(LongType(), b[position_id]) for b in (delete.lower_bounds, delete.upper_bounds)]
    assert bounds == [3, 7]
    assert delete.record_count == 2
    assert delete.file_path.startswith(first.file_path.removesuffix(".parquet"))
    stored = list(values_of(delete.file_path, (path_id, position_id)))
    assert stored == [{path_id: first.file_path, position_id: n} for n in (3, 7)]
