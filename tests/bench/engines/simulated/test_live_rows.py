import itertools
import math
import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from upsert_commits import changes, load

from bench.engines.simulated.live_rows import LiveRows, expected_live_rows, rows_of_outputs
from strategies.preview import RewriteGroup, ScanTaskGroup
from strategies.series import Series
from strategies.state import DataFile
from workloads.partitioning import Partitioning
from workloads.upsert import Upsert


def data_file(path, rows):
    return DataFile(path, 1, rows)


def named(*paths):
    return [data_file(path, 0) for path in paths]


@pytest.fixture
def rows():
    """A table of a file "old" of 100 rows, keys 1 to 100."""
    made = LiveRows()
    made.commit(load(100))
    made.add(data_file("old", 100), 100, (1, 100))
    return made


def test_a_hit_of_a_share_of_all_keys_kills_that_share_of_every_file(rows):
    rows.commit(changes(1, 100, updates=10))
    rows.add(data_file("first", 10), 10)
    assert [rows.dead(path) for path in ("old", "first")] == [10, 0]
    rows.commit(changes(2, 100, updates=20))
    rows.add(data_file("second", 20), 20)
    # 20 of 100 keys: a fifth of the 90 and of the 10 that lived.
    assert [rows.dead(path) for path in ("old", "first", "second")] == [28, 2, 0]
    assert rows.total == 100


def test_deletes_leave_fewer_rows_and_updates_of_deleted_keys_bring_them_back(rows):
    rows.commit(changes(1, 100, deletes=50))
    assert (rows.live("old"), rows.expected) == (50, pytest.approx(50))
    rows.commit(changes(2, 100, updates=20))
    # Of 20 keys half are gone, so 10 of 50 die and 20 come.
    rows.add(data_file("new", 20), 20)
    assert (rows.live("old"), rows.live("new"), rows.expected) == (40, 20, pytest.approx(60))


def test_inserts_kill_nothing_and_are_hit_later_like_all(rows):
    rows.commit(changes(1, 100, inserts=100))
    rows.add(data_file("new", 100), 100)
    assert (rows.dead("old"), rows.dead("new")) == (0, 0)
    rows.commit(changes(2, 200, deletes=40))
    assert (rows.dead("old"), rows.dead("new"), rows.expected) == (20, 20, pytest.approx(160))


def test_rows_a_commit_replaces_itself_are_dead_from_the_start(rows):
    rows.commit(changes(1, 100, updates=12, hit=10, again=2))
    rows.add(data_file("new", 12), 10)
    assert (rows.live("new"), rows.dead("new"), rows.expected) == (10, 2, pytest.approx(100))


def test_commits_of_unknown_keys_hit_any_row_that_lives(rows):
    # Of 30 keys in the equality deletes 20 are new ones, so that 10 of 100 rows are replaced.
    rows.commit(changes(1, 100, inserts=20, updates=10, known=False))
    rows.add(data_file("new", 30), 30)
    assert (rows.dead("old"), rows.expected) == (10, pytest.approx(120))
    assert expected_live_rows([load(3), changes(1, 3, deletes=3, known=False)]) == pytest.approx(0, abs=1e-6)


@pytest.fixture
def halves():
    """A table of two files of 500 rows: "from-1" and "from-501"."""
    made = LiveRows()
    made.commit(load(1000))
    for first in (1, 501):
        made.add(data_file(f"from-{first}", 500), 500, (first, first + 499))
    return made


def test_the_newest_rows_die_first_where_changes_hit_them_first(halves):
    halves.commit(changes(1, 1000, deletes=200, hit=100, skew="recent-first"))
    # 1 - ln(501) / ln(1001) = 0.1 of 200 draws go to the older half, and hit next to no key twice.
    assert 15 <= halves.dead("from-1") <= 20
    assert halves.dead("from-1") + halves.dead("from-501") == pytest.approx(100, abs=1)


def test_keys_that_are_hot_somewhere_die_alike_in_all_files_of_the_load(halves):
    halves.commit(changes(1, 1000, updates=400, hit=100, again=300, skew="zipf"))
    halves.add(data_file("new", 400), 100)
    assert (halves.dead("from-1"), halves.dead("from-501")) == (50, 50)
    halves.commit(changes(2, 1000, updates=400, hit=100, again=300, skew="zipf"))
    # The new file has the rows of hot keys: of its 100 a larger share dies than of the 450 of the old one.
    assert (halves.dead("new") - 300) / 100 > 2 * (halves.dead("from-1") - 50) / 450


