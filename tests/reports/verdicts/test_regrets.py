import pytest

from reports.verdicts.regrets import cheapest, spread


def test_unknown_costs_are_the_highest_and_the_first_of_equal_ones_is_the_cheapest():
    costs_s = {"unknown": None, "first": 2.0, "second": 2.0, "dear": 3.0}
    assert cheapest(costs_s, costs_s.get) == "first"
    assert cheapest(["unknown"], costs_s.get) == "unknown"


def test_a_spread_is_a_share_of_the_smallest():
    assert spread([2.0, 3.0, 2.5]) == pytest.approx(0.5)
    assert spread([2.0]) == 0
    assert spread([0.0, 1.0]) == 0
