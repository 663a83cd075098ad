import math

import pytest

from reports.verdicts.judge import Circumstances, judge
from reports.verdicts.samples import Sample
from reports.verdicts.sittings import SittingEffect, compare_sittings, estimate_effect, sitting_variance

NEW, OLD = ("new", "a"), ("old", "a")


def logs(*values, sittings):
    return Sample(tuple(math.exp(value) for value in values), tuple(sittings), (None,) * len(values))


def test_sittings_shared_in_equal_parts_add_nothing():
    a, b = logs(0, 0, sittings="xy"), logs(0, 0, 0, 0, sittings="xxyy")
    assert sitting_variance(a, b, SittingEffect(0.1)) == pytest.approx(0)


def test_one_sitting_against_another_adds_both_effects():
    a, b = logs(0, 0, 0, sittings="xxx"), logs(0, 0, 0, sittings="yyy")
    assert sitting_variance(a, b, SittingEffect(0.1)) == pytest.approx(2 * 0.1**2)
    assert sitting_variance(a, b, None) == 0


def test_sittings_shared_in_part_add_their_difference():
    # a: three quarters in x; b: one quarter. Shares differ by a half each: 2 x 0.5 squared.
    a, b = logs(0, 0, 0, 0, sittings="xxxy"), logs(0, 0, 0, 0, sittings="xyyy")
    assert sitting_variance(a, b, SittingEffect(0.1)) == pytest.approx(2 * 0.5**2 * 0.1**2)


def test_several_sittings_are_compared_by_their_means():
    # Means 0.1 and 0.3 against 0 and 0.2: pooled variance 0.02, difference 0.1, standard error sqrt 0.02,
    # 2 degrees of freedom; t(0.975) = 4.30265. How many runs a sitting has does not matter.
    new = logs(0.05, 0.15, 0.3, sittings="xxy")
    old = logs(0.0, 0.2, 0.2, sittings="vww")
    found = compare_sittings(new, old)
    assert (found.method, found.n, found.freedom) == ("t on means of sittings", 3, 2)
    assert math.log(found.ratio) == pytest.approx(0.1)
    assert math.log(found.high) == pytest.approx(0.1 + 4.30265 * math.sqrt(0.02), rel=1e-4)
    assert judge("timing", {NEW: new, OLD: old}, NEW, OLD, Circumstances()) == found


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (logs(0, 1, 2, sittings="xyz"), logs(0, 1, 2, sittings="vvv")),  # one sitting on a side
        (logs(0, 1, 2, sittings="xyz"), logs(0, 1, 2, sittings="zvw")),  # one of them shared
        (logs(0, 1, sittings="xy"), logs(0, 1, sittings="vw")),  # too few runs
        (logs(0, 0, 0, sittings="xyz"), logs(1, 1, 1, sittings="uvw")),  # no spread
    ],
)
def test_other_sittings_are_not_compared_by_their_means(a, b):
    assert compare_sittings(a, b) is None


def test_the_effect_is_the_spread_of_the_sittings_whatever_the_strategies_cost():
    # Sittings at -0.1, 0 and 0.1; one strategy costs e times the other.
    dear = logs(0.9, 1.0, 1.1, sittings="xyz")
    cheap = logs(-0.1, -0.1, 0.0, 0.1, sittings="xxyz")
    found = estimate_effect([dear, cheap])
    assert (found.sd, found.freedom) == (pytest.approx(0.1), 2)


def test_one_sitting_tells_nothing_of_the_effect():
    assert estimate_effect([logs(0, 1, sittings="xx"), Sample((), (), ())]) is None
