"""Measurements as noise makes them: suites and pages of equal strategies, and runs of several sittings.

Everything is seeded by its arguments, so that each share is the same in every run.
"""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from records import commit, compaction, end, query, run, speed

from bench.comparison.fail_if import outcomes
from reports.data.group import RunGroup, run_groups
from reports.verdicts.break_even import interval
from reports.verdicts.compare import Comparison, corrected
from reports.verdicts.judge import Circumstances, Side, judge
from reports.verdicts.limit import Limit
from reports.verdicts.page_verdicts import page_verdicts
from reports.verdicts.samples import Sample
from reports.verdicts.sittings import SittingEffect
from reports.verdicts.timings import compare_timings

STRATEGIES = 5  # of a page; the first is the baseline
RUN_SD = 0.05  # of the log of a timing, from run to run
CONFIRMATORY = ("compaction_cpu_s", "query_mean_s")
_LAG = 0.7  # correlation of the machine's speed in neighbouring runs; 0.74 in a suite of 36 runs


def _seeded(*names: object) -> np.random.Generator:
    return np.random.default_rng([ord(character) for name in names for character in str(name)])


# Suites: one comparison


@dataclass(frozen=True, slots=True)
class Noise:
    """The noise of a suite of so many strategies as there are `run_sds`, all of them equal.

    run_sds: of the log of a run, by strategy. drift_sd: of the speed of the machine, whose values in
    neighbouring runs have a correlation of 0.7. neighbour: by how much the log of one run of the suite is
    slower. tails: degrees of freedom of Student's t; infinite for normal noise. work_sd: of the log of the
    fixed work, which otherwise follows the speed; None if there is no fixed work. gain: how far timings
    follow the speed.
    """

    run_sds: tuple[float, ...] = (0.03,) * 6
    drift_sd: float = 0.07
    neighbour: float = 0.25
    tails: float = 3.0
    work_sd: float | None = 0.01
    gain: float = 1.0

    def suite(self, rng: np.random.Generator, n: int) -> dict[str, Sample]:
        """The timings of each strategy, which is run once in each repetition, in random order."""
        return self.suites(rng, n, 1)[0]

    def suites(self, rng: np.random.Generator, n: int, metrics: int) -> list[dict[str, Sample]]:
        """Several timings of the same runs, which share the speed of the machine."""
        order = np.concatenate([rng.permutation(len(self.run_sds)) for _ in range(n)])
        speed, run_sds = self._speed(rng, len(order)), np.array(self.run_sds)[order]
        logs = [self.gain * speed + run_sds * self._unit_noise(rng, len(order)) for _ in range(metrics)]
        works: list[float | None] = [None] * len(order)
        if self.work_sd is not None:
            works = np.exp(speed + rng.normal(0, self.work_sd, len(order))).tolist()
        return [
            {
                str(strategy): Sample(
                    tuple(np.exp(of_metric[order == strategy]).tolist()),
                    ("one",) * n,
                    tuple(work for work, other in zip(works, order, strict=True) if other == strategy),
                )
                for strategy in range(len(self.run_sds))
            }
            for of_metric in logs
        ]

    def _unit_noise(self, rng: np.random.Generator, runs: int) -> np.ndarray:
        if math.isinf(self.tails):
            return rng.normal(0, 1, runs)
        return rng.standard_t(self.tails, runs) / math.sqrt(self.tails / (self.tails - 2))

    def _speed(self, rng: np.random.Generator, runs: int) -> np.ndarray:
        """The log of how slow the machine is during each run."""
        speed = rng.normal(0, self.drift_sd, runs)
        for place in range(1, runs):
            speed[place] = _LAG * speed[place - 1] + math.sqrt(1 - _LAG**2) * speed[place]
        speed[rng.integers(runs)] += self.neighbour
        return speed


class Shares(NamedTuple):
    """Of many suites: how often the interval of two equal strategies holds 1, and its mean half width.

    `detected`: how often a ratio of 1.2 is told from 1; `below`: how often equals are proven below 1.1.
    """

    covered: float
    half_width: float
    detected: float
    below: float


def suite_shares(noise: Noise, n: int, suites: int) -> Shares:
    rng = _seeded("suites", noise, n)
    found = [compare_timings(noise.suite(rng, n), "0", "1") for _ in range(suites)]
    low, high = np.log([(one.low, one.high) for one in found]).T
    return Shares(
        float(np.mean((low <= 0) & (high >= 0))),
        float(np.mean(high - low)) / 2,
        float(np.mean(low + math.log(1.2) > 0)),
        float(np.mean(high < math.log(1.1))),
    )


# Break-even rates

CPU_S, QUERY_CPU_S = (15.0, 21.0, 32.0, 19.0, 20.0, 21.0), (0.6, 0.25, 0.2, 0.33, 0.4, 0.25)


class BreakEvens(NamedTuple):
    """Of many suites: how often the interval of a break-even holds the truth, and how often it is open.

    `half_width`: the median of half the log of the ratio of its ends, of those that are not open.
    """

    covered: float
    is_open: float
    half_width: float


