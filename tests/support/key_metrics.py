"""What manifests of made-up files tell of the key column; ranges touch, miss, and lack something."""

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from hypothesis import strategies as st
from pyiceberg.manifest import DataFile
from pyiceberg.types import LongType, NestedField, PrimitiveType, StringType

from bench.engines.iceberg.manifests import key_bounds
from strategies.iceberg.files import KeyBounds


@dataclass(frozen=True)
class KeyMetrics:
    """Bounds as written, and counts; None for what a manifest does not contain."""

    low: bytes | None = None
    high: bytes | None = None
    null_count: int | None = None
    value_count: int | None = None


# The keys 0 to 12 of each type. Of texts beyond 16 bits Python and Java have orders of their own.
_TEXTS = ("", "0", "A", "a", "aa", "b", "z", "\u00e9", "\u20ac", "\ud7ff", "\ue000", "\uffff", "\U0001f600")
_WRITTEN: Mapping[str, Callable[[int], bytes]] = {
    "long": lambda key: struct.pack("<q", key - 6),
    "string": lambda key: _TEXTS[key].encode(),
}
_TYPES: Mapping[str, PrimitiveType] = {"long": LongType(), "string": StringType()}
LAST_KEY = 12


@dataclass(frozen=True)
class KeyColumn:
    """The column equality deletes compare, id 1."""

    type_name: str = "long"
    is_required: bool = False

    def bound(self, key: int) -> bytes:
        return _WRITTEN[self.type_name](key)


KEY_COLUMNS = st.builds(KeyColumn, st.sampled_from(("long", "string")), st.sampled_from((False, False, True)))


@cache
def keys_of(column: KeyColumn, metrics: KeyMetrics) -> KeyBounds:
    """The key range a state has of a file with these metrics."""

    def told(value: Any) -> Any:
        return None if value is None else {1: value}

    file = DataFile.from_args(
        _table_format_version=3,
        lower_bounds=told(metrics.low),
        upper_bounds=told(metrics.high),
        null_value_counts=told(metrics.null_count),
        value_counts=told(metrics.value_count),
    )
    return key_bounds(file, NestedField(1, "id", _TYPES[column.type_name], required=column.is_required))


# Which bounds are there, and the counts of nulls and of values.
_KINDS = (
    *[("both", 0, 9)] * 8,
    ("both", 3, 9), ("both", 3, None), ("both", None, 9), ("both", None, None),
    ("low", 0, 9), ("high", 0, 9), ("none", 0, 9), ("none", None, None), ("none", 9, 9), ("none", 3, 9),
)  # fmt: skip


def _metrics(column: KeyColumn, low: int, width: int, kind: tuple[str, int | None, int | None]) -> KeyMetrics:
    bounds, null_count, value_count = kind
    return KeyMetrics(
        column.bound(low) if bounds in ("both", "low") else None,
        column.bound(min(low + width, LAST_KEY)) if bounds in ("both", "high") else None,
        null_count,
        value_count,
    )


@cache
def key_metrics(column: KeyColumn) -> st.SearchStrategy[KeyMetrics]:
    """Mostly a narrow range without nulls; sometimes something lacks."""
    return st.sampled_from(
        [
            _metrics(column, low, width, kind)
            for low in range(LAST_KEY + 1)
            for width in range(5)
            for kind in _KINDS
        ]
    )
