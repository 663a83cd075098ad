"""Runs of one sitting share machine conditions, so old against new is more uncertain than it looks.

A sitting is runs of a results folder made without a long break (`samples.sittings`). Its conditions (other
tenants of the machine, its temperature, the state of its caches) affect all its runs alike. Within a sitting
they cancel; between results of two sittings they look like a difference, and more repetitions only make the
wrong answer more certain. Verdicts of "more" or "less" in % of 1,500 comparisons of equal results, one
sitting on each side, n runs each, 5 % of noise between runs (1 sd of the log); 5 is right, and 0.6 the
standard error:

    sitting effect, n      assumed alike   widened   measured   three sittings a side
    0 %, 3                           5.5       5.5        3.1                     3.5
    0 %, 20                          5.5       5.5        0.5                     4.3
    2 %, 3                           7.4       5.0        2.5                     5.0
    2 %, 20                         33.3       4.9        1.8                     5.3
    5 %, 3                          23.7       5.3        3.7                     4.3
    5 %, 20                         63.0       4.7        5.0                     6.1
    10 %, 3                         47.7       5.5        4.9                     5.7
    10 %, 20                        81.1       5.2        5.6                     5.8

"Widened" knows the sitting effect's sd; "measured" knows it from the means of six sittings of nine runs. The
last column has three sittings of n runs on each side, compared by their means. Reproduced by `make noise`.

Where nobody has measured the effect, `DEFAULT` stands for it. Two pairs of sittings are among the published
runs: `append-only` and the same two strategies in `append-warm`, and `delta-upsert-quick`, one run of which
was made four hours later. Cost and mean query latency over the control query of the same run, as a stand-in
for equal speed of the machine, differ by 1.8 % (1 sd, the noise of runs included; 3.6 % without the control
query). Two pairs are 2 degrees of freedom, with which no limit below 1.3x could ever be decided, so the
default is taken as known. It is a guess with a source; `make trust` measures.
Source: Satterthwaite, Biometrics Bulletin 2, 1946, for the degrees of freedom of a sum of variances.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bench.results.metrics import MIN_RUNS
from reports.verdicts.compare import SAME, Comparison, verdict_of
from reports.verdicts.confidence import ratio_interval
from reports.verdicts.samples import Sample


@dataclass(frozen=True, slots=True)
class SittingEffect:
    """How far sittings are apart: `sd` of the log of a timing, with its degrees of freedom."""

    sd: float
    freedom: float = math.inf


@dataclass(frozen=True, slots=True)
class SittingEffects:
    """The effects of sittings on timings, by metric; `otherwise` applies to all other metrics."""

    by_metric: Mapping[str, SittingEffect]
    otherwise: SittingEffect | None = None

    def of(self, metric: str) -> SittingEffect | None:
        """The effect on a metric; None if it is not known."""
        return self.by_metric.get(metric, self.otherwise)


ASSUMES_NONE = SittingEffects({})
DEFAULT = SittingEffect(0.02)
ASSUMES_DEFAULT = SittingEffects({}, DEFAULT)


def sitting_variance(a: Sample, b: Sample, effect: SittingEffect | None) -> float:
    """What sittings add to the variance of the difference of both means (of logs).

    Each sitting counts with its share of a's runs minus its share of b's: 0 if all runs were made in the same
    sittings in equal shares, twice the effect's variance for one sitting against another.
    """
    if effect is None:
        return 0.0
    a_counts, b_counts = Counter(a.sittings), Counter(b.sittings)
    shares = (
        a_counts[sitting] / len(a.sittings) - b_counts[sitting] / len(b.sittings)
        for sitting in {*a_counts, *b_counts}
    )
    return effect.sd**2 * sum(share**2 for share in shares)


def compare_sittings(a: Sample, b: Sample) -> Comparison | None:
    """Compare timings by the means of their sittings; None unless each side has at least two of its own.

    Sittings are then the independent units, and their spread includes that of runs. It is pooled over both
    sides, since it is a property of the machine.
    """
    n = min(len(a.values), len(b.values))
    if n < MIN_RUNS or {*a.sittings} & {*b.sittings} or min(*a.values, *b.values) <= 0:
        return None
    a_means, b_means = _means(a), _means(b)
    if min(len(a_means), len(b_means)) < 2:
        return None
    freedom = len(a_means) + len(b_means) - 2
    squares = sum(float(np.sum((means - np.mean(means)) ** 2)) for means in (a_means, b_means))
    error = math.sqrt(squares / freedom * (1 / len(a_means) + 1 / len(b_means)))
    if error <= SAME:
        return None
    log = float(np.mean(a_means) - np.mean(b_means))
    low, high = ratio_interval(log, error, freedom)
    verdict = verdict_of(low, high)
    return Comparison(
        math.exp(log), low, high, n, "t on means of sittings", verdict, error=error, freedom=freedom,
        floor=error,
    )  # fmt: skip


def estimate_effect(by_strategy: Sequence[Sample]) -> SittingEffect | None:
    """The effect of sittings, from runs of the same strategies in several of them; None for fewer than two.

    It is the sd of the sittings' means after subtracting each strategy's own level. The noise of runs that is
    left in these means is not subtracted, so that the figure errs on the safe side.
    """
    deviations: dict[str, list[float]] = {}
    for sample in by_strategy:
        if len({*sample.sittings}) < 2 or min(sample.values) <= 0:
            continue
        level = float(np.mean(_means(sample)))
        for value, sitting in zip(sample.values, sample.sittings, strict=True):
            deviations.setdefault(sitting, []).append(math.log(value) - level)
    if len(deviations) < 2:
        return None
    means = [float(np.mean(own)) for own in deviations.values()]
    return SittingEffect(float(np.std(means, ddof=1)), len(means) - 1)


def _means(sample: Sample) -> np.ndarray:
    """The mean log of each sitting, in the order of the sittings' names."""
    logs: dict[str, list[float]] = {}
    for value, sitting in zip(sample.values, sample.sittings, strict=True):
        logs.setdefault(sitting, []).append(math.log(value))
    return np.array([np.mean(logs[sitting]) for sitting in sorted(logs)])
