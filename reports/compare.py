"""Whether two groups of runs differ, and whether latency increases.

Run-to-run noise of timings is multiplicative and skewed to the right, so ratios are taken on the log
scale. Two runs of one repetition ran close together and are compared in pairs (`compare`); runs of different
suites did not, so their groups are compared unpaired (`compare_unpaired`).

Sources: ratios summarised by their geometric mean, Fleming and Wallace, CACM 29(3), 1986; the t-interval on
log values transformed back into one of the ratio, Bland and Altman, BMJ 312:1153, 1996; groups of unequal
variance, Welch, Biometrika 34, 1947; the symmetric bootstrap-t, Hall, J. R. Statist. Soc. B 50, 1988; the
slope and its interval, Theil, 1950, and Sen, JASA 63, 1968, as `scipy.stats.theilslopes` computes them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from scipy import stats

CONFIDENCE = 0.95
BOOTSTRAP_FROM = 20  # pairs, or runs in each of two groups
BOOTSTRAP_RESAMPLES = 2_000
_BOOTSTRAP_SEED = 1993
_SAME = 1e-9  # of a ratio: less than the order of a sum may change, or a clock resolves
_TREND_MIN_POINTS = (
    5  # even a strict rise of 4 points is not significant: 2 of their 24 orders are that extreme
)
_TREND_MAX_POINTS = 1_500  # Sen's method holds all pairs in memory
_AUTOCORRELATION_MIN_POINTS = 10  # with fewer, the estimate is worse than none
_MAX_AUTOCORRELATION = 0.95

Verdict = Literal["more", "less", "equal", "undecided"]
Method = Literal[
    "exact",
    "paired t on log ratios",
    "paired bootstrap of log ratios",
    "Welch's t on logs",
    "unpaired bootstrap of logs",
    "none",
]


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a relates to b. `ratio` is that of the geometric means, `low`..`high` its 95 % interval.

    n: the number of pairs, or of runs in the smaller of two unpaired groups. An exact ratio is both ends of
    its interval. verdict: "more" or "less" where the interval excludes 1 or the figures are exact; "equal"
    only for exact figures; otherwise "undecided", with the reason in words where there is no interval.
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
    """The Theil-Sen slope in units per hour with its 95 % interval; None where there are too few points."""

    slope_per_h: float | None
    low_per_h: float | None
    high_per_h: float | None
    n: int
    verdict: Literal["rises", "flat or undecided"]


def compare(
    a_values: Sequence[float | None], b_values: Sequence[float | None], exact: bool | None = None
) -> Comparison:
    """Compare two groups given in the same order of repetitions; a pair with a None is left out.

    `exact` figures repeat by nature, so one pair is enough; those that should repeat but do not are compared
    like timings. Ratios that agree in every pair have an interval of zero width. That says nothing about
    noise: it is the sign of a deterministic engine, and counts as exact unless the figures are known to be
    measured (`exact=False`), in which case the clock was too coarse.

    Raises ValueError unless both groups have the same length.
    """
    pairs = [(a, b) for a, b in zip(a_values, b_values, strict=True) if a is not None and b is not None]
    if not pairs:
        return _undecided(None, 0, "no pair of runs to compare")
    a, b = (np.array(values) for values in zip(*pairs, strict=True))
    without_noise = _without_noise(a, b, len(pairs), exact)
    if without_noise is not None:
        return without_noise
    logs = np.log(a / b)
    ratio = math.exp(float(np.mean(logs)))
    if len(pairs) < 2:
        return _undecided(ratio, 1, "one pair of runs gives no estimate of noise")
    if np.ptp(logs) <= _SAME:
        return _agreeing(ratio, len(pairs), exact)
    method: Method = "paired t on log ratios"
    if len(pairs) >= BOOTSTRAP_FROM:
        method = "paired bootstrap of log ratios"
    return _decided(ratio, paired_interval(logs), len(pairs), method)


def compare_unpaired(
    a_values: Sequence[float | None], b_values: Sequence[float | None], exact: bool | None = None
) -> Comparison:
    """Compare two groups of runs that did not run close together; a None is left out. `exact` as above."""
    a, b = (np.array([v for v in values if v is not None], float) for values in (a_values, b_values))
    n = min(len(a), len(b))
    if n == 0:
        return _undecided(
            None, 0, "one side has no value" if len(a) or len(b) else "neither side has a value"
        )
    without_noise = _without_noise(a, b, n, exact)
    if without_noise is not None:
        return without_noise
    a_logs, b_logs = np.log(a), np.log(b)
    ratio = math.exp(float(np.mean(a_logs) - np.mean(b_logs)))
    if n < 2:
        return _undecided(ratio, 1, "a single run on one side gives no estimate of noise")
    if max(np.ptp(a_logs), np.ptp(b_logs)) <= _SAME:
        return _agreeing(ratio, n, exact)
    method: Method = "Welch's t on logs" if n < BOOTSTRAP_FROM else "unpaired bootstrap of logs"
    return _decided(ratio, unpaired_interval(a_logs, b_logs), n, method)


def paired_interval(logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the 95 % interval of the mean of `logs` along the last axis, which has at least two values.

    Student's t below 20 values, the symmetric bootstrap-t from 20 on: the quantile of |t| over resamples
    replaces that of Student. False positives in % of 6,000 A/A experiments with 20 and 40 pairs (5.0 is
    right; the percentile bootstrap, common and simpler, has too many):

        noise of the log ratios        Student      percentile     symmetric
        normal                       5.0   4.6      7.3   5.8      4.6   4.6
        heavy tails (t3 - t3)        4.6   4.0      8.3   6.1      3.8   3.6
        5 % outliers of 10 sd        3.3   2.9      8.2   7.8      2.6   1.9
        skewed (exponential)         8.4   6.5      9.8   7.2      6.2   5.2

    Below 20, Student, of 10,000 at n = 3, 5, 10: normal 5.1, 4.6, 5.0, heavy tails 4.0, 4.0, 4.2. Skewed
    differences require runs whose noise differs in shape, not only in size: then 11, 10 and 10.
    Power: with a noise of 4 % (1 sd of the log, as compaction CPU has), a difference of 20 % is detected in
    79 % of experiments with 3 pairs and 99.9 % with 5; with a noise of 8 %, in 34, 77 and (10 pairs) 99 %.
    """
    n = logs.shape[-1]
    centre, error = np.mean(logs, axis=-1), np.std(logs, axis=-1, ddof=1) / math.sqrt(n)
    quantile = np.broadcast_to(stats.t.ppf((1 + CONFIDENCE) / 2, n - 1), centre.shape)
    if n >= BOOTSTRAP_FROM:
        means, variances = _resampled(logs, _BOOTSTRAP_SEED)
        quantile = _bootstrap_quantile(means, variances, quantile)
    return centre - quantile * error, centre + quantile * error


