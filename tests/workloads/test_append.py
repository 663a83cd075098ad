import math

import pytest
from workload_builders import stream

from workloads.append import Append
from workloads.schema import SCHEMAS


def test_stream_starts_with_commit_0_only_with_an_initial_load():
    specs = stream(Append(10, 8, initial_rows=1000, initial_files=3), commits=2)
    assert [(s.index, s.at_ms, s.rows, s.writers, s.is_initial) for s in specs] == [
        (0, 0, 1000, 3, True),
        (1, 60_000, 10, 8, False),
        (2, 120_000, 10, 8, False),
    ]
    assert [spec.index for spec in stream(Append(10, 8), commits=2)] == [1, 2]


def test_small_commits_touch_every_city_over_time():
    specs = stream(Append(5, 2), commits=200, by="city")
    assert all(len(spec.partitions) == 5 for spec in specs)
    assert len({p.partition for spec in specs for p in spec.partitions}) == 50


@pytest.mark.parametrize("columns", SCHEMAS)
def test_expected_bytes_follow_the_number_of_columns(columns):
    (spec,) = stream(Append(80, 8, columns=columns), commits=1)
    assert spec.expected_bytes == SCHEMAS[columns].dated(wide=False).expected_bytes(80, 8)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("rows_per_commit", 0), ("files_per_commit", 0), ("initial_rows", -1), ("initial_files", 0),
        ("late_share", 1.5), ("late_share", math.nan), ("late_by_s", 0.0), ("late_by_s", math.inf),
        ("columns", 5),
    ],
)  # fmt: skip
def test_append_rejects_bad_values(field, value):
    with pytest.raises(ValueError, match=f"{field}={value} must be"):
        Append(**{"rows_per_commit": 10, "files_per_commit": 8, field: value})
