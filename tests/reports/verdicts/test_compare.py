import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.verdicts.compare import holm


def test_holm_multiplies_the_smallest_by_all_and_never_falls():
    # 0.01 x 4, 0.02 x 3 and 0.03 x 2 are 0.04, 0.06 and 0.06; 0.04 x 1 is not below the one before.
    assert holm([0.03, 0.01, 0.04, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_adjusted_p_values_keep_their_order_and_are_never_smaller(p_values):
    adjusted = holm(p_values)
    assert all(0 <= p <= a <= 1 for p, a in zip(p_values, adjusted, strict=True))
    in_order = [a for _, a in sorted(zip(p_values, adjusted, strict=True))]
    assert in_order == sorted(in_order)
