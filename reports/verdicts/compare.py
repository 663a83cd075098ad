"""Whether two groups of runs differ.

Counts that repeat are exact. Bytes repeat except for how well rows compress, so they have a tolerance.
Timings have multiplicative noise that is skewed to the right, so their ratios are taken on the log scale and
have an interval from three runs per side on (`reports.verdicts.timings`). Figures of a cost model are
modelled, whatever their kind.

Sources: ratios summarised by their geometric mean, Fleming and Wallace, CACM 29(3), 1986; the t-interval on
log values transformed back into one of the ratio, Bland and Altman, BMJ 312:1153, 1996; several comparisons,
Holm, Scand. J. Statist. 6, 1979.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from scipy.special import stdtr

from bench.text import human_percent
from reports.verdicts.confidence import CONFIDENCE

MODERATED: Final = "moderated t"
AT_EQUAL_SPEED: Final = "moderated t at equal speed"  # of the machine, by its fixed work
SAME = 1e-9  # of a ratio: less than the order of a sum may change, or a clock resolves

Verdict = Literal["more", "less", "equal", "undecided"]
Method = Literal[
    "exact", "tolerance", "modelled", "moderated t", "moderated t at equal speed", "t on means of sittings",
    "none",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a relates to b. `ratio` is that of the geometric means, `low`..`high` its 95 % interval.

    n: the number of runs on the side that has fewer. An exact ratio is both ends of its interval; bytes have
    their tolerance on both sides. verdict: "more" or "less" if the interval excludes 1, "equal" if figures
    without noise agree (within their tolerance), otherwise "undecided"; `reason` explains a missing interval.
    `error` is the standard error of the log ratio and `freedom` its degrees of freedom, if noise was
    measured; more runs in the same sittings do not lower it below `floor`. `adjusted_p` is the p-value after
    correction for several comparisons (`corrected`).
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
    floor: float = 0.0
    tolerance: float | None = None
    adjusted_p: float | None = None

    @property
    def has_interval(self) -> bool:
        """Whether the ratio has an interval from noise, or from the errors of a model."""
        return self.low is not None and self.low != self.high and self.tolerance is None

    @property
    def is_decided(self) -> bool:
        return self.verdict in ("more", "less")

    @property
    def is_rough(self) -> bool:
        """Whether it comes from a model, and nothing is known of how far that is off."""
        return self.method == "modelled" and not self.has_interval

    @property
    def contains_1(self) -> bool:
        """Whether the interval contains 1, or figures without noise agree (within their tolerance)."""
        if self.low is None or self.high is None:
            return self.verdict == "equal" or self.ratio == 1
        return verdict_of(self.low, self.high) == "undecided"

    @property
    def is_retracted(self) -> bool:
        """Whether the interval excludes 1 but the verdict did not survive the correction."""
        return self.adjusted_p is not None and self.verdict == "undecided" and not self.contains_1

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
        return float(stdtr(self.freedom, -distance if above else distance))

    @property
    def words(self) -> str:
        """The verdict as it is printed: "more", "equal within 2 %", "undecided", ..."""
        if self.verdict == "equal" and self.tolerance:
            return f"equal within {human_percent(self.tolerance)}"
        return self.verdict


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


def exact(a: float, b: float, n: int) -> Comparison:
    """The comparison of two certain figures; n is the number of runs behind each."""
    verdict: Verdict = "more" if a > b else "less" if a < b else "equal"
    if b == 0:
        reason = "both values are 0" if a == 0 else "the value it is compared with is 0"
        return Comparison(None, None, None, n, "exact", verdict, reason)
    return Comparison(a / b, a / b, a / b, n, "exact", verdict)


def undecided(ratio: float | None, n: int, reason: str) -> Comparison:
    return Comparison(ratio, None, None, n, "none", "undecided", reason)
