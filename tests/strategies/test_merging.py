from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st
from small_file_tables import TARGET, small_file_tables

from strategies.iceberg.files import IcebergDataFile, IcebergState
from strategies.merging import bytes_of, files_count, merge_groups, packed, small_runs
from strategies.series import Series
from strategies.state import DataFile, PendingPlan


def series(name, size, count):
    return Series(DataFile(f"{name}0000", size, 1), count, name + "{:04}", 0)


def sizes_of(parts):
    return [[run.first.size_bytes for run in part for _ in range(run.count)] for part in parts]


def test_parts_are_filled_from_the_smallest_file_up():
    runs = [DataFile("a", 2, 1), series("b", 3, 5), DataFile("c", 9, 1), DataFile("d", 11, 1)]
    assert sizes_of(packed(runs, 10)) == [[2, 3, 3], [3, 3, 3], [9], [11]]


def test_files_without_bytes_share_a_part():
    assert sizes_of(packed([series("a", 0, 3), DataFile("b", 10, 1)], 10)) == [[0, 0, 0, 10]]


def test_a_group_names_each_file_of_a_series():
    (group,) = merge_groups([series("a", 3, 3)], 10)
    assert group.paths == ("a0000", "a0001", "a0002")


@given(st.lists(st.tuples(st.integers(0, 120), st.integers(1, 40)), max_size=12), st.integers(1, 100))
def test_no_two_parts_fit_into_one(kinds, target):
    runs = [series(f"{n:02}-", size, count) for n, (size, count) in enumerate(sorted(kinds))]
    parts = list(packed(runs, target))
    assert sum(map(files_count, parts)) == files_count(runs)
    paths = [file.path for part in parts for run in part for file in run.files()]
    assert sorted(paths) == sorted(file.path for run in runs for file in run.files())
    assert all(bytes_of(part) <= target or files_count(part) == 1 for part in parts)
    assert all(bytes_of(a) + bytes_of(b) > target for a, b in combinations(parts, 2))


@given(small_file_tables(), st.integers(0, TARGET))
def test_small_runs_are_the_free_files_of_a_place(state, largest):
    found = small_runs(state, largest)
    assert list(found) == sorted(found)
    chosen = [run.first for runs in found.values() for run in runs]
    assert {f.path for f in chosen} == {
        f.path for f in state.data_files if f.size_bytes <= largest and f.path not in state.busy
    }
    for place, runs in found.items():
        assert {(run.first.partition, run.first.spec_id) for run in runs} == {place}
        sizes = [run.first.size_bytes for run in runs]
        assert sizes == sorted(sizes)


def test_a_file_of_a_series_in_a_pending_plan_is_left_out():
    files = tuple(series("a", 3, 3).files())
    state = IcebergState(0, 10, pending=(PendingPlan(0, 0, "cost", frozenset({"a0001"})),), data_files=files)
    assert [run.first.path for run in small_runs(state, 5)["", 0]] == ["a0000", "a0002"]


def test_files_of_two_specs_are_of_two_places():
    files = tuple(IcebergDataFile(f"f{spec}", 1, 1, "p=a", spec_id=spec) for spec in (1, 2))
    assert list(small_runs(IcebergState(0, 10, files), 5)) == [("p=a", 1), ("p=a", 2)]
