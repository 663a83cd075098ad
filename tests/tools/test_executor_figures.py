import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.text import MISSING
from tools.executor_figures import Round, Rounds, ratio_of_means

positive = st.lists(st.floats(0.5, 2.0), min_size=5, max_size=30)


@given(values=positive, factor=st.floats(0.1, 10))
def test_paired_values_in_one_ratio_have_no_interval(values, factor):
    ends = ratio_of_means(np.array(values) * factor, np.array(values))
    assert ends == pytest.approx((factor,) * 3)


def test_the_interval_has_the_ratio_about_as_often_as_it_says():
    draw = np.random.default_rng(5)
    hits = 0
    for _ in range(400):
        machine = draw.lognormal(0, 0.3, 20)  # which both meet
        mine, theirs = (machine * mean * draw.lognormal(0, 0.1, 20) for mean in (3.0, 2.0))
        low, _, high = ratio_of_means(mine, theirs)
        hits += low <= 1.5 <= high
    assert 0.92 * 400 <= hits <= 0.98 * 400


def test_a_ratio_is_with_the_compiler_or_without_it():
    fast = tuple(Round(1.0 + 0.01 * n, 0.5, 2**20 * n) for n in range(1, 6))
    slow = tuple(Round(2.0 + 0.02 * n, 0.0, None) for n in range(1, 6))
    rounds = Rounds("make them", {"a": fast, "b": slow})
    assert rounds.ratio("a", "b") == "0.50x (0.5 to 0.5)"
    assert rounds.ratio("a", "b", has_jit=False).startswith("0.26x")
    assert (rounds.count, rounds.ms("b")) == (5, "2,060")
    assert (rounds.peak("a"), rounds.peak("b")) == ("5 MiB", MISSING)
