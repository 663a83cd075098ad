"""Whether queries get slower in the course of a run, and whether the table explains it.

Latency is judged against a control: a query of constant work at the same tick. What changes both alike, above
all the compiler that makes a young JVM faster, cancels in their ratio. If it changes one more than the other,
the difference remains: a trend of a few per cent may be the compiler's.

Sources: the slope and its interval, Theil, 1950, and Sen, JASA 63, 1968, as `scipy.stats.theilslopes`
computes them; autocorrelation, Hamed and Rao, J. Hydrology 204, 1998, and van Giersbergen, Economics Letters
89, 2005; non-negative least squares, Lawson and Hanson, 1974, as `scipy.optimize.nnls` computes them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import optimize, stats

CONFIDENCE = 0.95
MIN_RUNS = 3  # whose slopes have a spread to speak of
_MIN_POINTS = 5  # even a strict rise of 4 points is not significant: 2 of their 24 orders are that extreme
_MAX_POINTS = 1_500  # Sen's method holds all pairs in memory
_AUTOCORRELATION_MIN_POINTS = 10  # with fewer, the estimate is worse than none
_MAX_AUTOCORRELATION = 0.95
_BASE_MIN = 0.01  # of the median latency: a query of an empty table takes some time too
_LEAST_LEVEL = 1e-300  # of confidence: below it an interval has no ends that a number could hold
_MAX_INFLATION = 1e6  # of a variance: what returns with time cannot be told from time itself

TrendVerdict = Literal["rises with the table", "rises", "flat or undecided", "cannot tell"]


@dataclass(frozen=True, slots=True)
class Trend:
    """`ratio`: by what factor latency, against the control, grows from the first to the last of n points.

    It is what remains when the comings and goings of files are taken out, with its 95 % interval; None where
    there are too few points. verdict: "rises with the table" where it rises and what the table holds explains
    it, "rises" where something is left unexplained, "cannot tell" without control queries.
    """

    ratio: float | None
    low: float | None
    high: float | None
    n: int
    verdict: TrendVerdict
    reason: str = ""

    @property
    def is_rising(self) -> bool:
        """Whether queries get slower, for whatever reason."""
        return self.verdict in ("rises", "rises with the table")


def trend_of_runs(runs: Sequence["TrendSeries"], together: "TrendSeries") -> Trend:
    """The trend of several runs: the mean of their slopes, with Student's interval, from three runs on.

    The points of a run share its mood, so averaging the runs first and judging their points takes moods for
    trends. Of fewer runs than three, the series of their means, `together`, is all there is. The table
    explains a rise if it explains that of their means. Said to rise, in % of 200 groups of three runs of 60
    points on a flat table, 8 % of noise, with slopes that differ by 15 % (1 sd of the log) between runs:

        true rise   means of the runs   their slopes
              0 %                24.0            1.5
             50 %               100.0           62.5

    Reproduced by `make noise`. With slopes that differ by 5 %, a rise of 50 % is always found.
    """
    mean = together.trend()
    logs = [math.log(one.ratio) for one in (run.trend() for run in runs) if one.ratio]
    if len(logs) < MIN_RUNS or len(logs) < len(runs):
        return mean
    centre, error = float(np.mean(logs)), float(np.std(logs, ddof=1)) / math.sqrt(len(logs))
    reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(logs) - 1)) * error
    verdict: TrendVerdict = "flat or undecided"
    if centre - reach > 0:
        verdict = "rises with the table" if mean.verdict == "rises with the table" else "rises"
    return Trend(math.exp(centre), _factor(centre - reach), _factor(centre + reach), mean.n, verdict)


@dataclass(frozen=True, slots=True)
class TrendSeries:
    """What a trend is judged on, point by point in order of time.

    Scenario seconds, the latency and the control's (seconds each), and for each thing the table holds (data
    files, delete files, bytes) how much of it there was.
    """

    at_s: tuple[float, ...] = ()
    values: tuple[float, ...] = ()
    control: tuple[float, ...] = ()
    holdings: tuple[tuple[float, ...], ...] = ()

    def trend(self) -> Trend:
        """The trend of the series; without a point there was no control query."""
        return trend(self.at_s, self.values, self.control or None, self.holdings)


def trend(
    at_s: Sequence[float],
    values: Sequence[float],
    control: Sequence[float] | None,
    holdings: Sequence[Sequence[float]] = (),
) -> Trend:
    """Whether `values` rise against `control` over scenario time, and whether `holdings` explain it.

    A point with a value that is not finite, or a latency of 0 or below, is left out; above 1,500 points every
    k-th is used. Raises ValueError unless all series have the same length.

    1. Holdings that come and go, as files do between compactions, are taken out of the latencies: each costs
       what a fit of latency = base + time + holdings (no part below 0) says. A holding has grown, rather than
       come and gone, if most of its last third is above all of its first third.
    2. A rise is a Theil-Sen slope of log(latency / control) whose 95 % interval is above 0. The interval is
       widened for autocorrelation, and for what step 1 may have taken out by mistake.
    3. Holdings that have grown explain a rise if no slope is left once their share is taken out. Since no
       part of a latency is below 0, a table twice as large explains at most twice the latency.

    Series said to rise, in % of 200; latency and control each with 8 % of noise (1 sd of the log), both
    falling by 35 % as the JVM warms up. "Before" is the slope of the latency alone:

    what the table holds  true rise   before    after   12 probes   autocorrelated 0.3
    flat                        0 %      0.0      2.5         1.5                  0.5
    flat                       20 %      0.0     92.0        19.0                 75.0
    flat                       50 %     13.0    100.0        67.5                100.0
    bytes grow                  0 %      0.0      2.0         0.5                  4.0
    bytes grow                 20 %      0.0     93.5        19.5                 69.0
    bytes grow                 50 %     12.0    100.0        71.0                100.0
    sawtooth of 10              0 %      0.0      2.5         2.0                  4.5
    sawtooth of 10             20 %      0.0     93.5        17.5                 69.5
    sawtooth of 10             50 %      0.0    100.0        60.5                100.0
    sawtooth of 30              0 %      0.0      2.0         0.5                  2.0
    sawtooth of 30             20 %      0.0     72.5        12.5                 54.5
    sawtooth of 30             50 %      0.0    100.0        46.0                 99.5
    sawtooth of 17              0 %      0.0      1.5         0.5                  3.5
    sawtooth of 17             20 %      0.0     90.5        16.5                 71.0
    sawtooth of 17             50 %      0.0    100.0        72.0                100.0
    files grow                  0 %    100.0    100.0        85.5                100.0
    files grow                 20 %    100.0    100.0        90.0                100.0
    files grow                 50 %    100.0    100.0        87.0                100.0

    Reproduced by `make noise`.

    A holding that grows all the time (the bytes of a table that is only appended to) cannot be told from
    time: such a rise is said to be the table's.
    """
    if control is None:
        return Trend(None, None, None, 0, "cannot tell", "no control query was recorded")
    points = np.array(list(zip(at_s, values, control, *holdings, strict=True)), float)
    points = points.reshape(-1, 3 + len(holdings))
    points = points[np.isfinite(points).all(axis=1) & (points[:, 1:3] > 0).all(axis=1)]
    points = points[:: math.ceil(len(points) / _MAX_POINTS) or 1]
    if len(points) < _MIN_POINTS or np.ptp(points[:, 0]) == 0:
        return Trend(None, None, None, len(points), "flat or undecided", f"fewer than {_MIN_POINTS} points")
    when = (points[:, 0] - points[0, 0]) / (points[-1, 0] - points[0, 0])  # 0 to 1
    latency = points[:, 1] / points[:, 2]
    held = [column / np.max(np.abs(column)) for column in points[:, 3:].T if np.ptp(column) > 0]
    grown = [column for column in held if has_grown(column)]
    returning = [column for column in held if not has_grown(column)]
    steady = _without(latency, when, returning, grown)
    slope, low, high = _slope(when, np.log(steady), _inflation(when, returning))
    verdict: TrendVerdict = "flat or undecided"
    if low > 0:
        verdict = "rises with the table" if _is_explained(when, steady, grown) else "rises"
    return Trend(math.exp(slope), _factor(low), _factor(high), len(points), verdict)


def has_grown(held: np.ndarray) -> bool:
    """Whether three quarters of the last third of a series are above all of its first third."""
    third = math.ceil(len(held) / 3)
    return bool(np.quantile(held[-third:], 0.25) > np.max(held[:third]))


def _without(
    latency: np.ndarray, when: np.ndarray, returning: Sequence[np.ndarray], grown: Sequence[np.ndarray]
) -> np.ndarray:
    """The latencies as they would be if every returning holding always had its mean."""
    if not returning:
        return latency
    others = np.column_stack([when, 1 - when, *grown])
    columns = np.column_stack(returning)
    costs = _fit(latency, np.column_stack([others, columns]))
    of_others = np.maximum(others @ costs[: others.shape[1]], _BASE_MIN * np.median(latency))
    of_returning = columns @ costs[others.shape[1] :]
    steady: np.ndarray = latency * (of_others + np.mean(of_returning)) / (of_others + of_returning)
    return steady


def _is_explained(when: np.ndarray, latency: np.ndarray, grown: Sequence[np.ndarray]) -> bool:
    """Whether no slope is left once the share of the holdings that have grown is taken out."""
    if not grown:
        return False
    columns = np.column_stack([np.ones_like(when), *grown])
    expected = np.maximum(columns @ _fit(latency, columns), _BASE_MIN * np.median(latency))
    return _slope(when, np.log(latency / expected))[1] <= 0


def _fit(latency: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Non-negative least squares of relative errors, among which a slow moment counts little."""
    costs: np.ndarray
    costs, _ = optimize.nnls(columns / latency[:, None], np.ones_like(latency))
    return costs


