import pytest
from hypothesis import given
from hypothesis import strategies as st

from workloads.dates import DateWindow

windows = st.builds(
    lambda from_s, length_s, late_share, late_by_s: DateWindow(
        from_s, from_s + length_s, late_share, late_by_s
    ),
    st.floats(-1e6, 1e6),
    st.floats(1, 1e5),
    st.floats(0, 1),
    st.floats(1, 1e6),
)


def test_share_before_is_linear_when_no_row_is_late():
    assert DateWindow(100, 200).share_before(125) == 0.25


def test_share_before_of_late_rows_is_the_sum_of_two_uniforms():
    # X in [0, 10), U in [0, 10): X - U is a triangle over [-10, 10), so half lies before 0 and 1/8 before -5.
    window = DateWindow(0, 10, late_share=1, late_by_s=10)
    assert window.share_before(0) == pytest.approx(0.5)
    assert window.share_before(-5) == pytest.approx(0.125)


@given(window=windows, at_s=st.floats(-3e6, 3e6), later_s=st.floats(0, 1e6))
def test_share_before_rises_from_0_to_1(window, at_s, later_s):
    assert window.share_before(window.earliest_s) == pytest.approx(0, abs=1e-6)
    assert window.share_before(window.to_s) == pytest.approx(1, abs=1e-6)
    assert window.share_before(at_s + later_s) >= window.share_before(at_s) - 1e-6


def test_date_window_needs_a_millisecond():
    assert DateWindow(1000, 1000.001).share_before(1000) == 0
    with pytest.raises(ValueError, match="from_s=5 must be"):
        DateWindow(5, 5)
