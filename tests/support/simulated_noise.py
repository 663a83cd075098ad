"""Measurements as noise makes them: pages of equal strategies, runs of several sittings, latencies in time.

Everything is seeded by its arguments, so that each share is the same in every run.
"""

import math
from collections.abc import Callable, Mapping

import numpy as np
from records import commit, compaction, end, query, run

from bench.results.metrics import METRIC_BY_NAME
from reports.data.group import RunGroup, run_groups
from reports.verdicts.compare import compare, paired_interval
from reports.verdicts.contrasts import Contrast, confirmed
from reports.verdicts.judge import Circumstances, judge
from reports.verdicts.page_verdicts import page_verdicts
from reports.verdicts.samples import Sample
from reports.verdicts.sittings import SittingEffect
from reports.verdicts.trend import Trend, TrendSeries, trend, trend_of_runs

STRATEGIES = 5  # of a page; the first is the baseline
RUN_SD = 0.05  # of the log of a timing, from run to run
CONFIRMATORY = ("compaction_cpu_s", "query_mean_s")
Noise = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]


def _seeded(*names: object) -> np.random.Generator:
    return np.random.default_rng([ord(character) for name in names for character in str(name)])


# Pages of a report


def page_logs(rho: float, n: int, metrics: int, pages: int) -> np.ndarray:
    """Logs of equal strategies: page x strategy x metric x repetition; rho between the metrics of a run."""
    rng = _seeded("page", rho, n, metrics)
    of_run = rng.normal(0, math.sqrt(rho), (pages, STRATEGIES, 1, n))
    of_metric = rng.normal(0, math.sqrt(1 - rho), (pages, STRATEGIES, metrics, n))
    return RUN_SD * (of_run + of_metric)


def pages_with_any_verdict(rho: float, n: int, metrics: int, pages: int) -> float:
    """Share of pages on which a timing is told apart from its equal, each comparison for itself."""
    logs = page_logs(rho, n, metrics, pages)
    low, high = paired_interval(logs[:, 1:] - logs[:, :1])
    return float(np.mean(((low > 0) | (high < 0)).any(axis=(1, 2))))


def pages_with_confirmed_verdict(rho: float, n: int, metrics: int, pages: int) -> float:
    """Share of pages on which a verdict that is said to be proven is false."""
    values = np.exp(page_logs(rho, n, metrics, pages)[:, :, : len(CONFIRMATORY)])
    return float(np.mean([any(_is_called(c) for c in page_contrasts(page)) for page in values]))


def page_contrasts(values: np.ndarray) -> list[Contrast]:
    """The confirmatory contrasts of a page, from values by strategy, metric and repetition."""
    baseline, *others = values
    return confirmed([
        Contrast(
            f"strategy {index}", "baseline", METRIC_BY_NAME[name], 1.0, 1.0, *2 * (values.shape[-1],), True,
            compare(list(of_one[place]), list(baseline[place])), "confirmatory",
        )
        for index, of_one in enumerate(others)
        for place, name in enumerate(CONFIRMATORY)
    ])  # fmt: skip


def _is_called(contrast: Contrast) -> bool:
    return contrast.comparison.verdict in ("more", "less")


def reports_with_a_verdict(n: int, reports: int, groups: int = 1) -> tuple[float, float]:
    """Shares of reports with a false verdict: each comparison for itself, and corrected for their number.

    A report is on so many scenarios. The strategies of each are equal in cost and latency, and `never` is
    their equal in latency.
    """
    rng = _seeded("report", n, groups)
    each = corrected_too = 0
    for _ in range(reports):
        found = [
            one
            for verdicts in page_verdicts([_equal_strategies(rng, n) for _ in range(groups)])
            for one in verdicts.comparisons.values()
        ]
        each += any(one.verdict in ("more", "less") or one.is_retracted for one in found)
        corrected_too += any(one.verdict in ("more", "less") for one in found)
    return each / reports, corrected_too / reports


def _equal_strategies(rng: np.random.Generator, n: int) -> RunGroup:
    labels = ("never", *(f"strategy-{number}" for number in range(STRATEGIES)))
    cpu_s, query_s = np.exp(rng.normal(0, RUN_SD, (2, len(labels), n)))
    runs = [
        run(
            commit(),
            *([] if label == "never" else [compaction(cpu_s=float(cpu_s[place, of_run]))]),
            query(float(query_s[place, of_run])), end(), strategy=label, repetition=of_run + 1,
        )
        for place, label in enumerate(labels)
        for of_run in range(n)
    ]  # fmt: skip
    (group,) = run_groups(runs)
    return group


# Old against new


def sample_of_sittings(rng: np.random.Generator, name: str, tau: float, sittings: int, n: int) -> Sample:
    """So many runs in each of so many sittings, whose effects have a sd of `tau`."""
    effects = rng.normal(0, tau, (sittings, 1))
    logs = effects + rng.normal(0, RUN_SD, (sittings, n))
    names = tuple(f"{name}{sitting}" for sitting in range(sittings) for _ in range(n))
    return Sample(tuple(np.exp(logs).ravel().tolist()), names)


