"""How far 95 % intervals reach.

The quantiles are those of `scipy.special`: `scipy.stats`, which wraps them, takes a second to load.
"""

import math

from scipy.special import ndtri, stdtrit

CONFIDENCE = 0.95
TWO_SIDED = float(ndtri((1 + CONFIDENCE) / 2))  # standard errors to each side, if the noise is known


def reach(freedom: float) -> float:
    """How many standard errors an interval reaches to each side, by Student's t."""
    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2))


def ratio_interval(log: float, error: float, freedom: float) -> tuple[float, float]:
    """The interval of a ratio, or of a figure, by its logarithm and the standard error of that."""
    reached = reach(freedom) * error
    return math.exp(log - reached), math.exp(log + reached)
