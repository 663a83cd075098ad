"""Verdicts on simulated noise: how often equals are told apart and differences found.

Seeded, so that each share is the same in every run; the bounds are the promises themselves.
"""

import math

import pytest
from simulated_noise import (
    Noise,
    break_evens,
    gate_answers,
    pages_with_any_verdict,
    pages_with_confirmed_verdict,
    reports_with_a_verdict,
    sitting_calls,
    suite_shares,
)

from bench.comparison.fail_if import parse_limit
from reports.verdicts.sittings import SittingEffect

pytestmark = pytest.mark.noise

SUITES = 1_000
FALSE_CALLS_AT_MOST = 0.06
OURS = Noise()
NOISES = {
    "ours": OURS,
    "without fixed work": Noise(work_sd=None),
    "half of a drift in each timing": Noise(gain=0.5),
    "no drift": Noise(drift_sd=0, neighbour=0),
    "normal, no fixed work": Noise((0.05,) * 6, 0, 0, math.inf, None),
    "three strategies": Noise((0.03,) * 3),
    "two strategies": Noise((0.03,) * 2),
    "two strategies, no fixed work": Noise((0.03,) * 2, work_sd=None),
    "one of two is noisy": Noise((0.03, 0.08)),
    "a noisy and a quiet of six": Noise((0.03, 0.08) * 3),
}


@pytest.mark.parametrize("n", [3, 5, 10])
@pytest.mark.parametrize("noise", NOISES)
def test_an_interval_covers_the_truth_in_94_of_100_suites_at_least(noise, n):
    assert suite_shares(NOISES[noise], n, SUITES).covered >= 0.94


@pytest.mark.parametrize(("n", "at_least"), [(3, 0.90), (5, 0.91), (10, 0.92)])
def test_two_noisy_strategies_among_quiet_ones_are_covered_less_often(n, at_least):
    noisy = Noise((0.08, 0.08, 0.03, 0.03, 0.03, 0.03))
    assert suite_shares(noisy, n, SUITES).covered >= at_least


def test_three_repetitions_find_20_percent_and_prove_that_nothing_grew_by_10():
    shares = suite_shares(OURS, 3, SUITES)
    assert shares.detected >= 0.95
    assert shares.below >= 0.8


@pytest.mark.parametrize("n", [3, 5])
@pytest.mark.parametrize("saved_s", [0.35, 0.04])
@pytest.mark.parametrize(
    "noise", ["ours", "without fixed work", "two strategies", "a noisy and a quiet of six"]
)
def test_the_interval_of_a_break_even_covers_the_truth_in_94_of_100_suites_at_least(noise, saved_s, n):
    assert break_evens(NOISES[noise], n, 300, saved_s).covered >= 0.94


LIMIT = parse_limit("query_mean_s>1.1x")
FOUR = Noise((0.03,) * 4)


@pytest.mark.parametrize(
    ("n", "change", "answer", "at_least"),
    [(3, 0.0, "pass", 0.4), (5, 0.0, "pass", 0.8), (5, 0.2, "fail", 0.7), (10, 0.2, "fail", 0.9)],
)
def test_a_gate_passes_what_has_not_changed_and_fails_what_has(n, change, answer, at_least):
    assert gate_answers(FOUR, n, change, LIMIT, 200)[answer] / 200 >= at_least


@pytest.mark.parametrize("change", [0.0, 0.05, 0.1])
def test_a_gate_fails_up_to_its_limit_in_one_of_40_comparisons_at_most(change):
    assert gate_answers(FOUR, 5, change, LIMIT, 400)["fail"] <= 400 / 40 + 3 * (400 / 40) ** 0.5


# Pages of a report: five strategies, of which all are equal.
@pytest.mark.parametrize("rho", [0.0, 0.5])
@pytest.mark.parametrize("n", [3, 5])
def test_a_page_of_equals_has_a_false_verdict_in_6_of_100_at_most(n, rho):
    assert pages_with_confirmed_verdict(rho, n, 3, 400) <= 0.06
    assert pages_with_any_verdict(rho, n, 3, 400) >= 0.2  # what the correction is for


@pytest.mark.parametrize(("n", "groups", "reports"), [(3, 3, 100)])
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