def break_evens(noise: Noise, n: int, suites: int, saved_s: float = 0.35) -> BreakEvens:
    """The second strategy costs 6 s more than the first, and saves so much a query."""
    rng = _seeded("break-even", noise, n, saved_s)
    queries_s = (QUERY_CPU_S[0], QUERY_CPU_S[0] - saved_s, *QUERY_CPU_S[2:])
    truth = (CPU_S[1] - CPU_S[0]) / saved_s
    found = []
    for _ in range(suites):
        cpu, query = noise.suites(rng, n, 2)
        found.append(interval(_times(cpu, CPU_S), _times(query, queries_s), "1", "0"))
    low, high = np.array(found, float).T
    closed = (low > 0) & np.isfinite(high)
    return BreakEvens(
        float(np.mean((low <= truth) & (truth <= high))),
        float(np.mean(~closed)),
        float(np.median(np.log(high[closed] / low[closed]))) / 2,
    )


def _times(suite: dict[str, Sample], means: tuple[float, ...]) -> dict[str, Sample]:
    return {
        label: replace(sample, values=tuple(value * mean for value in sample.values))
        for (label, sample), mean in zip(suite.items(), means, strict=False)
    }


# Pages of a report


def page_logs(rho: float, n: int, metrics: int, pages: int) -> np.ndarray:
    """Logs of equal strategies: page x strategy x metric x repetition; rho between the metrics of a run."""
    rng = _seeded("page", rho, n, metrics)
    of_run = rng.normal(0, math.sqrt(rho), (pages, STRATEGIES, 1, n))
    of_metric = rng.normal(0, math.sqrt(1 - rho), (pages, STRATEGIES, metrics, n))
    return RUN_SD * (of_run + of_metric)


def pages_with_any_verdict(rho: float, n: int, metrics: int, pages: int) -> float:
    """Share of pages on which a timing is told apart from its equal, each comparison for itself."""
    values = np.exp(page_logs(rho, n, metrics, pages))
    return float(np.mean([any(_is_called(c) for c in page_comparisons(page)) for page in values]))


def pages_with_confirmed_verdict(rho: float, n: int, metrics: int, pages: int) -> float:
    """Share of pages on which a verdict that is called proven is false."""
    values = np.exp(page_logs(rho, n, metrics, pages)[:, :, : len(CONFIRMATORY)])
    return float(np.mean([any(_is_called(c) for c in corrected(page_comparisons(page))) for page in values]))


def page_comparisons(values: np.ndarray) -> list[Comparison]:
    """Each strategy with the first one, from values by strategy, metric and repetition."""
    n, comparisons = values.shape[-1], list[Comparison]()
    for of_metric in values.swapaxes(0, 1):
        samples = {
            index: Sample(tuple(own.tolist()), ("one",) * n, (None,) * n)
            for index, own in enumerate(of_metric)
        }
        comparisons += [compare_timings(samples, index, 0) for index in range(1, len(of_metric))]
    return comparisons


def _is_called(comparison: Comparison) -> bool:
    return comparison.verdict in ("more", "less")


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
    """Runs with the noise of our suites (`Noise`), and with the fixed work beside it."""
    labels = ("never", *(f"strategy-{number}" for number in range(STRATEGIES)))
    cpu, latency = Noise((0.03,) * len(labels)).suites(rng, n, 2)
    runs = [
        run(
            commit(), speed(work_s),
            *([] if label == "never" else [compaction(cpu_s=cpu_s)]),
            query(query_s), end(), strategy=label, repetition=number,
        )
        for label, of_cpu, of_query in zip(labels, cpu.values(), latency.values(), strict=True)
        for number, (cpu_s, query_s, work_s) in enumerate(
            zip(of_cpu.values, of_query.values, of_cpu.works_s, strict=True), 1
        )
    ]  # fmt: skip
    (group,) = run_groups(runs)
    return group


# Old against new


def gate_answers(noise: Noise, n: int, change: float, limit: Limit, trials: int) -> Counter[str]:
    """Answers of a gate on two metrics: fail, undecided or pass.

    One strategy has become slower by `change` in one of them; old and new suite are of one sitting.
    """
    rng = _seeded("gate", noise, n, change)
    answers = Counter[str]()
    for _ in range(trials):
        tests = []
        for factor in (1 + change, 1.0):
            new, old = noise.suite(rng, n), noise.suite(rng, n)
            first = new["0"]
            new["0"] = replace(first, values=tuple(value * factor for value in first.values))
            sides = {("new", label): own for label, own in new.items()}
            sides |= {("old", label): own for label, own in old.items()}
            tests += [(limit, compare_timings(sides, ("new", label), ("old", label))) for label in new]
        found = set(outcomes(tests))
        answers["fail" if "broken" in found else "undecided" if "inconclusive" in found else "pass"] += 1
    return answers


def sample_of_sittings(rng: np.random.Generator, name: str, tau: float, sittings: int, n: int) -> Sample:
    """So many runs in each of so many sittings, whose effects have a sd of `tau`."""
    effects = rng.normal(0, tau, (sittings, 1))
    logs = effects + rng.normal(0, RUN_SD, (sittings, n))
    names = tuple(f"{name}{sitting}" for sitting in range(sittings) for _ in range(n))
    return Sample(tuple(np.exp(logs).ravel().tolist()), names, (None,) * len(names))


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
        sides: dict[Side, Sample] = {("new", "a"): new, ("old", "a"): old}
        called += _is_called(judge("timing", sides, ("new", "a"), ("old", "a"), given))
    return called / trials
