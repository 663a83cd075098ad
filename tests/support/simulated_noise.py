"""Measurements as noise makes them: pages of equal strategies, and runs of several sittings.

Everything is seeded by its arguments, so that each share is the same in every run.
"""

import math
from collections.abc import Callable

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

STRATEGIES = 5  # of a page; the first is the baseline
RUN_SD = 0.05  # of the log of a timing, from run to run
CONFIRMATORY = ("compaction_cpu_s", "query_mean_s")


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
