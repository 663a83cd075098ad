import pytest

from bench.results.metrics import METRICS
from bench.text import MISSING
from reports import text


def test_format_value_takes_a_metric_or_a_unit():
    assert text.format_value("compaction_added_bytes", 2048) == text.format_value("bytes", 2048) == "2 KiB"
    assert text.format_value("compactions", 1234) == "1,234"
    assert text.format_value("duty_cycle", 0.3) == "30 %"  # a share, no multiple


def test_format_value_knows_every_metric_and_shows_a_dash_for_none():
    assert {text.format_value(metric.name, None) for metric in METRICS} == {MISSING}
    assert all(text.format_value(metric.name, 1.5) for metric in METRICS)


@pytest.mark.parametrize(
    ("values", "expected"), [([], 0), ([0.0], 0), ([0.065, 12.0], 3), ([50, 400], 0), ([1e-9], 4)]
)
def test_shared_decimals_suit_the_smallest_value(values, expected):
    assert text.shared_decimals(values) == expected
