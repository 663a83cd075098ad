"""Verdicts on simulated noise: how often equals are told apart, differences found, and flat series rise.

Seeded, so that each share is the same in every run; the bounds are the promises themselves.
"""

import itertools
import math

import numpy as np
import pytest

from reports.compare import compare, compare_unpaired, paired_interval, trend, unpaired_interval

pytestmark = pytest.mark.noise

EXPERIMENTS = 2_000
FALSE_CALLS_AT_MOST = 0.06
FALSE_ALARMS_AT_MOST = 0.05


def _log_normal(sd):
    return lambda rng, shape: rng.normal(0, sd, shape)


# Logs of the noise of single runs.
NOISES = {
    "log-normal 3 %": _log_normal(0.03),
    "log-normal 10 %": _log_normal(0.10),
    "log-normal 30 %": _log_normal(0.30),
    "heavy tails (t3)": lambda rng, shape: 0.05 * rng.standard_t(3, shape),
    "slow runs (exponential)": lambda rng, shape: 0.1 * rng.exponential(1, shape),
}
PAIRS = (3, 5, 10, 20, 40)
BOOTSTRAPPED = ("log-normal 10 %", "heavy tails (t3)", "slow runs (exponential)")  # the scale changes nothing
GROUPS = ((3, 3), (5, 5), (3, 5), (10, 10), (20, 20), (20, 40))


def _rng(*names):
    return np.random.default_rng([ord(character) for name in names for character in str(name)])


