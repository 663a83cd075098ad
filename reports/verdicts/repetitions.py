"""How many repetitions an undecided comparison needs, and how long they take."""

import math
from statistics import fmean

from scipy import stats

from reports.data.group import RunGroup
from reports.verdicts.compare import CONFIDENCE, Comparison
from reports.verdicts.pairs import ended_s, started_s

FEWEST = 3  # repetitions below which noise cannot be estimated in any useful way
MOST = 30  # repetitions that anybody will run
_POWER = 0.8  # how likely a difference as large as the one seen is to be decided


def needed(comparison: Comparison, family: int = 1) -> int | None:
    """Repetitions after which a difference like this would probably be decided; None above `MOST`.

    The true ratio and noise are taken to be those measured: with n repetitions the difference is detected in
    four of five cases if its logarithm exceeds (t(1 - 2.5 % / family, n - 1) + z(80 %)) standard errors.
    `family` is the number of comparisons that its verdict is corrected for, taken as if it had the smallest
    p-value of them. The noise of a comparison without an interval is unknown, so the answer is `FEWEST`.
    """
    if not comparison.ratio or not comparison.error:
        return FEWEST
    tail = 1 - (1 - CONFIDENCE) / 2 / max(family, 1)
    difference, noise = abs(math.log(comparison.ratio)), comparison.error * math.sqrt(comparison.n)
    for n in range(max(FEWEST, comparison.n + 1), MOST + 1):
        quantile = stats.t.ppf(tail, n - 1) + stats.norm.ppf(_POWER)
        if difference > float(quantile) * noise / math.sqrt(n):
            return n
    return None


def minutes(group: RunGroup, repetitions: int) -> float | None:
    """Minutes that so many repetitions of all strategies take, judging by the runs; None if unknown."""
    by_strategy = (
        [ended_s(run) - started_s(run) for run in group.usable_runs
         if run.manifest.strategy == label and run.end is not None]
        for label in group.strategies
    )  # fmt: skip
    known = [fmean(max(wall_s, 0.0) for wall_s in walls_s) for walls_s in by_strategy if walls_s]
    return repetitions * sum(known) / 60 if any(known) else None
