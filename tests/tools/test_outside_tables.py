import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tools.outside_tables import FILE, document, fitted

SECONDS = st.floats(0.1, 1e4)


@given(
    steps=st.tuples(st.integers(1, 100), st.integers(1, 100)),
    modelled=st.tuples(SECONDS, SECONDS),
    published=st.tuples(SECONDS, SECONDS),
)
def test_two_rows_are_as_published_with_what_is_fitted_to_them(steps, modelled, published):
    rows = list(zip(steps, modelled, published, strict=True))
    assume(abs(steps[0] * modelled[1] - steps[1] * modelled[0]) > 0.01 * steps[0] * modelled[1])
    assume(abs(steps[0] * published[1] - steps[1] * published[0]) > 0.01 * steps[0] * published[1])
    start_s, speed = fitted(*rows)
    for count, modelled_s, published_s in rows:
        assert count * start_s + modelled_s / speed == pytest.approx(published_s, rel=1e-6, abs=1e-6)


def test_the_page_has_what_the_simulator_predicts_today():
    """If this fails on purpose, run `make outside-tables docs`."""
    stored, made = json.loads(FILE.read_bytes()), document()
    assert stored["published"] == made["published"]
    assert stored["as_here"] == _approximately(made["as_here"])
    for metric, choices in made["choices"].items():
        assert [_approximately(choice) for choice in choices] == stored["choices"][metric]


def _approximately(values):
    if isinstance(values, dict):
        return {key: _approximately(value) for key, value in values.items()}
    return pytest.approx(values, rel=1e-3, abs=2e-3) if isinstance(values, float) else values
