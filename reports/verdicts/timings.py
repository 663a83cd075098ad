"""Timings of two strategies, compared by one model of all runs of a table.

    log(timing) = level of the strategy + slope * log(fixed work of the run) + noise

The fixed work (`bench.replay.fixed_work`) shows how fast the machine was during a run. Its slope is the same
for all strategies and between 0 and 1: a run on a machine half as fast takes at most twice as long. Without
the fixed work of every run the slope is 0.

Three runs say little of their own noise, so the variance of each strategy is moderated: it is the mean of its
own and of the common one of all strategies, which counts like two more runs. Source: Smyth, Statistical
Applications in Genetics and Molecular Biology 3(1), 2004, with a fixed prior weight; for the degrees of
freedom of a sum of variances Satterthwaite, Biometrics Bulletin 2, 1946.

In % of 2,000 suites with noise like ours (the speed of the machine drifts by 7 %, with a lag-1 correlation of
0.7, a neighbour slows one run by 28 %, other noise of 3 % has heavy tails (t3), and the fixed work follows
the speed to 1 %): how often the 95 % interval covers the truth, its half width, how often a true ratio of 1.2
is detected, and how often equals are proven to be below 1.1:

                                               covered  half width  1.2 found  below 1.1
    six strategies, fixed work, n = 3             96.2         5.5         99         90
    six strategies, fixed work, n = 5             96.6         4.1        100         98
    six strategies, no fixed work, n = 3          98.7        17.2         62         16
    six strategies, no fixed work, n = 5          98.7        11.7         88         36
    two strategies, fixed work, n = 3             96.9         8.1         95         70
    two strategies, fixed work, n = 5             97.2         4.5        100         96
    two strategies, no fixed work, n = 3          99.0        26.2         27          7
    two strategies, no fixed work, n = 5          99.3        14.7         67         27
    two noisy (8 %) of six, fixed work, n = 3     93.0        11.4         84         48
    two noisy (8 %) of six, fixed work, n = 5     93.8         8.9         94         61

Reproduced by `make noise`.
"""

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from bench.results.metrics import MIN_RUNS
from bench.text import counted
from reports.verdicts.compare import AT_EQUAL_SPEED, MODERATED, SAME, Comparison, exact, undecided, verdict_of
from reports.verdicts.confidence import ratio_interval
from reports.verdicts.samples import Sample
from reports.verdicts.sittings import SittingEffect, sitting_variance

PRIOR_RUNS = 2.0  # as which the common variance counts; more would under-cover where noise differs
_FEWEST_FOR_SLOPE = 3  # degrees of freedom left for the noise before a slope is estimated

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Fit(Generic[Key]):
    """The model of a table, by strategy.

    levels: mean log of the timing, at the mean speed of all runs. works: mean log of the fixed work, by which
    an error of the slope counts; 0 without a slope. variances: of the log of one run, moderated, known with
    `freedoms` degrees of freedom. `freedom`: of the residuals of all runs together.
    """

    levels: Mapping[Key, float]
    works: Mapping[Key, float]
    runs: Mapping[Key, int]
    variances: Mapping[Key, float]
    freedoms: Mapping[Key, float]
    freedom: int
    slope_variance: float
    is_adjusted: bool

    def error(self, key: Key, other: Key | None = None) -> tuple[float, float]:
        """The standard error of a level, or of its difference to another, and its degrees of freedom."""
        keys = [key] if other is None else [key, other]
        work = self.works[key] - (0.0 if other is None else self.works[other])
        variance, freedom = _sum(
            [
                *((self.variances[of] / self.runs[of], self.freedoms[of]) for of in keys),
                (work**2 * self.slope_variance, self.freedom),
            ]
        )
        return math.sqrt(variance), min(freedom, self.freedom)  # not known better than by all residuals


def fit(samples: Mapping[Key, Sample]) -> Fit[Key]:
    """Fit the model to samples of positive timings, at least one of which has two."""
    logs = {key: np.log(sample.values) for key, sample in samples.items()}
    freedom = sum(len(own) - 1 for own in logs.values())
    works, slope_squares = _centred_works(samples) if freedom > _FEWEST_FOR_SLOPE else None, 0.0
    if works is not None:
        slope_squares = sum(_squares(own) for own in works.values())
        products = sum(float(_deviations(works[key]) @ _deviations(logs[key])) for key in logs)
        slope = min(1.0, max(0.0, products / slope_squares)) if slope_squares else 0.0
        logs = {key: own - slope * works[key] for key, own in logs.items()}
    residual_freedom = freedom - (works is not None)
    squares = {key: _squares(own) * freedom / residual_freedom for key, own in logs.items()}
    common = sum(squares.values()) / freedom
    freedoms = {key: PRIOR_RUNS + len(own) - 1 for key, own in logs.items()}
    return Fit(
        levels={key: float(np.mean(own)) for key, own in logs.items()},
        works={key: float(np.mean(works[key])) if works else 0.0 for key in logs},
        runs={key: len(own) for key, own in logs.items()},
        variances={key: (PRIOR_RUNS * common + squares[key]) / freedoms[key] for key in logs},
        freedoms=freedoms,
        freedom=residual_freedom,
        slope_variance=common / slope_squares if slope_squares else 0.0,
        is_adjusted=works is not None,
    )


