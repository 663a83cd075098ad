"""Whether two groups of runs differ.

Counts that repeat are exact. Bytes repeat except for how well rows compress, so they have a tolerance.
Timings have multiplicative noise that is skewed to the right, so their ratios are taken on the log scale and
have an interval from three runs per side on: in pairs if the runs were made close together (`compare`),
otherwise as groups (`compare_unpaired`). Figures of a cost model are modelled, whatever their kind.

Sources: ratios summarised by their geometric mean, Fleming and Wallace, CACM 29(3), 1986; the t-interval on
log values transformed back into one of the ratio, Bland and Altman, BMJ 312:1153, 1996; groups of unequal
variance, Welch, Biometrika 34, 1947; several comparisons, Holm, Scand. J. Statist. 6, 1979.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy import stats

from bench.results.metrics import MIN_RUNS
from bench.text import human_percent

CONFIDENCE = 0.95
SAME = 1e-9  # of a ratio: less than the order of a sum may change, or a clock resolves

Verdict = Literal["more", "less", "equal", "undecided"]
Method = Literal[
    "exact", "tolerance", "modelled", "paired t on log ratios", "Welch's t on logs", "t on means of sittings",
    "none",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a relates to b. `ratio` is that of the geometric means, `low`..`high` its 95 % interval.

    n: the number of pairs, or of runs in the smaller of two unpaired groups. An exact ratio is both ends of
    its interval; bytes have their tolerance on both sides. verdict: "more" or "less" if the interval excludes
    1, "equal" if figures without noise agree (within their tolerance), otherwise "undecided"; `reason`
    explains a missing interval. `error` is the standard error of the log ratio and `freedom` its degrees of
    freedom, if noise was measured. `adjusted_p` is the p-value after correction for several comparisons
    (`corrected`).
    """

    ratio: float | None
    low: float | None
    high: float | None
    n: int
    method: Method
    verdict: Verdict
    reason: str = ""
    error: float | None = None
    freedom: float | None = None
    tolerance: float | None = None
    adjusted_p: float | None = None

    @property
    def is_retracted(self) -> bool:
        """Whether the interval excludes 1 but the verdict did not survive the correction."""
        if self.adjusted_p is None or self.low is None or self.high is None:
            return False
        return self.verdict == "undecided" and verdict_of(self.low, self.high) != "undecided"

    @property
    def p(self) -> float | None:
        """Two-sided: how often noise alone gives a ratio at least this far from 1; None without noise."""
        above, below = self.p_beyond(1.0, above=True), self.p_beyond(1.0, above=False)
        return None if above is None or below is None else min(1.0, 2 * min(above, below))

    def p_beyond(self, limit: float, *, above: bool) -> float | None:
        """One-sided: how often noise gives this ratio, or one further beyond, if the true one is `limit`."""
        if not self.ratio or not self.error or self.freedom is None:
            return None
        distance = (math.log(self.ratio) - math.log(limit)) / self.error
        return float(stats.t.sf(distance if above else -distance, self.freedom))

    @property
    def words(self) -> str:
        """The verdict as it is printed: "more", "equal within 2 %", "indistinguishable", "undecided", ..."""
        if self.verdict == "equal" and self.tolerance:
            return f"equal within {human_percent(self.tolerance)}"
        if self.verdict == "undecided" and self.low is not None and not self.reason:
            return "indistinguishable"
        return self.verdict


def compare(a_values: Sequence[float], b_values: Sequence[float]) -> Comparison:
    """Compare timings of two groups in pairs, given in the same order of repetitions.

    Raises ValueError unless both groups have the same length.
    """
    pairs = list(zip(a_values, b_values, strict=True))
    n = len(pairs)
    if n == 0:
        return _undecided(None, 0, "no pair of runs to compare")
    a, b = (np.array(values, float) for values in zip(*pairs, strict=True))
    without_ratio = _without_ratio(a, b, n)
    if without_ratio is not None:
        return without_ratio
    logs = np.log(a / b)
    ratio = math.exp(float(np.mean(logs)))
    if n < MIN_RUNS:
        pair = "1 pair" if n == 1 else f"{n} pairs"
        return _undecided(ratio, n, f"{pair} of runs; an interval needs {MIN_RUNS}")
    if np.ptp(logs) <= SAME:
        return _without_spread(ratio, n)
    error = float(stats.sem(logs))
    return _decided(ratio, paired_interval(logs), n, "paired t on log ratios", error, n - 1)


