"""The lower and upper bounds of the key column, from the manifests of an Iceberg table."""

from collections.abc import Collection
from typing import Any

from pyiceberg.conversions import from_bytes
from pyiceberg.manifest import DataFile
from pyiceberg.schema import Schema
from pyiceberg.types import NestedField, PrimitiveType, UUIDType

from strategies.iceberg.files import KeyBounds


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


def key_bounds(file: DataFile, key: NestedField) -> KeyBounds:
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
