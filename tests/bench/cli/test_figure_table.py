import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.cli.figure_table import scaled
from bench.text import MISSING


@pytest.mark.parametrize(
    ("unit", "values", "printed_unit", "cells"),
    [
        ("s", [0.094, 0.328, None], "ms", ["94", "328", MISSING]),
        ("s", [0.094, 1.5], "s", ["0.094", "1.5"]),
        ("s", [607.2, 0], "s", ["607", "0"]),
        ("s", [0.00002], "µs", ["20"]),
        ("s", [0.0, 0.0], "s", ["0", "0"]),
        ("s", [None], "s", [MISSING]),
        ("bytes", [512, 3 * 2**20], "MiB", ["0.000488", "3"]),
        ("bytes", [900], "B", ["900"]),
        ("share", [0.613, float("nan")], "%", ["61.3", MISSING]),
        ("ratio", [4.56], "", ["4.6x"]),
        ("count", [2587, 3.5], "", ["2,587", "3.5"]),
    ],
)
def test_figures_of_a_column_share_one_unit(unit, values, printed_unit, cells):
    assert scaled(unit, values, values) == (printed_unit, cells)


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(0, 1e6))
def test_a_larger_figure_is_never_printed_as_a_smaller_one(values, other):
    order = sorted([*values, other])
    printed = [float(cell.replace(",", "")) for cell in scaled("s", order, order)[1]]
    assert printed == sorted(printed)
