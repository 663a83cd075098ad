"""Recorded commits in simulated tables: as recorded, and onto files that other compactions have made."""

import pytest
from delta_logs import add, described, dv, info, remove
from delta_simulations import make, rows_left, vectors
from engine_streams import execute, files, plan
from hypothesis import given
from hypothesis import strategies as st
from upsert_commits import commit_specs

from bench.engines.delta.existing_table import import_history
from bench.engines.delta.log import DeltaLog, live_actions
from bench.engines.delta.model.files import vector_bytes
from bench.engines.existing import TableAddress
from bench.engines.simulated.recorded_rows import recorded_path
from strategies.delta.commands import Command
from strategies.plan import Native
from workloads.history import History
from workloads.history_file import HistoryFacts, TableHistory, write_history
from workloads.partitioning import Partitioning
from workloads.recorded import Content, RecordedCommit, RecordedFile

OPTIMIZE = plan(Native(Command.OPTIMIZE))
AUTO = {"delta.autoOptimize.autoCompact": "true"}


def data(id_, rows=10, size_bytes=100, partition=""):
    return RecordedFile(id_, Content.DATA, size_bytes, rows, partition)


def vector(id_, target, rows, size_bytes=40, partition=""):
    return RecordedFile(id_, Content.VECTOR, size_bytes, rows, partition, (target,))


def history(*commits, start=()):
    """Of commits (operation, added files, removed files), one a minute; OPTIMIZE is a compaction."""
    made = [
        RecordedCommit(60_000 * n, str(n), operation, operation == "OPTIMIZE", tuple(added), tuple(removed))
        for n, (operation, added, removed) in enumerate(commits, start=1)
    ]
    facts = HistoryFacts("delta", None, 17, (), 2**30, 60_000, 60_000 * len(made))
    return TableHistory(facts, tuple(start), tuple(made))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("histories")


@pytest.fixture
def replay(folder):
    """A simulated table, and the commits of a history that are to be made in it."""

    def begin(recorded, table=None, **options):
        write_history(recorded, folder / "history.parquet")
        workload = History(str(folder / "history.parquet"), **options)
        count = len(recorded.commits)
        specs = [spec for spec in workload.shape(7, count, 60_000, Partitioning()) if spec.recorded]
        return make(schema=workload.schema, **(table or {})), specs

    return begin


def shapes(engine):
    """Paths, bytes, rows and partitions of the data files; bytes and rows of the vectors by data file."""
    state = engine.state(0)
    return (
        {(f.path, f.size_bytes, f.rows, f.partition) for f in state.data_files},
        {(v.data_file, v.size_bytes, v.rows) for v in state.delete_files},
    )


def shapes_of(live):
    return (
        {(recorded_path(f.id), f.size_bytes, f.rows, f.partition) for f in live if f.is_data},
        {(recorded_path(f.targets[0]), f.size_bytes, f.rows) for f in live if not f.is_data},
    )


def test_an_imported_table_is_replayed_as_it_is(commit, place, replay):
    commit(info("CREATE TABLE"), *described("id", "day", by=("day",)))
    commit(info(), add("a", 170, 20), add("b", 90, 9), add("c", 95, 10, day="2026-01-06"))
    commit(info("DELETE"), remove("a"), add("a", 170, 20, vector=dv("u1", rows=3, size=34)))
    second = dv("u2", rows=5, size=38)
    commit(info("MERGE"), remove("a", dv("u1")), add("a", 170, 20, vector=second), add("d", 40, 4))
    commit(info("MERGE"), remove("b"), add("e", 99, 11), remove("a", second))
    commit(info("WRITE"), add("f", 30, 2), add("g", 200, 25, vector=dv("u3", rows=1, size=30)))
    imported = import_history(TableAddress(place), None)
    engine, specs = replay(imported)
    commit_specs(engine, *specs)
    assert shapes(engine) == shapes_of(imported.live_after().values())
    live = live_actions(DeltaLog(place).from_start())
    assert sum(file.size_bytes for file in files(engine)) == sum(action.fields["size"] for action in live)
    assert engine.model.live_rows == rows_left(engine) == 10 + 4 + 11 + 2 + 24


def test_the_files_at_the_start_are_one_commit_with_their_vectors(replay):
    start = [data(1), data(2), vector(3, 1, 4)]
    engine, specs = replay(history(("WRITE", [data(4)], []), start=start))
    loaded = commit_specs(engine, specs[0])
    assert (loaded.change.files_added_count, loaded.change.delete_files_added_count) == (2, 1)
    assert loaded.change.metadata_bytes == 500 + 2 * 100 + 300 + 2 * 100  # no file counts twice
    assert loaded.cost.cpu_s > 0
    commit_specs(engine, specs[1])
    assert shapes(engine) == shapes_of([*start, data(4)])
    assert engine.model.live_rows == 26


