import sys
from dataclasses import dataclass

from hypothesis import example, given
from hypothesis import strategies as st

from strategies.iceberg.packing import first_fit, pack


@dataclass(frozen=True)
class Weights:
    """`count` items of one weight."""

    weight: int
    count: int = 1

    def slice(self, begin, end):
        return Weights(self.weight, end - begin)


WEIGHTS = st.lists(st.integers(0, 12), max_size=30)
LOOKBACKS = st.integers(1, 12)


def packed(weights, target, lookback, **how):
    bins = pack(map(Weights, weights), lambda item: item.weight, target, lookback, **how)
    return [[item.weight for item in bin_] for bin_ in bins]


def test_pack_at_lookback_1_is_next_fit():
    # By hand: 6 finds no room beside 5 and 4, which closes them for the 2 as well.
    assert packed([5, 4, 6, 2], 10, 1) == [[5, 4], [6, 2]]
    assert packed([5, 6, 4], 10, 1) == [[5], [6, 4]]


def test_pack_fills_the_oldest_open_bin_that_has_room():
    # By hand: 3 goes beside 7 although it would fit the younger bin too, and 1 only there.
    assert packed([7, 6, 3, 1], 10, 2) == [[7, 3], [6, 1]]


def test_pack_closes_the_heaviest_bin_or_the_oldest():
    # By hand: at the third bin two may stay open.
    assert packed([6, 9, 7, 4], 10, 2, largest_first=True) == [[9], [6, 4], [7]]
    assert packed([6, 9, 7, 3], 10, 2) == [[6], [9], [7, 3]]


def test_pack_closes_the_older_of_two_equally_heavy_bins():
    assert packed([6, 6, 5, 4], 10, 2, largest_first=True) == [[6], [6, 4], [5]]


def test_pack_takes_an_item_heavier_than_the_target_alone():
    assert packed([11, 1], 10, 3) == [[11], [1]]


def test_pack_limits_the_items_of_a_bin():
    assert packed([1, 1, 1], 10, 1, max_items=2) == [[1, 1], [1]]


def test_pack_fills_a_bin_to_the_brim():
    assert packed([5, 5], 10, 1) == [[5, 5]]


@given(WEIGHTS, LOOKBACKS, st.booleans(), st.none() | st.integers(1, 5))
def test_pack_keeps_every_item_once_and_within_the_limits(weights, lookback, largest_first, max_items):
    bins = packed(weights, 10, lookback, largest_first=largest_first, max_items=max_items)
    assert sorted(item for bin_ in bins for item in bin_) == sorted(weights)
    for bin_ in bins:
        assert bin_
        assert sum(bin_) <= 10 or len(bin_) == 1
        assert max_items is None or len(bin_) <= max_items


@given(WEIGHTS)
def test_pack_at_lookback_1_keeps_the_order_of_the_items(weights):
    assert [item for bin_ in packed(weights, 10, 1) for item in bin_] == weights


@given(st.lists(st.integers(0, 12), max_size=80))
@example([0, 10])
def test_first_fit_is_pack_without_a_bin_ever_closed(weights):
    assert first_fit(weights, lambda weight: weight, 10) == packed(weights, 10, sys.maxsize)


@given(
    st.lists(st.builds(Weights, st.integers(0, 12), st.integers(1, 6)), max_size=12),
    LOOKBACKS,
    st.booleans(),
    st.none() | st.integers(1, 5),
)
def test_equal_items_given_as_one_are_packed_as_if_they_came_one_by_one(items, lookback, largest, max_items):
    bins = pack(items, lambda item: item.weight, 10, lookback, largest_first=largest, max_items=max_items)
    singles = [item.weight for item in items for _ in range(item.count)]
    assert [[item.weight for item in bin_ for _ in range(item.count)] for bin_ in bins] == packed(
        singles, 10, lookback, largest_first=largest, max_items=max_items
    )


def test_first_fit_copes_with_as_many_bins_as_items():
    # 50,000 bins; a second where a look at each open bin would take many minutes.
    bins = first_fit([6] * 50_000, lambda weight: weight, 10)
    assert len(bins) == 50_000