def compare_timings(
    samples: Mapping[Key, Sample], a: Key, b: Key, effect: SittingEffect | None = None
) -> Comparison:
    """How the timings of `a` relate to those of `b`, by the model of all `samples`.

    `effect` widens the interval for sittings that the two do not share. A side of fewer than three runs has a
    ratio and no interval: its own noise is unknown, and may not be that of the others.
    """
    a_sample, b_sample = samples[a], samples[b]
    a_n, b_n = len(a_sample.values), len(b_sample.values)
    n = min(a_n, b_n)
    if n == 0:
        return undecided(None, 0, "one side has no value" if a_n or b_n else "neither side has a value")
    certain = _without_ratio(a_sample, b_sample)
    if certain is not None:
        return certain
    if n < MIN_RUNS:
        ratio = math.exp(float(np.mean(np.log(a_sample.values)) - np.mean(np.log(b_sample.values))))
        return undecided(ratio, n, f"{_runs(a_n, b_n)}; an interval needs {MIN_RUNS} on each side")
    model = fit(positive(samples))
    log = model.levels[a] - model.levels[b]
    if max(model.variances[a], model.variances[b]) <= SAME**2:
        return undecided(math.exp(log), n, "all runs agree to the last digit, so noise cannot be estimated")
    noise, freedom = model.error(a, b)
    parts = [(noise**2, freedom)]
    if effect is not None:
        parts.append((sitting_variance(a_sample, b_sample, effect), effect.freedom))
    variance, freedom = _sum(parts)
    error = math.sqrt(variance)
    low, high = ratio_interval(log, error, freedom)
    return Comparison(
        math.exp(log), low, high, n, AT_EQUAL_SPEED if model.is_adjusted else MODERATED,
        verdict_of(low, high), error=error, freedom=freedom, floor=math.sqrt(variance - noise**2),
    )  # fmt: skip


def mean_interval(samples: Mapping[Key, Sample], key: Key) -> tuple[float, float] | None:
    """The 95 % interval of a mean timing, at the mean speed of all runs; None if the noise is not known."""
    known = positive(samples)
    if key not in known or len(known[key].values) < MIN_RUNS:
        return None
    model = fit(known)
    if model.variances[key] <= SAME**2:
        return None
    error, freedom = model.error(key)
    return ratio_interval(model.levels[key], error, freedom)


def positive(samples: Mapping[Key, Sample]) -> dict[Key, Sample]:
    """The samples that have a logarithm."""
    return {key: own for key, own in samples.items() if own.values and min(own.values) > 0}


def _centred_works(samples: Mapping[Key, Sample]) -> dict[Key, np.ndarray] | None:
    """The log of the fixed work of each run minus their mean; None unless every run has one."""
    known = [work_s for sample in samples.values() for work_s in sample.works_s]
    if not known or not all(known):
        return None
    mean = float(np.mean(np.log(np.array(known, float))))
    return {key: np.log(np.array(sample.works_s, float)) - mean for key, sample in samples.items()}


def _without_ratio(a: Sample, b: Sample) -> Comparison | None:
    """The comparison of timings that have no logarithm; None if all have one.

    If all timings of a side are 0, nothing happened there, which is certain.
    """
    n, lowest_a, lowest_b = min(len(a.values), len(b.values)), min(a.values), min(b.values)
    if (not any(a.values) and lowest_b >= 0) or (not any(b.values) and lowest_a > 0):
        return exact(float(np.mean(a.values)), float(np.mean(b.values)), n)
    if min(lowest_a, lowest_b) <= 0:
        return undecided(None, n, "values of zero or below have no ratio")
    return None


def _sum(parts: list[tuple[float, float]]) -> tuple[float, float]:
    """The sum of variances and its degrees of freedom."""
    variance = sum(part for part, _ in parts)
    known = sum(part**2 / freedom for part, freedom in parts)
    return variance, variance**2 / known if known else min(freedom for _, freedom in parts)


def _deviations(values: np.ndarray) -> np.ndarray:
    return np.asarray(values - np.mean(values))


def _squares(values: np.ndarray) -> float:
    return float(np.sum(_deviations(values) ** 2))


def _runs(a: int, b: int) -> str:
    runs = counted(a, "run")
    return runs if a == b else f"{runs} against {b}"
