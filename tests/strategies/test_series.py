from hypothesis import given
from hypothesis import strategies as st

from strategies.iceberg.files import IcebergDataFile, KeyBounds
from strategies.series import Files, Series, files_of, runs_of, size_of
from strategies.state import DataFile


def series(count=5, key_step=10):
    first = IcebergDataFile("data/07.parquet", 100, 10, "p=1", 3, key_bounds=KeyBounds(1, 10))
    return Series(first, count, "data/{:02}.parquet", 7, key_step)


def test_the_files_of_a_series_differ_in_path_and_keys():
    files = series(3).files()
    assert [file.path for file in files] == ["data/07.parquet", "data/08.parquet", "data/09.parquet"]
    assert [file.key_bounds for file in files] == [KeyBounds(1, 10), KeyBounds(11, 20), KeyBounds(21, 30)]
    assert {(file.size_bytes, file.rows, file.partition, file.data_sequence_number) for file in files} == {
        (100, 10, "p=1", 3)
    }
    assert {file.key_bounds for file in series(3, key_step=0).files()} == {KeyBounds(1, 10)}


@given(st.data())
def test_a_slice_of_a_slice_has_the_files_at_its_place_in_the_whole(data):
    whole = series(6)
    begin = data.draw(st.integers(0, 5))
    end = data.draw(st.integers(begin + 1, 6))
    part = whole.slice(begin, end)
    inner = data.draw(st.integers(0, part.count - 1))
    one = part.slice(inner, inner + 1)
    assert part.files() == whole.files()[begin:end]
    assert list(one.files()) == [whole.files()[begin + inner]]
    assert (part.origin, part.start, one.start) == ("data/07.parquet", begin, begin + inner)


def test_a_plain_file_is_a_run_of_its_own():
    file = DataFile("a", 5, 1)
    assert (file.count, file.start, file.origin, file.files(), file.first) == (1, 0, "a", (file,), file)
    assert file.slice(0, 1) is file


def test_files_are_a_sequence_that_keeps_its_runs():
    run, file = series(3), DataFile("a", 5, 1)
    files = files_of([run, file])
    assert isinstance(files, Files)
    assert (len(files), files[3], files[1:3]) == (4, file, tuple(run.files()[1:]))
    assert list(runs_of(files)) == [run, file]
    assert (size_of(files), size_of([file, file])) == (305, 10)
    assert files_of([file, file]) == (file, file)


def test_runs_with_equal_keys_are_cut_where_keys_differ():
    run, same = series(3), series(2, key_step=0)
    cut = list(runs_of(Files([run, same]), with_equal_keys=True))
    assert [(one.count, one.start) for one in cut] == [(1, 0), (1, 1), (1, 2), (2, 0)]
