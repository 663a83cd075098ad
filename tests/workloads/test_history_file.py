import pyarrow.parquet as pq
import pytest
from histories import commit, data, history, written
from hypothesis import given
from hypothesis import strategies as st

from workloads.history_file import read_history, write_history
from workloads.recorded import Content, RecordedCommit, RecordedFile

COUNTS = st.integers(0, 2**40)
FILES = st.builds(
    RecordedFile, st.just(0), st.sampled_from(Content), COUNTS, COUNTS,
    st.sampled_from(["", "day=2026-01-01", "city=Oslo/day=2026-01-01"]),
    st.integers(0, 9).map(lambda id_: (id_,)) | st.just(()), COUNTS,
    st.none() | st.tuples(st.integers(0, 99), st.integers(100, 200)),
    st.none() | st.integers(0, 9), st.none() | COUNTS, st.none() | COUNTS,
)  # fmt: skip


@st.composite
def histories(draw):
    """Commits that add files with ids of their own and remove some that are live."""
    ids, live = iter(range(1_000)), {}

    def added():
        files = draw(st.lists(FILES, max_size=4))
        return [RecordedFile(next(ids), *_fields(file)) for file in files]

    start = added()
    live.update((file.id, file) for file in start)
    commits = []
    for number in range(draw(st.integers(0, 4))):
        chosen = st.lists(st.sampled_from(sorted(live)), unique=True, max_size=3)
        removed = [live.pop(id_) for id_ in draw(chosen if live else st.just([]))]
        new = added()
        live.update((file.id, file) for file in new)
        wall_s = draw(st.none() | st.floats(0, 1e6))
        commits.append(
            RecordedCommit(
                number, f"v{number}", "append", draw(st.booleans()), tuple(new), tuple(removed), wall_s
            )
        )
    share, notes = draw(st.none() | st.floats(0, 1)), draw(st.lists(st.text(), max_size=2))
    return history(*commits, start=start, hit_share=share, notes=tuple(notes))


def _fields(file):
    names = ("content", "size_bytes", "rows", "partition", "targets", "sequence_number", "keys", "group")
    return [getattr(file, name) for name in (*names, "new_rows", "hit_rows")]


@given(histories())
def test_a_history_is_read_as_it_was_written(tmp_path_factory, made):
    path = tmp_path_factory.mktemp("history") / "t.parquet"
    write_history(made, path)
    assert read_history(path) == made


def test_a_file_that_was_never_there_cannot_be_removed():
    with pytest.raises(ValueError, match="version v1 removes a file that is not in the table"):
        history(commit(1, removed=[data(7)])).live_after()


def test_history_files_hold_neither_paths_nor_names(tmp_path):
    path = written(tmp_path, commit(1, [data(0), data(1)]))
    assert set(pq.read_table(path).column("file").to_pylist()) == {0, 1}
    assert str(tmp_path).encode() not in path.read_bytes()


@pytest.mark.parametrize(
    ("content", "problem"), [(None, "no such file"), (b"text", "is damaged"), (b"PAR1 half", "is damaged")]
)
def test_a_missing_or_damaged_file_says_what_to_do(tmp_path, content, problem):
    path = tmp_path / "t.history.parquet"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ValueError, match=f"{problem}.*compactbench import"):
        read_history(path)


def test_parquet_files_of_others_are_refused(tmp_path):
    path = tmp_path / "t.history.parquet"
    pq.write_table(pq.read_table(written(tmp_path, commit(1, [data(0)]), name="own")).select(["file"]), path)
    with pytest.raises(ValueError, match="is damaged"):
        read_history(path)
