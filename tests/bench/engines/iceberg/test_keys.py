import math
import struct
from decimal import Decimal

import pytest
from pyiceberg.conversions import to_bytes
from pyiceberg.manifest import DataFile
from pyiceberg.schema import Schema
from pyiceberg.types import (
    DateType,
    DecimalType,
    DoubleType,
    ListType,
    LongType,
    NestedField,
    StringType,
    StructType,
    UUIDType,
)

from bench.engines.iceberg.manifests import key_bounds, key_column
from strategies.iceberg.files import KeyBounds

ID = NestedField(1, "id", LongType(), required=True)
NAME = NestedField(2, "name", StringType())
INNER = NestedField(4, "number", LongType())
SCHEMA = Schema(
    ID, NAME,
    NestedField(3, "inner", StructType(INNER)),
    NestedField(5, "list", ListType(element_id=6, element_type=LongType())),
    NestedField(7, "uuid", UUIDType()),
)  # fmt: skip


@pytest.mark.parametrize(
    ("equality_ids", "column"),
    [
        ([], None),
        ([(1,)], ID),
        ([(2,)], NAME),
        ([(4,)], INNER),
        ([(1, 2)], None),
        ([(1,), (2,)], None),
        ([(1,), (1, 2)], None),
        ([(5,)], None),  # no bounds are kept of a list
        ([(9,)], None),  # dropped
        ([()], None),
        ([(7,)], None),  # bounds that Iceberg misreads
    ],
)
def test_the_key_is_the_one_column_that_equality_deletes_compare(equality_ids, column):
    assert key_column(equality_ids, SCHEMA) == column


def data_file(low=None, high=None, nulls=None, values=None, field_id=2):
    def told(value):
        return None if value is None else {field_id: value}

    return DataFile.from_args(
        _table_format_version=3, file_path="f",
        lower_bounds=told(low), upper_bounds=told(high),
        null_value_counts=told(nulls), value_counts=told(values),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("counts", "keys"),
    [
        ({}, KeyBounds("a", "b", nulls=True)),
        ({"nulls": 0}, KeyBounds("a", "b")),
        ({"nulls": 0, "values": 5}, KeyBounds("a", "b")),
        ({"nulls": 2, "values": 5}, KeyBounds("a", "b", nulls=True)),
        ({"nulls": 5}, KeyBounds("a", "b", nulls=True)),
        ({"values": 5}, KeyBounds("a", "b", nulls=True)),
        ({"nulls": 5, "values": 5}, KeyBounds("a", "b", nulls=True, values=False)),
    ],
)
def test_null_counts_tell_whether_null_is_a_key(counts, keys):
    assert key_bounds(data_file(b"a", b"b", **counts), NAME) == keys


@pytest.mark.parametrize("counts", [{}, {"nulls": 5, "values": 5}, {"nulls": 2}])
def test_a_required_column_holds_no_nulls_whatever_the_counts(counts):
    bounds = [to_bytes(LongType(), value) for value in (3, 8)]
    assert key_bounds(data_file(*bounds, **counts, field_id=1), ID) == KeyBounds(3, 8)


@pytest.mark.parametrize("bounds", [(), (b"a",), (None, b"b")])
def test_one_bound_alone_is_none(bounds):
    assert key_bounds(data_file(*bounds, nulls=0), NAME) == KeyBounds(None, None)


@pytest.mark.parametrize(
    ("type_", "written", "value"),
    [
        (LongType(), struct.pack("<i", -7), -7),  # from before the column was made a long
        (DateType(), struct.pack("<i", 20_000), 20_000),
        (DecimalType(9, 2), b"\xff\x38", Decimal("-2.00")),
        (DoubleType(), struct.pack("<d", 1.5), 1.5),
    ],
)
def test_bounds_are_read_by_the_type_of_the_column(type_, written, value):
    keys = key_bounds(data_file(written, written, 0), NestedField(2, "x", type_))
    assert keys == KeyBounds(value, value)


def test_bounds_that_exclude_each_other_are_none():
    assert key_bounds(data_file(b"b", b"a", nulls=0), NAME) == KeyBounds(None, None)


def test_a_bound_that_is_no_number_is_none():
    bounds = [struct.pack("<d", value) for value in (1.0, math.nan)]
    assert key_bounds(data_file(*bounds, nulls=0), NestedField(2, "x", DoubleType())) == KeyBounds(None, None)