@pytest.mark.parametrize(("skew", "most"), [("uniform", 1), ("zipf", 20), ("recent-first", 40)])
def test_there_are_never_many_bands(skew, most):
    rows, stream = LiveRows(), Upsert(100, 1, 10_000, 1, key_skew=skew)
    for spec in stream.shape(7, 300, 60_000, Partitioning()):
        rows.commit(spec)
    # Of 25,000 keys, 2^15 at most: by rank one a doubling; by age two, as neighbours differ by less.
    assert len(rows._bands) <= most


def test_many_files_lose_together_what_they_are_expected_to():
    rows = LiveRows()
    rows.commit(load(1000))
    for number in range(1000):
        rows.add(data_file(f"{number}", 1), 1, (number + 1, number + 1))
    rows.commit(changes(1, 1000, deletes=200))
    assert rows.total == pytest.approx(800, abs=5)
    assert {rows.live(f"{number}") for number in range(1000)} == {0, 1}


def test_a_rewrite_leaves_the_live_rows_and_their_chances(rows):
    rows.commit(changes(1, 100, updates=10))
    rows.add(data_file("new", 10), 10)
    assert rows.kept(named("old", "new")) == 100
    rows.replace(named("old", "new"), [data_file("a", 25), data_file("b", 75)])
    assert (rows.total, rows.live("a"), rows.live("b")) == (100, 25, 75)
    rows.commit(changes(2, 100, deletes=20))
    assert (rows.dead("a"), rows.dead("b")) == (5, 15)


def test_deletes_between_a_rewrites_plan_and_its_commit_still_apply(rows):
    merged = data_file("new", rows.kept(named("old")))
    rows.commit(changes(1, 100, deletes=10))
    rows.replace(named("old"), [merged])
    assert (rows.live("new"), rows.dead("new")) == (90, 10)


def test_a_rewrite_rounds_up():
    rows = LiveRows()
    rows.commit(load(10))
    for path in ("a", "b"):
        rows.add(data_file(path, 5), 5, (1, 10))
    rows.commit(changes(1, 10, deletes=1))
    assert rows.kept(named("a")) == 5  # of 4.5
    assert rows.kept(named("a", "b")) == 9  # of 9.0


def test_files_without_a_live_row_leave_none(rows):
    rows.commit(changes(1, 100, deletes=100))
    assert (rows.live("old"), rows.kept(named("old"))) == (0, 0)
    rows.replace(named("old"), [])
    assert rows.total == 0


def drawn_key(choice, population, scattered, rng):
    """A key by the choice's definition: a rank r with a density falling as 1 / r, whole numbers of it."""
    if choice.skew == "uniform":
        return rng.randrange(1, population + 1)
    rank = min(population, int((population + 1) ** rng.random()))
    if choice.skew == "recent-first":
        return population + 1 - rank
    return scattered[rank - 1] if rank <= len(scattered) else rank


@pytest.mark.parametrize(
    # Where hot keys are scattered, some have two ranks and a third has none, which is left out of account.
    ("skew", "insert_share", "off_share"),
    [("uniform", 0.5, 0.08), ("recent-first", 0.5, 0.12), ("recent-first", 0.1, 0.17), ("zipf", 0.5, 0.15)],
)
def test_files_keep_about_as_many_rows_as_a_table_of_real_keys(skew, insert_share, off_share):
    loaded, files = 4000, 4
    stream = Upsert(400, 1, loaded, files, key_skew=skew, insert_share=insert_share)
    rows, rng, table = LiveRows(), random.Random(5), {}
    scattered = [rng.randrange(1, loaded + 1) for _ in range(loaded)]
    for spec in stream.shape(7, 12, 60_000, Partitioning()):
        rows.commit(spec)
        if spec.keys is None:
            for number in range(files):
                first, end = loaded * number // files + 1, loaded * (number + 1) // files + 1
                table.update(dict.fromkeys(range(first, end), f"load-{number}"))
                rows.add(data_file(f"load-{number}", end - first), end - first, (first, end - 1))
            continue
        path, newest = f"commit-{spec.index}", spec.keys.population
        ops = ["I"] * spec.inserts + ["U"] * spec.updates + ["D"] * spec.deletes
        for op in rng.sample(ops, len(ops)):
            newest += op == "I"
            key = newest if op == "I" else drawn_key(spec.keys.choice, spec.keys.population, scattered, rng)
            table[key] = path if op != "D" else None
        (shape,) = spec.partitions
        rows.add(data_file(path, shape.rows), shape.rows - shape.superseded_rows)
    counts = Counter(path for path in table.values() if path)
    assert rows.total == pytest.approx(counts.total(), rel=0.05)
    for path, count in counts.items():
        assert rows.live(path) == pytest.approx(count, rel=off_share, abs=15), path


