"""How many repetitions a comparison that is undecided needs, and how long they take."""

import math
from collections.abc import Iterable
from statistics import fmean

from scipy import stats

from bench.results.folders import RunResult
from reports.data.group import RunGroup
from reports.verdicts.compare import CONFIDENCE, Comparison
from reports.verdicts.pairs import ended_s, started_s

FEWEST = 3  # repetitions below which noise cannot be estimated in any useful way
MOST = 30  # repetitions that anybody will run
_POWER = 0.8  # how likely a difference as large as the one seen is to be decided


def needed(comparison: Comparison, family: int = 1) -> int | None:
    """Repetitions after which a difference like this would probably be decided; None above `MOST`.

    The true ratio is taken to be the one found, and the noise to be that behind its interval: with n
    repetitions the difference is found in four of five cases where its logarithm exceeds
    (t(1 - 2.5 % / family, n - 1) + z(80 %)) standard errors. `family` is the number of comparisons that its
    verdict is corrected for, taken as if it had the smallest p-value of them. A comparison without an
    interval tells no noise, so the answer is `FEWEST`.
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
    """Minutes of wall time that so many repetitions of all strategies take, going by those that ran.

    None where the runs do not say when they began and ended.
    """
    by_strategy = [
        _mean(_wall_s(run) for run in group.usable_runs if run.manifest.strategy == label)
        for label in group.strategies
    ]
    known = [wall_s for wall_s in by_strategy if wall_s]
    return repetitions * sum(known) / 60 if known else None


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _wall_s(run: RunResult) -> float | None:
    """From the manifest to the last record: set-up, warm-up, the stream and the content check."""
    if run.end is None:
        return None
    return max(ended_s(run) - started_s(run), 0.0)
