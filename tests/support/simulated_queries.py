"""Means over time of simulated tables, of which not every tick is probed.

A policy compacts after every so many commits of an hour. Everything is seeded by its arguments.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bench.results.latency import calibrated
from bench.scenario.cadence import Cadence

TICKS = 12
CYCLES = (1, 2, 3, 5, 6, TICKS)  # commits from one compaction to the next
REPETITIONS = 3
MEANS = ("probed ticks", "regression", "line alone", "balanced")
_NOISE_SD = 0.05  # of the log of a query
_DRAWS = 20  # among which a balanced cadence is the best


@dataclass(frozen=True, slots=True)
class Latency:
    """The latency of a table by its data files, its delete files and whether it has any.

    `after_commit`: by how much a query right after a commit is slower. `drift`: by how much queries become
    faster during a run.
    """

    of: Callable[[np.ndarray], np.ndarray]
    after_commit: float = 0.0
    drift: float = 0.0


def _linear(tables: np.ndarray) -> np.ndarray:
    return np.asarray(0.2 + tables @ (0.004, 0.006, 0))


LATENCIES = {
    "linear": Latency(_linear),
    "power 0.6": Latency(lambda tables: 0.2 + tables**0.6 @ (0.03, 0.04, 0)),
    "any delete file": Latency(lambda tables: 0.2 + tables @ (0, 0.004, 0.8)),
    "warming up": Latency(_linear, after_commit=0.05, drift=0.2),
}


@dataclass(frozen=True, slots=True)
class Error:
    """In % of the truth: of the means of three runs, and the standard deviation of one run."""

    bias: float
    rms: float
    run_sd: float


def errors(latency: Latency, cycle: int, every: int, suites: int) -> dict[str, Error]:
    """The errors of each of `MEANS` over suites of different seeds."""
    rng = np.random.default_rng([ord(letter) for letter in f"{latency.after_commit} {cycle} {every}"])
    _, left = _tables(cycle)
    speed = np.exp(-latency.drift * np.arange(TICKS) / TICKS)
    truth = float(np.mean(latency.of(left) * speed))
    found = np.array([
        [_means(latency, rng, cycle, _ticks(seed, every, run)) for run in range(REPETITIONS)]
        + [_means(latency, rng, cycle, _balanced(rng, every)) for run in range(REPETITIONS)]
        for seed in range(suites)
    ]) / truth - 1  # fmt: skip
    drawn, balanced = found[:, :REPETITIONS], found[:, REPETITIONS:, :1]
    by_mean = [*np.moveaxis(drawn, -1, 0), balanced[:, :, 0]]
    return {name: _error(100 * own) for name, own in zip(MEANS, by_mean, strict=True)}


def _error(found: np.ndarray) -> Error:
    means = found.mean(axis=1)
    variances = found.var(axis=1, ddof=1)
    return Error(float(means.mean()), float(np.sqrt(np.mean(means**2))), float(np.sqrt(variances.mean())))


def _tables(cycle: int) -> tuple[np.ndarray, np.ndarray]:
    """The table after each commit of 8 data and 9 delete files, and as the tick leaves it."""
    since = np.arange(TICKS) % cycle + 1  # commits since a compaction
    committed, left = since, np.where(since == cycle, 0, since)
    return tuple(np.column_stack([8 + 8 * n, 9 * n, n > 0]).astype(float) for n in (committed, left))


def _means(latency: Latency, rng: np.random.Generator, cycle: int, ticks: np.ndarray) -> list[float]:
    """The mean over the probed ticks, the regression estimator and that of the line alone, of one run."""
    committed, left = _tables(cycle)
    acts = np.setdiff1d(np.arange(cycle - 1, TICKS, cycle), ticks)  # queries before and after a compaction
    places = np.concatenate([ticks, ticks, acts, acts])
    is_settled = np.repeat([1.0, 0, 0, 0], [len(ticks), len(ticks), len(acts), len(acts)])
    is_later = np.repeat([0, 1, 1, 0], [len(ticks), len(ticks), len(acts), len(acts)])  # after a commit
    tables = np.where(is_later[:, None], committed[places], left[places])
    values = latency.of(tables) * (1 + latency.after_commit * is_later)
    values *= np.exp(rng.normal(0, _NOISE_SD, len(values)) - latency.drift * places / TICKS)
    probed, everything = is_settled / is_settled.sum(), np.full(len(values), 1 / len(values))
    return [
        float(values @ (probed if weights is None else weights))
        for weights in (
            probed,
            calibrated(probed, tables, left.mean(axis=0)),
            calibrated(everything, tables, left.mean(axis=0)),
        )
    ]


def _ticks(seed: int, every: int, repetition: int) -> np.ndarray:
    return np.array(Cadence(seed, TICKS, 1, every, every, "random", repetition + 1).ticks) - 1


def _balanced(rng: np.random.Generator, every: int) -> np.ndarray:
    """One tick in each window, such that those of each residue of 2 to 6 are met about equally often."""
    draws = [np.arange(0, TICKS, every) + rng.integers(0, every, TICKS // every) for _ in range(_DRAWS)]
    return min(draws, key=_imbalance)


def _imbalance(ticks: np.ndarray) -> float:
    shares = [np.bincount(ticks % cycle, minlength=cycle) / len(ticks) - 1 / cycle for cycle in range(2, 7)]
    return sum(float(share @ share) for share in shares)