def test_a_compaction_that_is_undone_leaves_the_files_of_the_stream(replay):
    """And the rows that were deleted of its output are deleted of what it compacted."""
    first, second, merged = data(1, 12, 120), data(2, 8, 80), data(3, 20, 190)
    old, new = vector(4, 3, 5), vector(5, 3, 10, 60)
    recorded = history(
        ("WRITE", [first, second], []), ("OPTIMIZE", [merged], [first, second]),
        ("DELETE", [old], []), ("DELETE", [new], [old]), ("WRITE", [data(6)], []),
    )  # fmt: skip
    engine, specs = replay(recorded)
    assert len(specs) == 4
    commit_specs(engine, *specs)
    assert shapes(engine)[0] == shapes_of([first, second, data(6)])[0]
    assert {path: v.rows for path, v in vectors(engine).items()} == {
        recorded_path(1): 6, recorded_path(2): 4,
    }  # fmt: skip
    assert engine.model.live_rows == 10 + 10
    engine, specs = replay(recorded, undo_compactions=False)
    commit_specs(engine, *specs)
    assert shapes(engine) == shapes_of(recorded.live_after().values())


def test_a_purge_that_is_undone_leaves_the_vector(replay):
    purged = data(3, 7, 70)
    recorded = history(
        ("WRITE", [data(1), vector(2, 1, 3)], []), ("OPTIMIZE", [purged], [data(1), vector(2, 1, 3)]),
        ("DELETE", [vector(4, 3, 2)], []),
    )  # fmt: skip
    engine, specs = replay(recorded)
    commit_specs(engine, *specs)
    (marked,) = vectors(engine).values()
    assert (marked.data_file, marked.rows, marked.size_bytes) == (recorded_path(1), 5, vector_bytes(5, 10))


def test_a_merged_file_is_as_much_larger_as_the_files_it_is_made_of(replay):
    big = [data(n, 10, 200, "p=1") for n in (1, 2)]
    small = [data(n, 10, 100, "p=2") for n in (3, 4, 5, 6)]
    engine, specs = replay(history(("WRITE", [*big, *small], [])))
    commit_specs(engine, *specs)
    execute(engine, OPTIMIZE, 60_000)
    merged = {file.partition: file for file in files(engine)}
    assert [merged[partition].rows for partition in ("p=1", "p=2")] == [20, 40]
    sizes = engine.model._coefficients, engine.model._spec.schema
    expected = {rows: sizes[0].table_bytes(sizes[1], rows) for rows in (10, 20, 40)}
    assert merged["p=1"].size_bytes == pytest.approx(expected[20] * 200 / expected[10], abs=1)
    assert merged["p=2"].size_bytes == pytest.approx(expected[40] * 100 / expected[10], abs=1)


def test_copy_on_write_replaces_a_merged_file_with_its_other_rows(replay):
    engine, specs = replay(
        history(("WRITE", [data(1), data(2), data(3)], []), ("MERGE", [data(4, 12, 120)], [data(1)]))
    )
    commit_specs(engine, specs[0])
    execute(engine, OPTIMIZE, 60_000)
    merged = commit_specs(engine, specs[1])
    (file,) = files(engine)
    assert (file.path, file.rows, engine.model.live_rows) == (recorded_path(4), 32, 32)
    assert (merged.change.files_removed_count, merged.change.files_added_count) == (1, 1)
    work = merged.versions[0].work
    assert (work.scanned_files_count, work.scanned_rows) == (1, 30)


def test_copy_on_write_that_adds_nothing_leaves_the_other_rows_in_a_file_of_their_own(replay):
    engine, specs = replay(history(("WRITE", [data(1), data(2)], []), ("DELETE", [], [data(1)])))
    commit_specs(engine, specs[0])
    execute(engine, OPTIMIZE, 60_000)
    commit_specs(engine, specs[1])
    (file,) = files(engine)
    assert (file.rows, engine.model.live_rows) == (10, 10)


