"""Whether figures that repeat differ: counts, bytes, and figures of a cost model.

A count is exact. Bytes repeat except for the order of rows within merged files, which changes how well they
compress, and for paths and timestamps, so they have a tolerance. A model repeats to the last digit but is not
that good.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from bench.results.metrics import MIN_RUNS
from reports.verdicts.compare import SAME, Comparison, Method, Verdict, exact
from reports.verdicts.confidence import TWO_SIDED, reach

BYTES_TOLERANCE = 0.02  # of a ratio; equal runs of `quickstart` differ by up to 1 % in bytes
MODELLED_TOLERANCE = 0.02  # of a ratio of modelled figures: a model is no better than that
WITHIN_THE_MODELS_ERROR = "the difference is within the error of the model"

Basis = Literal["count", "bytes", "timing"]


@dataclass(frozen=True, slots=True)
class BytesNoise:
    """How far bytes of equal runs are apart: `sd` of their logs, with its degrees of freedom.

    sd is None if no strategy has three runs; `spread` is then the largest difference of two, as a share.
    """

    sd: float | None = None
    freedom: int = 0
    spread: float = 0.0

    def tolerance(self, a_runs: int, b_runs: int) -> float:
        """By what share means over so many runs may differ; the default if no strategy has three runs."""
        if self.sd is None:
            return max(BYTES_TOLERANCE, self.spread)
        return math.expm1(reach(self.freedom) * self.error(a_runs, b_runs))

    def error(self, a_runs: int, b_runs: int) -> float:
        """Standard error of the log of a ratio of means."""
        return (self.sd or 0.0) * math.sqrt(1 / a_runs + 1 / b_runs)


def bytes_noise(by_strategy: Sequence[Sequence[float]]) -> BytesNoise:
    """The noise of the noisiest strategy, since one that never compacts has none."""
    logs = [np.log(values) for values in by_strategy if len(values) and min(values) > 0]
    measured = [(float(np.std(own, ddof=1)), len(own) - 1) for own in logs if len(own) >= MIN_RUNS]
    if measured:
        return BytesNoise(*max(measured))
    return BytesNoise(spread=max((math.expm1(float(np.ptp(own))) for own in logs), default=0.0))


def compare_counts(a_values: Sequence[float], b_values: Sequence[float]) -> Comparison | None:
    """Compare counts; None if they do not repeat, or if a side has none."""
    if not a_values or not b_values or len({*a_values}) > 1 or len({*b_values}) > 1:
        return None
    return exact(a_values[0], b_values[0], min(len(a_values), len(b_values)))


def compare_bytes(
    a_values: Sequence[float], b_values: Sequence[float], noise: BytesNoise
) -> Comparison | None:
    """Compare bytes; None if a side has no value. Values within the tolerance are equal.

    The tolerance is the margin of a 95 % interval with the noise of the noisiest strategy. So equal
    strategies are called different in at most 5 % of cases, and in fewer if their bytes repeat better.
    """
    if not a_values or not b_values:
        return None
    runs = (len(a_values), len(b_values))
    comparison = _within(a_values, b_values, "tolerance", noise.tolerance(*runs))
    if comparison.tolerance is None or not noise.sd:
        return comparison
    return replace(comparison, error=noise.error(*runs), freedom=float(noise.freedom))


def compare_modelled(
    a_values: Sequence[float], b_values: Sequence[float], basis: Basis, error: float | None = None
) -> Comparison | None:
    """Compare figures of a cost model; None if a side has no value.

    Counts differ as they do. Modelled bytes and seconds repeat to the last digit, but the model is not that
    good: within 2 % they are equal. If it is known by how much its ratios are off (`error`, a standard
    deviation of their logarithm), a ratio of seconds has an interval of that width.
    """
    if not a_values or not b_values:
        return None
    tolerance = 0.0 if basis == "count" else MODELLED_TOLERANCE
    comparison = _within(a_values, b_values, "modelled", tolerance)
    if basis != "timing" or error is None or comparison.ratio is None or comparison.ratio == 1:
        return comparison
    factor = max(math.exp(TWO_SIDED * error), 1 + tolerance)
    low, high = comparison.ratio / factor, comparison.ratio * factor
    decided = replace(comparison, low=low, high=high, tolerance=None)
    if low > 1 or high < 1:
        return decided
    return replace(decided, verdict="undecided", reason=WITHIN_THE_MODELS_ERROR)


def _within(
    a_values: Sequence[float], b_values: Sequence[float], method: Method, tolerance: float
) -> Comparison:
    """A comparison without an interval: equal if the ratio is within the tolerance."""
    n = min(len(a_values), len(b_values))
    if min(*a_values, *b_values) <= 0:
        comparison = exact(float(np.mean(a_values)), float(np.mean(b_values)), n)
        return replace(comparison, method=method) if method == "modelled" else comparison
    ratio = math.exp(float(np.mean(np.log(a_values)) - np.mean(np.log(b_values))))
    ratio = 1.0 if abs(math.log(ratio)) <= SAME else ratio
    low, high = ratio / (1 + tolerance), ratio * (1 + tolerance)
    verdict: Verdict = "more" if low > 1 else "less" if high < 1 else "equal"
    return Comparison(ratio, low, high, n, method, verdict, tolerance=tolerance)