def compare_unpaired(
    a_values: Sequence[float],
    b_values: Sequence[float],
    sitting_variance: float = 0.0,
    sitting_freedom: float = math.inf,
) -> Comparison:
    """Compare timings of two groups of runs that were not made close together.

    `sitting_variance` widens the interval for the effect of sittings: see `unpaired_interval`.
    """
    a, b = np.array(a_values, float), np.array(b_values, float)
    n = min(len(a), len(b))
    if n == 0:
        reason = "one side has no value" if len(a) or len(b) else "neither side has a value"
        return _undecided(None, 0, reason)
    without_ratio = _without_ratio(a, b, n)
    if without_ratio is not None:
        return without_ratio
    a_logs, b_logs = np.log(a), np.log(b)
    ratio = math.exp(float(np.mean(a_logs) - np.mean(b_logs)))
    if n < MIN_RUNS:
        return _undecided(ratio, n, f"{_runs(len(a), len(b))}; an interval needs {MIN_RUNS} on each side")
    if max(np.ptp(a_logs), np.ptp(b_logs)) <= SAME:
        return _without_spread(ratio, n)
    error, freedom = _unpaired_error(a_logs, b_logs, sitting_variance, sitting_freedom)
    ends = unpaired_interval(a_logs, b_logs, sitting_variance, sitting_freedom)
    return _decided(ratio, ends, n, "Welch's t on logs", float(error), float(freedom))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values, in the given order: those up to 0.05 hold jointly with an error of at most 5 %.

    Of m, the smallest is multiplied by m, the next by m - 1, and so on; none is below the one before it.
    """
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def corrected(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """The comparisons with verdicts that hold jointly with an error of 5 %, by Holm's method; intervals stay.

    Comparisons without noise (exact, modelled), with a tolerance or without an interval are left as they are
    and do not count. Correcting again what was corrected before changes nothing.
    """
    noisy = ((index, c.p) for index, c in enumerate(comparisons) if c.method != "tolerance")
    by_index = {index: p for index, p in noisy if p is not None}
    adjusted, made = holm(list(by_index.values())), list(comparisons)
    for index, p in zip(by_index, adjusted, strict=True):
        verdict, reason = verdict_of(made[index].low or 0.0, made[index].high or math.inf), ""
        if verdict != "undecided" and len(adjusted) > 1 and p > 1 - CONFIDENCE:
            verdict, reason = "undecided", f"not proven after correction for {len(adjusted)} comparisons"
        made[index] = replace(made[index], verdict=verdict, reason=reason, adjusted_p=p)
    return made


def verdict_of(low: float, high: float) -> Verdict:
    return "more" if low > 1 else "less" if high < 1 else "undecided"


def paired_interval(logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends of Student's 95 % interval of the mean of `logs` along the last axis, of at least two values.

    False positives in % of 10,000 A/A experiments with 3, 5 and 10 pairs, and of 6,000 with 20 and 40 (5.0 is
    right): normal noise 5.1, 4.6, 5.0, 5.0, 4.6; heavy tails (t3 - t3) 4.0, 4.0, 4.2, 4.6, 4.0. Skewed
    differences require runs whose noise differs in shape, not only in size: then 11, 10, 10, 8.4 and 6.5.
    Power: with a noise of 4 % (1 sd of the log, as compaction CPU has), a difference of 20 % is detected in
    79 % of experiments with 3 pairs and 99.9 % with 5; with a noise of 8 %, in 34, 77 and (10 pairs) 99 %.
    """
    low, high = stats.ttest_1samp(logs, 0.0, axis=-1).confidence_interval(CONFIDENCE)
    return np.asarray(low), np.asarray(high)


