"""The rate of queries at which a policy pays off, with its interval.

The interval has the rates at which the CPU of the policy and of `never`, queries included, is not told apart:
the test of `reports.verdicts.timings`, inverted. Source: Fieller, J. R. Stat. Soc. B 16, 1954. In % of 1,500
suites with noise like ours (see there), for a policy that costs 40 % more CPU and saves 58 % of that of a
query: how often the interval covers the truth, how often an end of it is open, and the median of its half
width (of the log) otherwise:

                                                   covered  open  half width
    six strategies, fixed work, n = 3                 96.3   0.1          18
    six strategies, fixed work, n = 5                 96.4   0.1          13
    six strategies, no fixed work, n = 3              98.8   4.7          72
    six strategies, no fixed work, n = 5              98.8   0.0          48
    two strategies, fixed work, n = 3                 97.1   0.5          26
    two strategies, fixed work, n = 5                 97.0   0.0          15
    two noisy (8 %) of six, fixed work, n = 3         92.7   3.1          36
    two noisy (8 %) of six, fixed work, n = 5         92.6   0.9          29
    six strategies, a saving of 7 %, n = 3            96.7  27.9          78
    six strategies, a saving of 7 %, n = 5            95.9  11.1          59

Reproduced by `make noise`. The delta method on the log of the rate, with the same variances, covered 93.5 to
98 % and has no open ends; a percentile bootstrap over repetitions covered 72 to 75 % at n = 3 and 82 to 84 %
at n = 5.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq

from bench.results.rows import BREAK_EVEN, Row
from reports.data.group import RunGroup
from reports.verdicts.judge import compare_strategies
from reports.verdicts.samples import Sample, samples
from reports.verdicts.timings import Key, compare_timings, positive

CPU, QUERY_CPU = "total_cpu_s", "query_cpu_s"
_HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class BreakEven:
    """Queries an hour from which a policy saves CPU, by the means, and the ends of its 95 % interval.

    low is 0 if it is not proven that the policy costs anything, and high infinite if it is not proven that
    its queries take less CPU. Both are None if the noise is not known.
    """

    rate: float
    low: float | None = None
    high: float | None = None


def break_even(group: RunGroup, row: Row) -> BreakEven | None:
    """None without `never`, without a compaction before the last tick, or if queries take no less CPU."""
    rate = row.values[BREAK_EVEN]
    if rate is None or row.strategy in group.late_strategies:
        return None
    if group.is_simulated:
        saves = compare_strategies(group, QUERY_CPU, row.strategy, row.baseline).verdict == "less"
        return BreakEven(rate) if saves else None
    whole = group.whole or group
    cpu, queries = positive(samples(whole, CPU)), positive(samples(whole, QUERY_CPU))
    alike = {
        label for label in cpu
        if label in queries and whole.runs_with(CPU, label) == whole.runs_with(QUERY_CPU, label)
    }  # fmt: skip
    if not {row.strategy, row.baseline} <= alike:
        return BreakEven(rate)
    ends = interval(
        {label: cpu[label] for label in alike}, {label: queries[label] for label in alike},
        row.strategy, row.baseline,
    )  # fmt: skip
    hours = group.manifest.lasted_ms / _HOUR_MS
    return BreakEven(rate) if ends is None else BreakEven(rate, ends[0] / hours, ends[1] / hours)


def interval(
    cpu: Mapping[Key, Sample], queries: Mapping[Key, Sample], policy: Key, baseline: Key
) -> tuple[float, float] | None:
    """The numbers of queries in a scenario at which both take the same CPU; None if noise is not known.

    `cpu` is that of a scenario without its queries, `queries` that of one query in the same runs.
    """
    unit_cpu, unit_query = (_geometric_mean(of[baseline]) for of in (cpu, queries))

    def ends(share: float) -> tuple[float, float]:
        """The interval of the ratio of both, where queries take a share of the CPU of the baseline."""
        mixed = {
            key: replace(
                sample,
                values=tuple(
                    (1 - share) * cpu_s / unit_cpu + share * query_s / unit_query
                    for cpu_s, query_s in zip(sample.values, queries[key].values, strict=True)
                ),
            )
            for key, sample in cpu.items()
        }
        ratio = compare_timings(mixed, policy, baseline)
        return ratio.low or math.nan, ratio.high or math.nan

    limits = []
    for end in (0, 1):
        without, only = ends(0.0)[end], ends(1.0)[end]
        if math.isnan(without + only):
            return None
        if without <= 1:
            limits.append(0.0)
        elif only >= 1:
            limits.append(math.inf)
        else:
            share = brentq(lambda share, end=end: ends(share)[end] - 1, 0, 1, xtol=1e-9)
            limits.append(unit_cpu / unit_query * share / (1 - share))
    return limits[0], limits[1]


def _geometric_mean(sample: Sample) -> float:
    return math.exp(float(np.mean(np.log(sample.values))))
