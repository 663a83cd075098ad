"""Sums, means and ratios of figures of which some may be unknown: None, or NaN in an array."""

import math
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import TypeVar

import numpy as np

_Value = TypeVar("_Value")
_Number = TypeVar("_Number", int, float)


def total(values: np.ndarray) -> float:
    """The sum in the order of the values, which decides its last digit; that of whole numbers is exact."""
    return float(values.sum() if values.dtype.kind == "i" else sum(values.tolist()))


def known_sum(values: np.ndarray) -> float | None:
    """The sum of the values; None if one of them is unknown."""
    return None if np.isnan(values).any() else total(values)


def known_mean(values: np.ndarray, weights: np.ndarray | None = None) -> float | None:
    """The mean of the values; None if there are none, if one is unknown, or if none has any weight."""
    if not len(values) or np.isnan(values).any():
        return None
    if weights is None:
        return math.fsum(values.tolist()) / len(values)
    return ratio(math.fsum((values * weights).tolist()), math.fsum(weights.tolist()))


def mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def mean_of_known(values: Iterable[float | None]) -> float | None:
    return mean([value for value in values if value is not None])


def all_known(values: Iterable[_Value | None]) -> list[_Value] | None:
    """The values; None if one of them is None."""
    listed = list(values)
    known = [value for value in listed if value is not None]
    return known if len(known) == len(listed) else None


def sum_of_known(values: Iterable[_Number | None]) -> _Number | None:
    """The sum of the values; None if one of them is None."""
    known = all_known(values)
    return None if known is None else sum(known)


def percentile(values: np.ndarray, percent: float) -> float | None:
    """By linear interpolation between the closest ranks; None if there are no values."""
    return float(np.percentile(values, percent)) if len(values) else None


def highest(values: np.ndarray) -> float | None:
    return float(values.max()) if len(values) else None


def ratio(above: float, below: float) -> float | None:
    """`above / below`; None if `below` is 0."""
    return above / below if below else None