def unpaired_interval(
    a_logs: np.ndarray, b_logs: np.ndarray, sitting_variance: float = 0.0, sitting_freedom: float = math.inf
) -> tuple[np.ndarray, np.ndarray]:
    """Ends of Welch's 95 % interval of mean a - mean b along the last axis; at least two values on each side.

    `sitting_variance` is what the sittings of the runs add to the variance of the difference, with
    `sitting_freedom` degrees of freedom; see `reports.verdicts.sittings`.

    False positives in % of 10,000 A/A experiments with 3, 5, 10 and 20 runs per side: normal 3.6, 4.5, 4.6,
    4.9; heavy tails (t3) 2.5, 3.6, 4.1, 4.0. With 5 runs per side, a difference of 20 % is detected in all of
    them at 4 % noise and in 87 % at 8 %. That is more often than with pairs, which are immune to drift of the
    machine at the price of power.
    """
    centre = np.mean(a_logs, axis=-1) - np.mean(b_logs, axis=-1)
    error, freedom = _unpaired_error(a_logs, b_logs, sitting_variance, sitting_freedom)
    low, high = stats.t.interval(CONFIDENCE, freedom, centre, error)
    return np.asarray(low), np.asarray(high)


def _unpaired_error(
    a_logs: np.ndarray, b_logs: np.ndarray, sitting_variance: float, sitting_freedom: float
) -> tuple[np.ndarray, np.ndarray]:
    """Standard error of mean a - mean b along the last axis, and its (Satterthwaite) degrees of freedom.

    `scipy.stats.ttest_ind` has no place for the variance of sittings; without it the two agree.
    """
    a_n, b_n = a_logs.shape[-1], b_logs.shape[-1]
    a_part, b_part = stats.sem(a_logs, axis=-1) ** 2, stats.sem(b_logs, axis=-1) ** 2
    variance = a_part + b_part + sitting_variance
    parts = a_part**2 / (a_n - 1) + b_part**2 / (b_n - 1) + sitting_variance**2 / sitting_freedom
    return np.sqrt(variance), variance**2 / parts


def _without_ratio(a: np.ndarray, b: np.ndarray, n: int) -> Comparison | None:
    """The comparison of timings that have no logarithm; None if all have one.

    If all timings of a side are 0, nothing happened there, which is certain.
    """
    if (not a.any() and np.all(b >= 0)) or (not b.any() and np.all(a > 0)):
        return exact(float(np.mean(a)), float(np.mean(b)), n)
    if np.any(a <= 0) or np.any(b <= 0):
        return _undecided(None, n, "values of zero or below have no ratio")
    return None


def exact(a: float, b: float, n: int) -> Comparison:
    """The comparison of two certain figures; n is the number of runs behind each."""
    verdict: Verdict = "more" if a > b else "less" if a < b else "equal"
    if b == 0:
        reason = "both values are 0" if a == 0 else "the value it is compared with is 0"
        return Comparison(None, None, None, n, "exact", verdict, reason)
    return Comparison(a / b, a / b, a / b, n, "exact", verdict)


def _without_spread(ratio: float, n: int) -> Comparison:
    return _undecided(ratio, n, "all runs agree to the last digit, so noise cannot be estimated")


def _undecided(ratio: float | None, n: int, reason: str) -> Comparison:
    return Comparison(ratio, None, None, n, "none", "undecided", reason)


def _decided(
    ratio: float, logs: tuple[np.ndarray, np.ndarray], n: int, method: Method, error: float, freedom: float
) -> Comparison:
    low, high = (math.exp(float(end)) for end in logs)
    return Comparison(ratio, low, high, n, method, verdict_of(low, high), error=error, freedom=freedom)


def _runs(a: int, b: int) -> str:
    runs = "1 run" if a == 1 else f"{a} runs"
    return runs if a == b else f"{runs} against {b}"
