"""How many repetitions a comparison that is undecided needs, and how long they take."""

import math
from collections.abc import Iterable, Sequence
from datetime import datetime
from statistics import fmean, stdev

from scipy import stats

from bench.results.folders import RunResult
from reports.compare import CONFIDENCE
from reports.load import RunGroup

FEWEST = 3  # repetitions below which noise cannot be estimated in any useful way
MOST = 30  # repetitions that anybody will run
_POWER = 0.8  # how likely a difference as large as the one seen is to be decided


def needed(ratios: Sequence[float]) -> int | None:
    """Repetitions after which ratios that scatter like these would probably be decided; None above `MOST`.

    `ratios` are those of the pairs there are, above 0. The true ratio is taken to be their geometric mean and
    the noise theirs: with n pairs the difference is found in four of five cases where its logarithm exceeds
    (t(97.5 %, n - 1) + z(80 %)) standard errors. Two ratios of 1.0 and 1.2 need 14. Fewer than two ratios
    tell no noise, so the answer is `FEWEST`.
    """
    logs = [math.log(ratio) for ratio in ratios]
    if len(logs) < 2:
        return FEWEST
    difference, noise = abs(fmean(logs)), stdev(logs)
    for n in range(max(FEWEST, len(logs) + 1), MOST + 1):
        quantile = stats.t.ppf((1 + CONFIDENCE) / 2, n - 1) + stats.norm.ppf(_POWER)
        if difference > float(quantile) * noise / math.sqrt(n):
            return n
    return None


def ratios(group: RunGroup, metric: str, strategy: str, other: str) -> list[float]:
    """One metric of two strategies as a ratio for each pair of runs, where both are above 0."""
    pairs = zip(*group.paired(metric, strategy, other), strict=True)
    return [a / b for a, b in pairs if a is not None and b is not None and a > 0 and b > 0]


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
    try:
        began, ended = (
            datetime.fromisoformat(stamp) for stamp in (run.manifest.started_utc, run.end.written_utc)
        )
        return max((ended - began).total_seconds(), 0.0)
    except (ValueError, TypeError):  # no stamp, or only one of them with a time zone
        return None
