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


class Rising:
    """So many rows in the commit of each index."""

    def __init__(self, *rows):
        self._rows = rows

    def rows(self, index, from_ms, to_ms, mean_rows, seed):
        return self._rows[index - 1]


def test_files_follow_the_rows_up_to_the_most():
    rising = Rising(0, 1, 10, 11, 39, 40, 41, 1_000)
    specs = stream(Append(10, 4, arrival=rising, rows_per_file=10), commits=8)
    assert [spec.writers for spec in specs] == [1, 1, 1, 2, 4, 4, 4, 4]
    assert [spec.rows for spec in specs] == [0, 1, 10, 11, 39, 40, 41, 1_000]


def test_rows_per_file_leave_the_initial_load_alone():
    load, first = stream(Append(10, 4, initial_rows=1_000, initial_files=3, rows_per_file=5), commits=1)
    assert (load.writers, first.writers) == (3, 2)


@pytest.mark.parametrize("columns", SCHEMAS)
def test_expected_bytes_follow_the_number_of_columns(columns):
    (spec,) = stream(Append(80, 8, columns=columns), commits=1)
    assert spec.expected_bytes == SCHEMAS[columns].dated(wide=False).expected_bytes(80, 8)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("rows_per_commit", 0), ("files_per_commit", 0), ("initial_rows", -1), ("initial_files", 0),
        ("late_share", 1.5), ("late_share", math.nan), ("late_by_s", 0.0), ("late_by_s", math.inf),
        ("columns", 5), ("rows_per_file", 0), ("rows_per_file", -3),
    ],
)  # fmt: skip
def test_append_rejects_bad_values(field, value):
    with pytest.raises(ValueError, match=f"{field}={value} must be"):
        Append(**{"rows_per_commit": 10, "files_per_commit": 8, field: value})
