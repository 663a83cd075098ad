"""Limits by themselves, and several tests of noisy figures together."""

from dataclasses import replace

import pytest
from comparisons import measured

from bench.comparison.fail_if import condition, kept_text, noisy_tests, outcome_alone, outcomes, parse_limit
from bench.errors import ScenarioError
from reports.verdicts.repeating import BytesNoise, compare_bytes, compare_counts


@pytest.mark.parametrize(
    ("sign", "expected"),  # of intervals below, ending at, around, beginning at and above 1.1
    [
        (">", ["holds", "holds", "inconclusive", "inconclusive", "broken"]),
        (">=", ["holds", "inconclusive", "inconclusive", "broken", "broken"]),
        ("<", ["broken", "inconclusive", "inconclusive", "holds", "holds"]),
        ("<=", ["broken", "broken", "inconclusive", "inconclusive", "holds"]),
    ],
)
def test_a_limit_is_broken_where_the_whole_interval_lies_beyond(sign, expected):
    template = measured(1.15, 0.03)
    intervals = [(1.0, 1.05), (1.0, 1.1), (1.05, 1.15), (1.1, 1.2), (1.15, 1.2)]
    limit = parse_limit(f"files_end {sign} 1.1x")
    comparisons = [replace(template, low=low, high=high) for low, high in intervals]
    assert [outcome_alone(limit, comparison) for comparison in comparisons] == expected


@pytest.mark.parametrize(
    ("sign", "expected"), [(">", "holds"), (">=", "broken"), ("<", "holds"), ("<=", "broken")]
)
def test_an_exact_ratio_at_the_limit_is_decided(sign, expected):
    assert outcomes([(parse_limit(f"files_end{sign}2x"), compare_counts([4], [2]))]) == [expected]


def test_bytes_within_their_tolerance_of_a_limit_are_inconclusive():
    limit = parse_limit("write_amplification>1.1x")
    for ratio, outcome in ((1.005, "holds"), (1.09, "inconclusive"), (1.13, "broken")):
        assert outcome_alone(limit, compare_bytes([ratio], [1.0], BytesNoise())) == outcome


def test_only_noisy_tests_share_the_error():
    noisy = measured(1.05, 0.03)
    limit = parse_limit("files_end>1x")
    assert noisy_tests([(limit, noisy), (limit, compare_counts([1], [1])), (limit, noisy)]) == 2


def test_a_limit_is_printed_as_what_must_be_so():
    limit = parse_limit(" files_end >=1.10 x ")
    assert (condition(limit), kept_text(limit)) == ("files_end>=1.1x", "files_end < 1.1x")
    with pytest.raises(ScenarioError):
        parse_limit("files_end>1e3x")