def test_merge_on_read_marks_the_rows_of_a_merged_file_where_they_are(replay):
    """Also those of a file that the recorded commit removed, because none of its rows was left."""
    engine, specs = replay(
        history(
            ("WRITE", [data(1), data(2), data(3)], []),
            ("MERGE", [vector(4, 1, 4), data(5, 4, 50)], []),
            ("MERGE", [data(6, 6, 60)], [data(1), vector(4, 1, 4)]),
            ("DELETE", [], [data(2), data(3)]),
        )
    )
    commit_specs(engine, specs[0])
    execute(engine, OPTIMIZE, 60_000)
    (merged,) = files(engine)
    commit_specs(engine, specs[1])
    assert [(v.rows, v.size_bytes) for v in vectors(engine).values()] == [(4, vector_bytes(4, 30))]
    commit_specs(engine, specs[2])
    assert [(path, v.rows) for path, v in vectors(engine).items()] == [(merged.path, 10)]
    assert [file.rows for file in files(engine)] == [30, 4, 6]
    commit_specs(engine, specs[3])
    assert ([file.rows for file in files(engine)], vectors(engine)) == ([4, 6], {})
    assert engine.model.live_rows == rows_left(engine) == 10


def test_an_overwrite_replaces_files_without_looking_into_them(replay):
    engine, specs = replay(history(("WRITE", [data(1)], []), ("WRITE", [data(2)], [data(1)])))
    appended, replaced = (commit_specs(engine, spec).versions[0].work for spec in specs)
    assert (appended.scanned_files_count, replaced.scanned_files_count) == (None, 0)
    assert [file.path for file in files(engine)] == [recorded_path(2)]


def test_automatic_compaction_follows_commits_and_not_the_start(replay):
    start = [data(n) for n in range(1, 4)]
    engine, specs = replay(history(("WRITE", [data(5), data(6)], []), start=start), {"properties": AUTO})
    assert [len(commit_specs(engine, spec).compactions) for spec in specs] == [0, 1]
    assert [file.rows for file in files(engine)] == [50]


@st.composite
def histories(draw):
    """Appends, copy-on-write, vectors and deletes of whole files in two partitions."""
    random, commits, live, marks = draw(st.randoms(use_true_random=False)), [], {}, {}
    writes_vectors, ids = draw(st.booleans()), iter(range(10_000))

    def new(partition):
        rows = random.randint(1, 40)
        return data(next(ids), rows, 10 * rows + random.randint(0, 20), partition)

    for _ in range(draw(st.integers(2, 12))):
        added, removed = [new(f"p={random.randint(1, 2)}") for _ in range(random.randint(1, 3))], []
        for id_, file in list(live.items()):
            change = random.choice(["no", "no", "gone", "changed"])
            if change == "no":
                continue
            old, left = marks.get(id_), file.rows - (marks[id_].rows if id_ in marks else 0)
            if change == "changed" and writes_vectors and left > 1:
                marks[id_] = vector(next(ids), id_, file.rows - left + random.randint(1, left - 1))
                added.append(marks[id_])
            else:
                removed.append(live.pop(id_))
                marks.pop(id_, None)
                if not writes_vectors and change == "changed":
                    added.append(new(file.partition))
            removed += [old] if old else []
        live |= {file.id: file for file in added if file.is_data}
        commits.append(("MERGE", added, removed))
    return history(*commits)


@given(histories())
def test_any_history_is_replayed_as_it_was(folder, recorded):
    write_history(recorded, folder / "any.parquet")
    workload = History(str(folder / "any.parquet"))
    engine, live = make(schema=workload.schema), {}
    for spec in workload.shape(7, len(recorded.commits), 60_000, Partitioning()):
        commit_specs(engine, spec)
        made = recorded.commits[spec.index - 1]
        live = {id_: file for id_, file in live.items() if file not in made.removed}
        live |= {file.id: file for file in made.added}
        assert shapes(engine) == shapes_of(live.values())
        assert engine.model.live_rows == rows_left(engine)


@given(histories(), st.integers(1, 3))
def test_any_history_loses_no_row_by_compactions(folder, recorded, every):
    write_history(recorded, folder / "any.parquet")
    workload = History(str(folder / "any.parquet"))
    engine = make(schema=workload.schema)
    for spec in workload.shape(7, len(recorded.commits), 60_000, Partitioning()):
        commit_specs(engine, spec)
        if spec.index % every == 0:
            execute(engine, OPTIMIZE, spec.at_ms)
    assert all(0 < v.rows <= engine.model.ledger.data_files[p].rows for p, v in vectors(engine).items())
    # Rows that are written again with others are shared among the files of a commit in whole numbers.
    wrong_rows = len(recorded.commits)
    live = recorded.live_after().values()
    expected = sum(file.rows if file.is_data else -file.rows for file in live)
    assert engine.model.live_rows == pytest.approx(expected, abs=wrong_rows)
    assert rows_left(engine) == pytest.approx(engine.model.live_rows, abs=wrong_rows)
