from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from bench.engines.simulated.key_ranges import file_runs, meeting_count, span_of_ranges
from workloads.commit import CommitSpec

KEYS = st.integers(0, 30)


def test_a_file_may_hold_a_wanted_key_unless_its_range_rules_it_out():
    ranges = ((1, 4), (1, 5), (6, 7), (9, 12), (10, 12), None)
    assert [meeting_count((5, 9), keys, 0, 1) for keys in ranges] == [0, 1, 1, 1, 0, 1]
    assert meeting_count(None, (1, 4), 1, 3) == 3


@given(
    wanted=st.tuples(KEYS, KEYS).map(sorted),
    keys=st.tuples(KEYS, KEYS).map(sorted),
    step=st.integers(0, 7),
    count=st.integers(1, 9),
)
def test_files_whose_keys_rise_in_steps_are_counted_as_if_one_by_one(wanted, keys, step, count):
    ranges = [(keys[0] + step * index, keys[1] + step * index) for index in range(count)]
    expected = sum(meeting_count(wanted, own, 0, 1) for own in ranges)
    assert meeting_count(wanted, keys, step, count) == expected


@given(
    first_row=st.integers(0, 50), rows=st.integers(1, 40), count=st.integers(1, 9), index=st.integers(0, 1)
)
def test_runs_of_files_are_the_files_of_a_commit(first_row, rows, count, index):
    count = min(count, rows)
    spec = CommitSpec(index, 0, first_row, rows, rows, 0, 0, count, ())
    runs = list(file_runs(spec, rows, count))
    files = [
        (run.rows, (run.keys[0] + run.key_step * place, run.keys[1] + run.key_step * place))
        for run in runs
        for place in range(run.count)
    ]
    edges = [first_row + rows * place // count for place in range(count + 1)]
    assert files == [(end - start, (start + 1, end)) for start, end in pairwise(edges)]
    assert len(runs) == (1 if index and rows % count == 0 else count)


def test_a_partition_without_rows_has_no_files():
    assert list(file_runs(CommitSpec(1, 0, 0, 5, 5, 0, 0, 2, ()), 0, 0)) == []


def test_the_span_of_ranges_is_known_where_all_of_them_are():
    assert span_of_ranges([(5, 9), (1, 6)]) == (1, 9)
    assert span_of_ranges([(5, 9), None]) is None
    assert span_of_ranges([]) is None
