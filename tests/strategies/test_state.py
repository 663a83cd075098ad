from dataclasses import replace
from datetime import date

import pytest

from strategies.state import DataFile, DeleteFile, DerivedValues, TableState

COMPUTED: list[object] = []


def paths(files):
    COMPUTED.append(files)
    return [file.path for file in files]


def sizes(files):
    return [file.size_bytes for file in files]


@pytest.fixture
def state():
    COMPUTED.clear()
    return TableState(0, 100, (DataFile("a", 1, 1), DataFile("b", 2, 1)), (DeleteFile("d", 3, 1),))


def test_a_derived_value_is_computed_once(state):
    first, second = (state.derived(paths, state.data_files) for _ in range(2))
    assert first is second
    assert (first, len(COMPUTED)) == (["a", "b"], 1)


def test_values_of_other_functions_and_of_other_collections_are_others(state):
    assert state.derived(paths, state.data_files) == ["a", "b"]
    assert state.derived(sizes, state.data_files) == [1, 2]
    assert state.derived(paths, state.delete_files) == ["d"]


def test_a_state_with_other_files_derives_from_these_and_shares_the_rest(state):
    state.derived(paths, state.data_files), state.derived(paths, state.delete_files)
    narrowed = replace(state, data_files=state.data_files[:1])
    assert narrowed.derived(paths, narrowed.data_files) == ["a"]
    assert narrowed.derived(paths, narrowed.delete_files) == ["d"]
    assert [state.data_files, state.delete_files, narrowed.data_files] == COMPUTED
    assert state.derived(paths, state.data_files) == ["a", "b"]


def test_a_collection_that_is_gone_cannot_be_taken_for_one_at_its_place(state):
    for number in range(200):  # CPython gives a freed tuple's address to the next one
        other = replace(state, data_files=(DataFile(f"f{number}", 1, 1),))
        assert other.derived(paths, other.data_files) == [f"f{number}"]


def test_an_error_is_raised_again_and_not_kept(state):
    def fails(files):
        raise KeyError(len(files))

    for _ in range(2):
        with pytest.raises(KeyError):
            state.derived(fails, state.data_files)


def test_each_state_made_by_hand_has_values_of_its_own():
    assert TableState(0, 1).derived_values is not TableState(0, 1).derived_values
    assert TableState(0, 1, derived_values=DerivedValues()) == TableState(0, 1)


@pytest.mark.parametrize(
    ("epoch_ms", "at_ms", "day"),
    [
        (1_767_225_600_000, 0, date(2026, 1, 1)),
        (1_767_225_600_000, 86_399_999, date(2026, 1, 1)),
        (1_767_225_600_000, 86_400_000, date(2026, 1, 2)),
        (1_767_225_600_000 + 43_200_000, 43_200_000, date(2026, 1, 2)),  # a stream that begins at noon
        (-1, 0, date(1969, 12, 31)),
        (None, 0, None),
    ],
)
def test_the_calendar_day_is_the_utc_day_of_the_observation(epoch_ms, at_ms, day):
    assert TableState(at_ms, 1, stream_epoch_ms=epoch_ms).calendar_day == day


def test_when_a_file_came_in_does_not_make_it_another_one():
    file = DataFile("a", 1, 1, added_at_ms=5)
    assert file == DataFile("a", 1, 1)
    assert replace(file, rows=2).added_at_ms == 5