def _called(interval, *logs):
    """Share of experiments (rows) whose interval leaves out a log ratio of 0; parts that fit a cache."""
    parts = zip(*(np.array_split(side, max(1, len(side) // 500)) for side in logs), strict=True)
    ends = [interval(*part) for part in parts]
    return float(np.mean([(low > 0) | (high < 0) for low, high in ends]))


def paired_false_calls(noise, pairs, experiments=EXPERIMENTS, drift_sd=0.0):
    """Share of A/A suites called different; drift hits both runs of a pair."""
    rng, shape = _rng(noise, pairs, drift_sd), (experiments, pairs)
    drift = np.cumsum(rng.normal(0, drift_sd, shape), axis=1)
    a, b = (NOISES[noise](rng, shape) + drift for _ in range(2))
    return _called(paired_interval, a - b)


def unpaired_false_calls(noise, groups, experiments=EXPERIMENTS):
    rng = _rng(noise, groups)
    return _called(unpaired_interval, *(NOISES[noise](rng, (experiments, n)) for n in groups))


def found_share(sd, true_ratio, n, paired, experiments=EXPERIMENTS):
    """Share of suites of n repetitions in which a true ratio is told, in its direction."""
    rng = _rng(sd, true_ratio, n, paired)
    a, b = (rng.normal(0, sd, (experiments, n)) for _ in range(2))
    a += math.log(true_ratio)
    low, high = paired_interval(a - b) if paired else unpaired_interval(a, b)
    return float(np.mean(low > 0 if true_ratio > 1 else high < 0))


@pytest.mark.parametrize(
    ("noise", "pairs"), [(noise, n) for noise in NOISES for n in PAIRS if n < 20 or noise in BOOTSTRAPPED]
)
def test_equals_are_called_different_in_6_of_100_suites_at_most(noise, pairs):
    assert paired_false_calls(noise, pairs) <= FALSE_CALLS_AT_MOST


@pytest.mark.parametrize("pairs", PAIRS[:-1])
def test_a_drift_of_the_machine_hits_both_of_a_pair_and_makes_no_false_calls(pairs):
    assert paired_false_calls("log-normal 3 %", pairs, drift_sd=0.3) <= FALSE_CALLS_AT_MOST


@pytest.mark.parametrize(
    ("noise", "groups"),
    [(noise, n) for noise in NOISES for n in GROUPS if min(n) < 20 or noise in BOOTSTRAPPED],
)
def test_equal_groups_are_called_different_in_6_of_100_suites_at_most(noise, groups):
    assert unpaired_false_calls(noise, groups) <= FALSE_CALLS_AT_MOST


@pytest.mark.parametrize("n", [5, 20])
def test_intervals_are_no_wider_than_their_promise_needs(n):
    # An interval that never errs proves nothing: of normal noise about 5 % must be called.
    assert paired_false_calls("log-normal 10 %", n) >= 0.035
    assert unpaired_false_calls("log-normal 10 %", (n, n)) >= 0.03


@pytest.mark.parametrize(
    ("sd", "paired", "at_least"),
    [(0.04, True, 0.95), (0.04, False, 0.99), (0.08, True, 0.6), (0.08, False, 0.8)],
)
@pytest.mark.parametrize("true_ratio", [1.2, 1 / 1.2])
def test_a_difference_of_20_percent_is_found_by_five_repetitions(sd, paired, at_least, true_ratio):
    assert found_share(sd, true_ratio, 5, paired) >= at_least


def test_compare_gives_the_interval_of_the_logs():
    for n in (5, 25):
        a, b = np.exp(_rng("a", n).normal(0, 0.1, (2, n)))
        found, (low, high) = compare(list(a), list(b)), paired_interval(np.log(a / b))
        assert (found.low, found.high) == pytest.approx((math.exp(low), math.exp(high)))
        apart, (low, high) = compare_unpaired(list(a), list(b)), unpaired_interval(np.log(a), np.log(b))
        assert (apart.low, apart.high) == pytest.approx((math.exp(low), math.exp(high)))


# Latency series of a run, a point a probe.
def _autocorrelated(rho):
    def made(rng, shape):
        steps = rng.normal(0, 0.1 * math.sqrt(1 - rho**2), shape)
        steps[:, 0] = rng.normal(0, 0.1, shape[0])
        rows = itertools.accumulate(steps.T, lambda before, step: rho * before + step)
        return np.exp(np.array(list(rows)).T)

    return made


def _white(sd):
    return lambda rng, shape: rng.lognormal(0, sd, shape)


def _rising(share, noise):
    return lambda rng, shape: noise(rng, shape) * np.linspace(1, 1 + share, shape[1])


FLAT = {
    "white 5 %": _white(0.05),
    "white 30 %": _white(0.30),
    "heavy tails (t2)": lambda rng, shape: np.exp(0.1 * rng.standard_t(2, shape)),
    "3 % spikes of 5x": lambda rng, shape: _white(0.1)(rng, shape) * np.where(rng.random(shape) < 0.03, 5, 1),
    "AR(1), rho 0.3": _autocorrelated(0.3),
    "warm-up": lambda rng, shape: _white(0.1)(rng, shape) * (1 + np.exp(-np.arange(shape[1]) / 5)),
}
STRONGLY_CORRELATED = _autocorrelated(0.6)
LENGTHS = {8: 200, 24: 200, 60: 120, 240: 20}  # points: series tried


def rising_share(made, points, series=None):
    """Share of series whose trend is said to rise."""
    values = made(np.random.default_rng([points, 7]), (series or LENGTHS[points], points))
    return float(np.mean([trend(60.0 * np.arange(points), row).verdict == "rises" for row in values]))


@pytest.mark.parametrize("points", LENGTHS)
@pytest.mark.parametrize("name", FLAT)
def test_flat_series_rise_in_5_of_100_at_most(name, points):
    assert rising_share(FLAT[name], points) <= FALSE_ALARMS_AT_MOST


@pytest.mark.parametrize("points", [24, 60])
def test_slow_moments_of_a_machine_are_no_rise(points):
    assert rising_share(STRONGLY_CORRELATED, points) <= 0.07


@pytest.mark.parametrize("noise", [_white(0.1), FLAT["AR(1), rho 0.3"]])
def test_a_rise_by_half_over_an_hour_is_found(noise):
    assert rising_share(_rising(0.5, noise), 60, 100) >= 0.98


def test_one_spike_moves_no_trend():
    values = np.ones(60) + 0.01 * _rng("spike").normal(0, 1, 60)
    values[-1] = 50.0
    assert trend(60.0 * np.arange(60), values).verdict == "flat or undecided"