def sitting_calls(
    tau: float,
    n: int,
    trials: int,
    sittings: int = 1,
    effect: Callable[[np.random.Generator], SittingEffect] | None = None,
) -> float:
    """Share of comparisons of equal results, made in different sittings, that end in a verdict."""
    rng = _seeded("sittings", tau, n, sittings)
    called = 0
    for _ in range(trials):
        old, new = (sample_of_sittings(rng, side, tau, sittings, n) for side in ("old", "new"))
        given = Circumstances(sitting=effect(rng) if effect else None)
        called += judge("timing", new, old, given).verdict in ("more", "less")
    return called / trials


# Latencies in the course of a run

TICKS = 60
_MINUTE = np.arange(TICKS)


def _sawtooth(period: int, phase: int = 0) -> np.ndarray:
    """Data files after each minute's commit of eight, compacted to one after `period` minutes."""
    return 1.0 + 8 * ((_MINUTE + phase) % period)


TABLES: Mapping[str, tuple[np.ndarray, ...]] = {  # data files, delete files, bytes
    "flat": (np.full(TICKS, 8.0), np.zeros(TICKS), np.full(TICKS, 1e9)),
    "bytes grow": (np.ones(TICKS), np.zeros(TICKS), 1e5 * (_MINUTE + 1.0)),
    "sawtooth of 10": (_sawtooth(10), np.zeros(TICKS), 1e5 * (_MINUTE + 1.0)),
    "sawtooth of 30": (_sawtooth(30), np.zeros(TICKS), np.full(TICKS, 1e9)),
    "sawtooth of 17": (_sawtooth(17, 5), np.zeros(TICKS), np.full(TICKS, 1e9)),
    "files grow": (8.0 * (_MINUTE + 1), np.zeros(TICKS), 1e5 * (_MINUTE + 1.0)),
}
FILE_COST = 0.01  # of the latency of an empty table: 80 files make a query 1.8 times as slow


def white(sd: float) -> Noise:
    """Independent noise, of so much (1 sd of the log)."""
    return lambda rng, shape: rng.normal(0, sd, shape)


def autocorrelated(rho: float, sd: float) -> Noise:
    """Noise of which a share of `rho` is left at the next point."""

    def made(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        steps = rng.normal(0, sd * math.sqrt(1 - rho**2), shape)
        steps[:, 0] = rng.normal(0, sd, shape[0])
        for place in range(1, shape[1]):
            steps[:, place] += rho * steps[:, place - 1]
        return steps

    return made


def with_spikes(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Noise of 8 %, and one point in 33 that is five times as slow."""
    return rng.normal(0, 0.08, shape) + np.where(rng.random(shape) < 0.03, math.log(5), 0)


def trends(
    table: str, rise: float, series: int, *, noise: Noise | None = None, jit_fall: float = 0.35,
    controlled: bool = True, every: int = 1,
) -> list[Trend]:  # fmt: skip
    """Trends of series in which the latency rises by `rise` beside what the table's files cost.

    The JVM makes the probe and the control faster by `jit_fall`. Uncontrolled, latency is judged alone.
    """
    rng = _seeded(table, rise, series, jit_fall, controlled, every)
    made = noise or white(0.08)
    warming = 1 - jit_fall + jit_fall * np.exp(-_MINUTE / 12)
    held = TABLES[table]
    true_s = 0.05 * (1 + FILE_COST * held[0]) * np.linspace(1, 1 + rise, TICKS) * warming
    latencies = true_s * np.exp(made(rng, (series, TICKS)))
    controls = 0.02 * warming * np.exp(made(rng, (series, TICKS)))
    at_s = 60.0 * _MINUTE[::every]
    return [
        trend(at_s, latency[::every], control[::every], [of_one[::every] for of_one in held])
        if controlled
        else trend(at_s, latency[::every], np.ones(len(at_s)))
        for latency, control in zip(latencies, controls, strict=True)
    ]


def trends_of_runs(
    rise: float, groups: int, *, runs: int = 3, moods: float = 0.15
) -> list[tuple[Trend, Trend]]:
    """Trends of groups of runs on a flat table, each run with a slope of its own around that of the latency.

    Of each group that of the means of its runs, and that of their slopes.
    """
    rng = _seeded("runs", rise, groups, runs, moods)
    found = []
    for _ in range(groups):
        slopes = math.log(1 + rise) + rng.normal(0, moods, (runs, 1))
        logs = slopes * np.linspace(0, 1, TICKS) + rng.normal(0, 0.08, (runs, TICKS))
        controls = np.exp(rng.normal(0, 0.08, (runs, TICKS)))
        at_s = tuple(60.0 * _MINUTE)
        series = [
            TrendSeries(at_s, tuple(np.exp(one)), tuple(control))
            for one, control in zip(logs, controls, strict=True)
        ]
        means = TrendSeries(
            at_s, tuple(np.exp(logs.mean(axis=0))), tuple(np.exp(np.log(controls).mean(axis=0)))
        )
        found.append((means.trend(), trend_of_runs(series, means)))
    return found


def rising_share(found: list[Trend]) -> float:
    """Share of trends that are said to rise."""
    return float(np.mean([one.is_rising for one in found]))
