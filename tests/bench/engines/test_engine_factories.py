import pytest
from engine_factories import expected_failures, never, notimpl, notyet

ICEBERG, OTHER = ("iceberg", "real"), ("other", "simulated")


@pytest.mark.parametrize("helper", [notimpl, notyet, never])
def test_a_gap_is_a_strict_expected_failure_of_its_engines_only(helper):
    gap = helper(OTHER, reason="no such file", raises=KeyError)
    assert expected_failures([gap.mark], ICEBERG) == []
    (expected,) = expected_failures([gap.mark], OTHER)
    assert expected.mark.name == "xfail"
    assert expected.mark.kwargs == {
        "reason": f"{helper.__name__}: no such file", "raises": KeyError, "strict": True,
    }  # fmt: skip


def test_a_gap_needs_a_reason_and_an_engine():
    with pytest.raises(ValueError, match="never needs engines and a reason"):
        never(ICEBERG, reason="", raises=KeyError)
    with pytest.raises(ValueError, match="notyet needs engines and a reason"):
        notyet(reason="x", raises=KeyError)