class AnyHistory(RuleBasedStateMachine):
    """Commits and rewrites in any order keep the books."""

    @initialize(skew=st.sampled_from(["uniform", "zipf", "recent-first"]))
    def start(self, skew):
        self.skew, self.population, self.index = skew, 200, 0
        self.names = (f"f{number}" for number in itertools.count())
        self.rows, self.files, self.specs = LiveRows(), {}, [load(200)]
        self.rows.commit(self.specs[0])
        self.hold([200], [200])

    def hold(self, counts, live):
        """New files of the last commit, of so many rows, so many of them living."""
        for count, own in zip(counts, live, strict=True):
            file = data_file(next(self.names), count)
            self.rows.add(file, own, (1, self.population))
            self.files[file.path] = count

    @rule(inserts=st.integers(0, 40), updates=st.integers(0, 40), deletes=st.integers(0, 20), data=st.data())
    def commit(self, inserts, updates, deletes, data):
        if not inserts + updates + deletes:
            return
        hit = data.draw(st.integers(min(1, updates + deletes), min(updates + deletes, self.population)))
        again = data.draw(st.integers(0, max(0, updates - 1)))
        self.index += 1
        counts = (self.population, inserts, updates, deletes, hit, again)
        spec = changes(self.index, *counts, skew=self.skew, loaded=200)
        before = {path: self.rows.live(path) for path in self.files}
        self.rows.commit(spec)
        assert all(self.rows.live(path) <= live for path, live in before.items())
        self.specs.append(spec)
        self.population += inserts
        if inserts + updates:
            self.hold([inserts + updates], [inserts + updates - again])

    @precondition(lambda self: self.files)
    @rule(data=st.data(), parts=st.integers(1, 3))
    def rewrite(self, data, parts):
        chosen = data.draw(st.lists(st.sampled_from(sorted(self.files)), min_size=1, unique=True))
        expected = sum(self.rows.live(path) for path in chosen)
        left = self.rows.kept(named(*chosen))
        assert abs(left - expected) <= len(chosen)
        counts = [left * (n + 1) // parts - left * n // parts for n in range(parts)]
        made = [data_file(next(self.names), count) for count in counts if count]
        self.rows.replace(named(*chosen), made)
        for path in chosen:
            del self.files[path]
        self.files |= {file.path: file.rows for file in made}
        assert all(self.rows.dead(file.path) <= 1 for file in made)

    @invariant()
    def rows_are_live_or_dead_and_add_up(self):
        for path, count in self.files.items():
            assert 0 <= self.rows.live(path) <= count
            assert self.rows.live(path) + self.rows.dead(path) == count
        expected = expected_live_rows(self.specs)
        assert self.rows.expected == pytest.approx(expected)
        assert abs(self.rows.total - expected) <= len(self.files) + 1e-6
        assert self.rows.kept(named(*self.files)) == math.ceil(expected - 1e-6)


TestAnyHistory = AnyHistory.TestCase
TestAnyHistory.settings = settings(max_examples=30, stateful_step_count=20, deadline=None)


def test_a_commit_may_put_its_rows_into_the_files_that_replace_those_it_hits(rows):
    rows.commit(changes(1, 100, inserts=50, updates=10))
    assert rows.kept(named("old")) == 90
    made = [data_file("one", 75), data_file("two", 75)]
    rows.replace(named("old"), made, added_rows=60)
    assert ([rows.live(file.path) for file in made], rows.total) == ([75, 75], 150)
    rows.commit(changes(2, 150, deletes=30))
    assert [rows.dead(file.path) for file in made] == [15, 15]  # a fifth of old and new rows alike


SKEWS = st.sampled_from(["uniform", "zipf", "recent-first"])
COUNTS = st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(0, 20))


