from hypothesis import given, settings
from hypothesis import strategies as st
from upsert_commits import changes, load

from bench.engines.simulated.contents import Contents, Opened
from bench.engines.simulated.key_ranges import meeting_count
from bench.engines.simulated.live_rows import LiveRows
from bench.engines.simulated.selection import Condition, Selection
from strategies.series import Series
from strategies.state import DataFile

COUNTS = st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(0, 20))


def series(name, count, rows, key_step=0):
    return Series(DataFile(f"{name}-0", 10, rows), count, f"{name}-{{}}", 0, key_step)


@settings(max_examples=60)
@given(
    skew=st.sampled_from(["uniform", "zipf", "recent-first"]),
    commits=st.lists(COUNTS, min_size=1, max_size=8),
    replaced=st.lists(st.integers(0, 7), max_size=4),
)
def test_a_commit_touches_the_files_whose_whole_rows_become_fewer(skew, commits, replaced):
    """Compared with the live rows of all files, computed one by one."""
    contents, rows, live, population = Contents(LiveRows()), LiveRows(), {}, 300
    contents.commit(load(300))
    rows.commit(load(300))
    for number in range(3):
        file = DataFile(f"load-{number}", 10, 100)
        contents.add(file, 100, (100 * number + 1, 100 * number + 100))
        rows.add(file, 100, (100 * number + 1, 100 * number + 100))
        live[file.path, 0] = rows.live(file.path)
    for index, (inserts, updates, deletes) in enumerate(commits, 1):
        if not inserts + updates + deletes:
            continue
        spec = changes(
            index, population, inserts, updates, deletes, min(updates + deletes, population), 0, skew=skew
        )
        population += inserts
        touched = contents.commit(spec)
        rows.commit(spec)
        now = {place: rows.live(*place) for place in live}
        lost = {place: (live[place] - left, left) for place, left in now.items() if left < live[place]}
        if any(shape.deleted_keys for shape in spec.partitions):
            assert touched == lost
            assert list(touched) == list(lost)
            live |= now
        else:
            assert not touched
        added = series(f"s{index}", 3, 12)
        contents.add(added, 12, None)
        rows.add(added, 12)
        live |= {(added.origin, start): rows.live(added.origin, start) for start in range(3)}
        if index in replaced:
            gone = [added.slice(1, 3), DataFile("load-0", 10, 100)]
            gone = [run for run in gone if (run.origin, run.start) in live]
            made = DataFile(f"merged-{index}", 10, contents.kept(gone))
            contents.replace(gone, [made])
            rows.replace(gone, [made] if made.rows else [])
            if not made.rows:
                rows.add(made, 0)
            for run in gone:
                for start in range(run.start, run.start + run.count):
                    del live[run.origin, start]
            live[made.path, 0] = rows.live(made.path)
    assert contents.live_rows == rows.total


def test_a_query_by_key_opens_the_files_that_may_hold_it():
    contents = Contents(LiveRows())
    contents.commit(load(10))
    runs = [series("a", 4, 10, key_step=10)]  # keys 1-10, 11-20, 21-30, 31-40
    contents.add(runs[0], 10, (1, 10))
    assert contents.opened(Selection((15, 25)), runs) == Opened(2, 20, 20)
    contents.add(DataFile("any", 7, 5), 5, None)
    contents.add(DataFile("log", 3, 5), 5, None, is_base=False)
    assert contents.opened(Selection((15, 25)), ()) == Opened(3, 27, 25)
    contents.replace([runs[0].slice(2, 4)], [DataFile("merged", 15, 20)])  # keys 21-40
    assert contents.opened(Selection((15, 25)), ()) == Opened(3, 10 + 7 + 15, 10 + 5 + 20)
    assert contents.keys(DataFile("merged", 15, 20)) == ((21, 40), 0)
    assert meeting_count((35, 35), *contents.keys(runs[0]), 2) == 0


def test_a_query_by_partition_opens_the_files_in_it():
    contents, oslo = Contents(LiveRows()), Selection(conditions=((-1, Condition(values=("Oslo",))),))
    contents.commit(load(10))
    for name in ("Oslo", "Rome"):
        contents.add(DataFile(name, 10, 5, f"user_city={name}"), 5, (1, 10))
    files = [DataFile(name, 10, 5, f"user_city={name}") for name in ("Oslo", "Rome")]
    assert contents.opened(oslo, files) == Opened(1, 10, 5)
    contents.replace(files[:1], [])
    assert contents.opened(oslo, ()) == Opened()
