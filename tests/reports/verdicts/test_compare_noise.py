"""Verdicts on simulated noise: how often equals are told apart and differences found.

Seeded, so that each share is the same in every run; the bounds are the promises themselves.
"""

import math

import numpy as np
import pytest
from simulated_noise import (
    pages_with_any_verdict,
    pages_with_confirmed_verdict,
    reports_with_a_verdict,
    sitting_calls,
)

from reports.verdicts.compare import compare, compare_unpaired, paired_interval, unpaired_interval
from reports.verdicts.sittings import SittingEffect

pytestmark = pytest.mark.noise

EXPERIMENTS = 2_000
FALSE_CALLS_AT_MOST = 0.06


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
GROUPS = ((3, 3), (5, 5), (3, 5), (10, 10), (20, 20), (20, 40))


def _rng(*names):
    return np.random.default_rng([ord(character) for name in names for character in str(name)])


def _called(interval, *logs):
    """Share of experiments (rows) whose interval leaves out a log ratio of 0."""
    low, high = interval(*logs)
    return float(np.mean((low > 0) | (high < 0)))


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


@pytest.mark.parametrize("pairs", PAIRS)
@pytest.mark.parametrize("noise", NOISES)
def test_equals_are_called_different_in_6_of_100_suites_at_most(noise, pairs):
    assert paired_false_calls(noise, pairs) <= FALSE_CALLS_AT_MOST


@pytest.mark.parametrize("pairs", PAIRS[:-1])
def test_a_drift_of_the_machine_hits_both_of_a_pair_and_makes_no_false_calls(pairs):
    assert paired_false_calls("log-normal 3 %", pairs, drift_sd=0.3) <= FALSE_CALLS_AT_MOST


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("noise", NOISES)
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


# Pages of a report: five strategies, of which all are equal.
@pytest.mark.parametrize("rho", [0.0, 0.5])
@pytest.mark.parametrize("n", [3, 5])
def test_a_page_of_equals_has_a_false_verdict_in_6_of_100_at_most(n, rho):
    assert pages_with_confirmed_verdict(rho, n, 3, 600) <= 0.06
    assert pages_with_any_verdict(rho, n, 3, 600) >= 0.2  # what the correction is for


@pytest.mark.parametrize(("n", "groups", "reports"), [(5, 1, 150), (3, 3, 300)])
def test_a_report_on_equals_has_a_false_verdict_in_6_of_100_at_most(n, groups, reports):
    each, corrected = reports_with_a_verdict(n, reports, groups)
    assert corrected <= 0.06
    assert each >= 0.15  # what the correction is for


# Old against new: runs of one sitting are not independent.
@pytest.mark.parametrize("n", [3, 5, 20])
@pytest.mark.parametrize("tau", [0.02, 0.05, 0.10])
def test_sittings_make_no_false_calls_where_their_effect_is_known(tau, n):
    assert sitting_calls(tau, n, 600, effect=lambda _: SittingEffect(tau)) <= FALSE_CALLS_AT_MOST


@pytest.mark.parametrize("tau", [0.02, 0.10])
def test_several_sittings_a_side_need_no_known_effect(tau):
    assert sitting_calls(tau, 3, 2_000, sittings=3) <= FALSE_CALLS_AT_MOST


def test_sittings_assumed_alike_make_false_calls():
    assert sitting_calls(0.10, 5, 300) >= 0.4