def _inflation(when: np.ndarray, returning: Sequence[np.ndarray]) -> float:
    """By how much the variance of a slope grows since it is fitted together with the returning holdings."""
    if not returning:
        return 1.0
    columns = np.column_stack([np.ones_like(when), *returning])
    rest = when - columns @ np.linalg.lstsq(columns, when, rcond=None)[0]
    left = float(rest @ rest) / float(np.sum((when - np.mean(when)) ** 2))
    return min(1 / left, _MAX_INFLATION) if left > 0 else _MAX_INFLATION


def _slope(when: np.ndarray, figures: np.ndarray, inflation: float = 1.0) -> tuple[float, float, float]:
    """Theil and Sen's slope, and its interval, widened for the dependence of the points."""
    line = stats.theilslopes(figures, when, alpha=CONFIDENCE)
    factor = inflation * variance_factor(figures - float(line.slope) * when)
    if factor > 1:  # the function takes a confidence level: use the one whose interval is wider by the factor
        level = 2 * stats.norm.sf(stats.norm.ppf((1 + CONFIDENCE) / 2) * math.sqrt(factor))
        if level < _LEAST_LEVEL:
            return float(line.slope), -math.inf, math.inf
        line = stats.theilslopes(figures, when, alpha=level)
    return float(line.slope), float(line.low_slope), float(line.high_slope)


def _factor(log: float) -> float | None:
    """The factor of a log; None where the points do not bound it."""
    return math.exp(log) if math.isfinite(log) and abs(log) < 700 else None


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