def unpaired_interval(a_logs: np.ndarray, b_logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the 95 % interval of mean a - mean b along the last axis; at least two values on each side.

    Welch's t where the smaller group has fewer than 20, the symmetric bootstrap-t from 20 on. False
    positives in % of 10,000 A/A experiments with 3, 5, 10 and 20 runs per side: normal 3.6, 4.5, 4.6, 4.9;
    heavy tails (t3) 2.5, 3.6, 4.1, 4.0. With 5 runs per side, a difference of 20 % is detected in all of them
    at 4 % noise and in 87 % at 8 %: more often than with pairs, whose immunity to drift of the machine costs
    power.
    """
    a_n, b_n = a_logs.shape[-1], b_logs.shape[-1]
    a_part, b_part = np.var(a_logs, axis=-1, ddof=1) / a_n, np.var(b_logs, axis=-1, ddof=1) / b_n
    freedom = (a_part + b_part) ** 2 / (a_part**2 / (a_n - 1) + b_part**2 / (b_n - 1))
    quantile = np.asarray(stats.t.ppf((1 + CONFIDENCE) / 2, freedom))
    if min(a_n, b_n) >= BOOTSTRAP_FROM:
        a_means, a_variances = _resampled(a_logs, _BOOTSTRAP_SEED)
        b_means, b_variances = _resampled(b_logs, _BOOTSTRAP_SEED + 1)
        quantile = _bootstrap_quantile(a_means - b_means, a_variances + b_variances, quantile)
    centre, error = np.mean(a_logs, axis=-1) - np.mean(b_logs, axis=-1), np.sqrt(a_part + b_part)
    return centre - quantile * error, centre + quantile * error


def trend(at_s: Sequence[float], values: Sequence[float]) -> Trend:
    """Whether `values` rise over scenario time: "rises" where the interval of the slope is above 0.

    The interval is widened for the autocorrelation of the points, which temporary slowdowns of a machine
    cause; a drift through the whole run still counts as a rise. Above 1,500 points every k-th is used.
    Raises ValueError unless both have the same length.

    Series classified as rising in % of 2,000 (with 240 points: 400); of flat ones 2.5 is right and 5
    acceptable:

        points                             8     24     60    240
        flat, white noise of 30 %        1.7    1.5    1.6    1.5
        flat, heavy tails (t2)           1.6    1.7    1.8    2.0
        flat, 3 % spikes of 5x           1.6    1.0    1.7    2.5
        flat, AR(1), rho 0.3             3.4    2.9    2.1    2.2   (3.1, 6.1, 8.7, 5.0 if not widened)
        flat, AR(1), rho 0.6             7.2    4.4    3.1    3.0   (7.5, 12.2, 15.5, 13.3)
        rising by 20 %, noise 10 %      20     58     97    100
        rising by 50 %, noise 10 %      72     99.5  100    100
    """
    points = [(t / 3600, v) for t, v in zip(at_s, values, strict=True) if math.isfinite(v)]
    points = points[:: math.ceil(len(points) / _TREND_MAX_POINTS) or 1]
    hours, figures = np.array([t for t, _ in points]), np.array([v for _, v in points])
    if len(points) < _TREND_MIN_POINTS or len(set(hours)) < 2:
        return Trend(None, None, None, len(points), "flat or undecided")
    line = stats.theilslopes(figures, hours, alpha=CONFIDENCE)
    factor = variance_factor(figures - float(line.slope) * hours)
    if factor > 1:  # the function takes a confidence level: use the one whose interval is wider by the factor
        z = stats.norm.ppf((1 + CONFIDENCE) / 2) * math.sqrt(factor)
        line = stats.theilslopes(figures, hours, alpha=2 * stats.norm.sf(z))
    slope, low, high = float(line.slope), float(line.low_slope), float(line.high_slope)
    return Trend(slope, low, high, len(points), "rises" if low > 0 else "flat or undecided")


def variance_factor(residuals: np.ndarray) -> float:
    """How much autocorrelation increases the variance of Kendall's S; 1 for independent points.

    Hamed and Rao (J. Hydrology 204, 1998) sum the rank autocorrelations of the detrended points. Individual
    ones are too noisy below about 100 points, so they are derived from the first as those of an AR(1)
    process. Detrending biases the first by -(2 + 4 rho) / n (van Giersbergen, Economics Letters 89, 2005),
    which is corrected.
    """
    n = len(residuals)
    ranks = stats.rankdata(residuals)
    ranks = ranks - np.mean(ranks)
    spread = float(ranks @ ranks)
    if n < _AUTOCORRELATION_MIN_POINTS or spread == 0:
        return 1.0
    first = float(ranks[:-1] @ ranks[1:]) / spread
    rho = min(max((n * first + 2) / (n - 4), 0.0), _MAX_AUTOCORRELATION)
    lags = np.arange(1, n)
    weights = (n - lags) * (n - lags - 1) * (n - lags - 2.0)
    return float(1 + 2 / (n * (n - 1) * (n - 2)) * np.sum(weights * rho**lags))


def _without_noise(a: np.ndarray, b: np.ndarray, n: int, exact: bool | None) -> Comparison | None:
    """The cases that need no interval: figures that repeat by nature, and those without a logarithm."""
    if exact and np.all(a == a[0]) and np.all(b == b[0]):
        return _exact(float(a[0]), float(b[0]), n)
    if not a.any() and not b.any():
        return _exact(0.0, 0.0, n)
    if np.any(a <= 0) or np.any(b <= 0):
        return _undecided(None, n, "values of zero or below have no ratio")
    return None


def _exact(a: float, b: float, n: int) -> Comparison:
    verdict: Verdict = "more" if a > b else "less" if a < b else "equal"
    if b == 0:
        reason = "both values are 0" if a == 0 else "the value it is compared with is 0"
        return Comparison(None, None, None, n, "exact", verdict, reason)
    return Comparison(a / b, a / b, a / b, n, "exact", verdict)


def _agreeing(ratio: float, n: int, exact: bool | None) -> Comparison:
    """Runs whose values do not vary."""
    if exact is False:
        return _undecided(ratio, n, "all runs agree to the last digit, so noise cannot be estimated")
    return _exact(1.0 if abs(math.log(ratio)) <= _SAME else ratio, 1.0, n)


def _undecided(ratio: float | None, n: int, reason: str) -> Comparison:
    return Comparison(ratio, None, None, n, "none", "undecided", reason)


def _decided(ratio: float, interval: tuple[np.ndarray, np.ndarray], n: int, method: Method) -> Comparison:
    low, high = (math.exp(float(end)) for end in interval)
    verdict: Verdict = "more" if low > 1 else "less" if high < 1 else "undecided"
    return Comparison(ratio, low, high, n, method, verdict)


@lru_cache(maxsize=8)
def _weights(n: int, seed: int) -> np.ndarray:
    """A row per resample: the share of each of n values. Seeded, so that results are reproducible."""
    drawn = np.random.default_rng(seed).integers(0, n, (BOOTSTRAP_RESAMPLES, n))
    return np.stack([np.bincount(row, minlength=n) for row in drawn]) / n


def _resampled(logs: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Means of the resamples minus the mean of `logs`, and their squared standard errors."""
    n = logs.shape[-1]
    centred, weights = logs - np.mean(logs, axis=-1, keepdims=True), _weights(n, seed).T
    means = centred @ weights
    return means, np.maximum(centred**2 @ weights - means**2, 0) / (n - 1)


def _bootstrap_quantile(means: np.ndarray, variances: np.ndarray, student: np.ndarray) -> np.ndarray:
    """The quantile of |t| over the resamples; Student's where too many of them do not vary."""
    varies = variances > 1e-12 * np.mean(variances, axis=-1, keepdims=True)
    squares = np.divide(means**2, variances, out=np.full_like(means, np.inf), where=varies)
    rank = math.ceil(CONFIDENCE * BOOTSTRAP_RESAMPLES) - 1
    quantile = np.sqrt(np.partition(squares, rank, axis=-1)[..., rank])
    return np.where(np.isfinite(quantile), quantile, student)
