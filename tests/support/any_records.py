"""Hypothesis strategies for records with any values that they may have."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import get_args, get_type_hints

from hypothesis import strategies as st
from pydantic import BaseModel

from bench.results.records import Amount, Int64, Moment, Positive, RoleId
from bench.results.values import Count, Factor, Seconds

INTEGERS = st.integers(-(2**63), 2**63 - 1)
COUNTS = st.integers(0, 2**53)
SECONDS = st.floats(0, 1e12)
POSITIVE = st.integers(1, 2**63 - 1)
MOMENTS = st.datetimes(datetime(1971, 1, 1), datetime(2999, 1, 1)).map("{0:%Y-%m-%dT%H:%M:%S.%f}Z".format)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
VALUES = {
    Moment: MOMENTS, Int64: INTEGERS, Count: COUNTS, Seconds: SECONDS, str: TEXTS, float: FLOATS,
    RoleId: st.sampled_from(["runner", "writer", "compactor-2", "compactor-beside"]),
    list[tuple[Positive, Positive]]: st.lists(st.tuples(POSITIVE, POSITIVE)),
    dict[str, Amount]: st.dictionaries(TEXTS, st.floats(0, 2**53)),
    dict[str, float]: st.dictionaries(TEXTS, FLOATS),
    Mapping[str, Factor]: st.dictionaries(TEXTS, st.floats(0, 1e15)),
    tuple[str, ...]: st.lists(TEXTS).map(tuple),
    Mapping[str, Count]: st.dictionaries(TEXTS, COUNTS),
    list[str]: st.lists(TEXTS),
}  # fmt: skip


def records_of(kind):
    """Any record of a kind, or a value that records hold; floats that JSON cannot say are left out."""
    types = get_type_hints(kind, include_extras=True)
    names = kind.model_fields if issubclass(kind, BaseModel) else [field.name for field in fields(kind)]
    return st.builds(kind, **{name: _values(types[name]) for name in names if name != "kind"})


def _values(annotation):
    if type(None) in get_args(annotation):
        (known,) = (part for part in get_args(annotation) if part is not type(None))
        return st.none() | _values(known)
    if annotation in VALUES:
        return VALUES[annotation]
    return records_of(annotation) if is_dataclass(annotation) else st.from_type(annotation)
