"""How many repetitions an undecided comparison needs, and how long they take."""

import math
from statistics import fmean

from scipy.special import ndtri, stdtrit

from bench.results.sittings import ended_s, started_s
from reports.data.group import RunGroup
from reports.verdicts.compare import Comparison
from reports.verdicts.confidence import CONFIDENCE

FEWEST = 3  # repetitions below which noise cannot be estimated in any useful way
MOST = 30  # repetitions that anybody will run
_POWER = 0.8  # how likely a difference as large as the one seen is to be decided


def needed(comparison: Comparison, family: int = 1, limit: float = 1.0) -> int | None:
    """Repetitions after which a ratio like this would probably be told from `limit`; None above `MOST`.

    `family` is the number of comparisons that its verdict is corrected for, taken as if it had the smallest
    p-value of them. The noise of a comparison without an interval is unknown, so the answer is `FEWEST`.
    """
    if not comparison.ratio:
        return FEWEST
    return _first(comparison, math.log(comparison.ratio / limit), family, max(FEWEST, comparison.n + 1))


def needed_for_equals(comparison: Comparison, limit: float, family: int) -> int | None:
    """Repetitions after which two equals with this noise would probably be told from a ratio of `limit`."""
    return _first(comparison, math.log(limit), family, FEWEST)


def _first(comparison: Comparison, distance: float, family: int, fewest: int) -> int | None:
    """The first number of repetitions, from `fewest` on, that shows such a distance of logs.

    The noise is taken to be that measured: with n repetitions a distance is detected in four of five cases if
    it exceeds (t(1 - 2.5 % / family) + z(80 %)) standard errors. Each repetition adds at least two degrees of
    freedom, one for either side.
    """
    if not comparison.error or comparison.freedom is None:
        return FEWEST
    tail = 1 - (1 - CONFIDENCE) / 2 / max(family, 1)
    of_one = (comparison.error**2 - comparison.floor**2) * comparison.n
    for n in range(fewest, MOST + 1):
        freedom = max(2.0, comparison.freedom + 2 * (n - comparison.n))
        quantile = stdtrit(freedom, tail) + ndtri(_POWER)
        if abs(distance) > float(quantile) * math.sqrt(of_one / n + comparison.floor**2):
            return n
    return None


def minutes(group: RunGroup, repetitions: int) -> float | None:
    """Minutes that so many repetitions of all strategies take, judging by the runs; None if unknown."""
    by_strategy = (
        [ended_s(run) - started_s(run) for run in group.usable_runs_of(label)] for label in group.strategies
    )
    known = [fmean(max(wall_s, 0.0) for wall_s in walls_s) for walls_s in by_strategy if walls_s]
    return repetitions * sum(known) / 60 if any(known) else None
