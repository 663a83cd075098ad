"""Comparisons of timings as an estimator would make them, by their error."""

import math

from scipy import stats

from reports.verdicts.compare import MODERATED, Comparison, verdict_of
from reports.verdicts.confidence import CONFIDENCE


def measured(ratio: float, error: float, freedom: float = 2, n: int = 3) -> Comparison:
    """A ratio whose logarithm has this standard error, known with so many degrees of freedom."""
    low, high = (
        math.exp(float(end)) for end in stats.t.interval(CONFIDENCE, freedom, math.log(ratio), error)
    )
    verdict = verdict_of(low, high)
    return Comparison(ratio, low, high, n, MODERATED, verdict, error=error, freedom=freedom)