@settings(max_examples=60)
@given(skew=SKEWS, commits=st.lists(COUNTS, min_size=1, max_size=8), data=st.data())
def test_a_series_has_the_rows_of_its_files_and_watched_files_are_found_when_they_lose_rows(
    skew, commits, data
):
    by_series, by_file, level = LiveRows(), LiveRows(), {}
    live: list = []  # runs of the first, of which the second has each file

    def both(do):
        return do(by_series), do(by_file)

    both(lambda rows: rows.commit(load(300)))
    population = 300
    for index, (inserts, updates, deletes) in enumerate(commits, 1):
        if not inserts + updates + deletes:
            continue
        counts = (population, inserts, updates, deletes, min(updates + deletes, population), 0)
        both(lambda rows, index=index, counts=counts: rows.commit(changes(index, *counts, skew=skew)))
        population += inserts
        for place, (run, _) in list(level.items()):
            assert by_series.live(*place) == by_file.live(run.first.path)
        fallen = by_series.fallen()
        expected = {p: by_series.live(*p) for p, (_, before) in level.items() if by_series.live(*p) < before}
        assert fallen == expected
        for place, left in fallen.items():
            level[place] = level[place][0], left
            by_series.watch(place, left)
        if live and data.draw(st.booleans()):
            chosen = data.draw(st.lists(st.sampled_from(live), min_size=1, unique_by=id))
            if data.draw(st.booleans()):  # a part of the last one
                last = chosen.pop()
                cut = data.draw(st.integers(1, last.count))
                live.append(last.slice(cut, last.count)) if cut < last.count else None
                live.remove(last)
                chosen.append(last.slice(0, cut))
            live = [run for run in live if all(run is not one for one in chosen)]
            files = [file for run in chosen for file in run.files()]
            assert by_series.kept(chosen) == by_file.kept(files)
            merged = data_file(f"merged-{index}", by_series.kept(chosen))
            made = [merged] if merged.rows else []
            by_series.replace(chosen, made)
            by_file.replace(files, made)
            for run in chosen:
                for start in range(run.start, run.start + run.count):
                    del level[run.origin, start]
            added = made
        else:
            count = data.draw(st.integers(1, 5))
            added = [Series(data_file(f"{index}-0", 12), count, f"{index}-{{}}", 0)]
            by_series.add(added[0], 12)
            for file in added[0].files():
                by_file.add(file, 12)
        for run in added:
            live.append(run)
            for start in range(run.start, run.start + run.count):
                place = run.origin, start
                one = run.slice(start - run.start, start - run.start + 1)
                level[place] = one, by_series.live(*place)
                by_series.watch(place, by_series.live(*place))
        assert by_series.total == by_file.total


def group(*task_rows):
    tasks = tuple(ScanTaskGroup(1, rows) for rows in task_rows)
    return RewriteGroup("", (), 0, 0, 1, len(tasks), tasks)


def test_live_rows_go_to_the_tasks_in_proportion_to_what_they_read():
    assert rows_of_outputs(group(100, 300), 200) == (50, 150)
    assert rows_of_outputs(group(10, 10, 10), 20) == (6, 7, 7)
    assert rows_of_outputs(group(0), 0) == (0,)


@given(rows=st.lists(st.integers(0, 50), min_size=1, max_size=6), share=st.floats(0, 1))
def test_no_row_is_lost_and_no_task_writes_more_than_it_reads(rows, share):
    live_rows = int(sum(rows) * share)
    made = rows_of_outputs(group(*rows), live_rows)
    assert sum(made) == live_rows
    assert all(0 <= own <= read for own, read in zip(made, rows, strict=True))


@settings(max_examples=30)
@given(
    skew=st.sampled_from(["uniform", "zipf", "recent-first"]),
    known=st.booleans(),
    hits=st.lists(st.integers(0, 60), min_size=1, max_size=4),
)
def test_what_a_commit_leaves_is_known_before_it_is_made(skew, known, hits):
    rows, population = LiveRows(), 300
    rows.commit(load(population))
    for index in range(3):
        rows.add(data_file(f"load-{index}", 100), 100, (100 * index + 1, 100 * (index + 1)))
    places = [(f"load-{index}", 0) for index in range(3)]
    for number, hit in enumerate(hits, start=1):
        spec = changes(number, population, inserts=5, updates=hit, skew=skew, loaded=300, known=known)
        before = [rows.live(*place) for place in places]
        expected = [*rows.left_after(spec, places)]
        assert [rows.live(*place) for place in places] == before
        rows.commit(spec)
        assert [rows.live(*place) for place in places] == expected
        places.append((f"commit-{number}", 0))
        rows.add(data_file(f"commit-{number}", 5 + hit), 5 + hit)
        population += 5
