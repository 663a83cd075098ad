import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workloads.keys import KeyChoice

choices = st.builds(
    KeyChoice,
    skew=st.sampled_from(["uniform", "zipf", "recent-first"]),
    exponent=st.sampled_from([0.3, 0.99, 1.0, 1.5, 2.5]),
    initial_rows=st.integers(1, 500),
)
populations = st.integers(1, 1000)


@given(choice=choices, population=populations, data=st.data())
def test_shares_of_key_ranges_add_up_to_one(choice, population, data):
    cuts = sorted(data.draw(st.lists(st.integers(1, population + 1), max_size=5)))
    edges = [1, *cuts, population + 1]
    parts = [choice.share(a, b, population) for a, b in pairwise(edges)]
    assert min(parts) >= 0
    assert sum(parts) == pytest.approx(1)


@given(choice=choices, population=populations)
def test_keys_outside_the_population_have_no_share(choice, population):
    assert choice.share(population + 1, population + 50, population) == 0
    assert choice.share(-5, 1, population) == 0
    assert choice.share(-5, population + 50, population) == pytest.approx(1)


@given(choice=choices, population=populations, draws=st.integers(0, 3000))
def test_distinct_keys_are_at_most_the_draws_and_the_population(choice, population, draws):
    distinct = choice.distinct(draws, population)
    assert 0 <= distinct <= min(draws, population) + 1e-6
    assert distinct <= choice.distinct(draws + 1, population)
    assert choice.distinct(min(draws, 1), population) == pytest.approx(min(draws, 1))


# Population 3, exponent 1: F(r) = ln r / ln 4, so ranks 1, 2 and 3 get 1/2, ln 1.5 / ln 4 and ln(4/3) / ln 4.
@pytest.mark.parametrize(
    ("skew", "key", "share"),
    [
        ("uniform", 2, 1 / 3),
        ("recent-first", 3, 0.5),
        ("recent-first", 2, 0.2925),
        ("recent-first", 1, 0.2075),
        ("zipf", 3, 0.2075),  # beyond the initial rows a key's rank is its number
        ("zipf", 1, 0.39625),  # ranks 1 and 2 are anywhere in the initial load
    ],
)
def test_shares_worked_out_by_hand(skew, key, share):
    choice = KeyChoice(skew, 1.0, 2)
    assert choice.share(key, key + 1, 3) == pytest.approx(share, abs=1e-4)


@given(choice=choices, population=populations, data=st.data())
def test_shares_in_order_of_heat_add_up_to_one(choice, population, data):
    cut = data.draw(st.integers(1, population + 1))
    parts = [choice.heat(1, cut, population), choice.heat(cut, population + 50, population)]
    assert min(parts) >= 0
    assert sum(parts) == pytest.approx(1)
    if not choice.is_scattered:
        assert parts[0] == choice.share(1, cut, population)


def test_scattered_keys_are_hot_by_their_rank():
    # Ranks 1, 2 and 3 of 3, as above; among the keys of the load they would get the same.
    shares = [KeyChoice("zipf", 1.0, 3).heat(rank, rank + 1, 3) for rank in (1, 2, 3)]
    assert shares == pytest.approx([0.5, 0.2925, 0.2075], abs=1e-4)


@given(choice=choices, population=populations, share=st.floats(0, 1, exclude_max=True))
def test_a_share_of_draws_is_below_the_key_at_it(choice, population, share):
    key = choice.key_at(share, population)
    assert 1 <= key <= population
    assert choice.share(1, key, population) <= share
    assert key == population or choice.share(1, key + 1, population) > share


def test_exponents_around_one_agree():
    close, at = (KeyChoice("recent-first", e, 1).share(900, 1001, 1000) for e in (1 + 1e-9, 1.0))
    assert close == pytest.approx(at, rel=1e-5)


@pytest.mark.parametrize("exponent", [0.5, 1.0, 1.7])
def test_distinct_keys_match_simulated_draws(exponent):
    choice, population, rng = KeyChoice("recent-first", exponent, 1), 5000, random.Random(1)
    keys = range(1, population + 1)
    weights = [choice.share(key, key + 1, population) for key in keys]
    simulated = [len(set(rng.choices(keys, weights, k=2000))) for _ in range(20)]
    # The spread of one count is below 20; of the mean of twenty below 5.
    assert choice.distinct(2000, population) == pytest.approx(sum(simulated) / 20, abs=20)


def test_uniform_draws_hit_distinct_keys_as_in_the_birthday_problem():
    # 1,000 draws among 1,000: 1,000 x (1 - (1 - 1/1000)^1000) = 632.3
    assert KeyChoice("uniform", 1.0, 1).distinct(1000, 1000) == pytest.approx(632.3, abs=0.05)
    assert KeyChoice("uniform", 1.0, 1).distinct(5, 1) == 1
