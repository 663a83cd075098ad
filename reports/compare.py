"""Whether two groups of runs differ, and whether latency rises.

Run-to-run noise of timings is multiplicative and skewed to the right, so ratios are taken on the log
scale, and the two runs of one repetition, which ran close together, are compared with each other.

Sources: ratios summarised by their geometric mean, Fleming and Wallace, CACM 29(3), 1986; the t-interval on
log values turned back into one of the ratio, Bland and Altman, BMJ 312:1153, 1996; the percentile bootstrap,
Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13; the slope and its interval, Theil,
1950, and Sen, JASA 63, 1968, as `scipy.stats.theilslopes` computes them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

CONFIDENCE = 0.95
BOOTSTRAP_FROM_PAIRS = 20
BOOTSTRAP_RESAMPLES = 10_000
_BOOTSTRAP_SEED = 1993
_TREND_MIN_POINTS = 5  # of 4 points even a strict rise is no news: 2 of their 24 orders are that extreme
_TREND_MAX_POINTS = 1_500  # Sen's method keeps all pairs in memory

Verdict = Literal["more", "less", "equal", "undecided"]
Method = Literal["exact", "paired t on log ratios", "paired bootstrap of log ratios", "none"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a relates to b. `ratio` is the geometric mean of a/b over the pairs, `low`..`high` its interval.

    verdict: "more" or "less" where the interval leaves out 1 or the figures are exact; "equal" only for
    exact figures; otherwise "undecided", with the reason in words where there is no interval.
    """

    ratio: float | None
    low: float | None
    high: float | None
    n: int
    method: Method
    verdict: Verdict
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Trend:
    """The Theil-Sen slope in units per hour with its 95 % interval; None where it cannot be told."""

    slope_per_h: float | None
    low_per_h: float | None
    high_per_h: float | None
    n: int
    verdict: Literal["rises", "flat or undecided"]


def compare(
    a_values: Sequence[float | None], b_values: Sequence[float | None], exact: bool = False
) -> Comparison:
    """Compare two groups given in the same order of repetitions; a pair with a None is left out.

    Figures are taken as exact only while they repeat within each group: those that should but do not
    are compared like timings. Raises ValueError unless both groups have the same length.
    """
    pairs = [(a, b) for a, b in zip(a_values, b_values, strict=True) if a is not None and b is not None]
    if exact and pairs and all(pair == pairs[0] for pair in pairs):
        return _exact(*pairs[0], len(pairs))
    if not pairs:
        return _undecided(None, 0, "no pair of runs to compare")
    if any(a <= 0 or b <= 0 for a, b in pairs):
        return _undecided(None, len(pairs), "a figure of zero or below has no ratio")
    logs = np.log([a / b for a, b in pairs])
    ratio = math.exp(float(np.mean(logs)))
    if len(pairs) < 2:
        return _undecided(ratio, len(pairs), "one pair of runs tells no noise")
    if len(pairs) < BOOTSTRAP_FROM_PAIRS:
        low, high = _t_interval(logs)
        method: Method = "paired t on log ratios"
    else:
        low, high = _bootstrap_interval(logs)
        method = "paired bootstrap of log ratios"
    return Comparison(ratio, math.exp(low), math.exp(high), len(pairs), method, _verdict(low, high))


def trend(at_s: Sequence[float], values: Sequence[float]) -> Trend:
    """Whether `values` rise over scenario time: "rises" where the interval of the slope lies above 0.

    The interval takes the points as independent, so a slow drift of the machine also counts as a rise.
    Above 1,500 points every k-th is used. Raises ValueError unless both have the same length.
    """
    points = [(t / 3600, v) for t, v in zip(at_s, values, strict=True) if math.isfinite(v)]
    points = points[:: math.ceil(len(points) / _TREND_MAX_POINTS) or 1]
    hours, figures = [t for t, _ in points], [v for _, v in points]
    if len(points) < _TREND_MIN_POINTS or len(set(hours)) < 2:
        return Trend(None, None, None, len(points), "flat or undecided")
    found = stats.theilslopes(figures, hours, alpha=CONFIDENCE)
    slope, low, high = float(found.slope), float(found.low_slope), float(found.high_slope)
    return Trend(slope, low, high, len(points), "rises" if low > 0 else "flat or undecided")


def _exact(a: float, b: float, n: int) -> Comparison:
    verdict: Verdict = "more" if a > b else "less" if a < b else "equal"
    if b == 0:
        return Comparison(None, None, None, n, "exact", verdict, "the second figure is 0")
    return Comparison(a / b, None, None, n, "exact", verdict)


def _undecided(ratio: float | None, n: int, reason: str) -> Comparison:
    return Comparison(ratio, None, None, n, "none", "undecided", reason)


def _verdict(low_log: float, high_log: float) -> Verdict:
    if low_log > 0:
        return "more"
    return "less" if high_log < 0 else "undecided"


def _t_interval(logs: np.ndarray) -> tuple[float, float]:
    margin = stats.t.ppf((1 + CONFIDENCE) / 2, len(logs) - 1) * np.std(logs, ddof=1) / math.sqrt(len(logs))
    return float(np.mean(logs) - margin), float(np.mean(logs) + margin)


def _bootstrap_interval(logs: np.ndarray) -> tuple[float, float]:
    """Percentiles of the resampled mean; seeded, so that a report never changes from reading it twice."""
    drawn = np.random.default_rng(_BOOTSTRAP_SEED).choice(logs, size=(BOOTSTRAP_RESAMPLES, len(logs)))
    low, high = np.quantile(drawn.mean(axis=1), [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)
