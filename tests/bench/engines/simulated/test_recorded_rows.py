import pytest
from histories import data
from hypothesis import given
from hypothesis import strategies as st

from bench.engines.simulated.recorded_rows import RecordedRows, recorded_path
from strategies.state import DataFile
from workloads.commit import CommitSpec
from workloads.recorded import RecordedChange


def commit_spec(change, index=1):
    return CommitSpec(index, index * 60_000, 0, 1, 1, 0, 0, 1, (), recorded=change)


class Table:
    """Recorded rows, beside a plain account of which rows of which recorded file are in which file."""

    def __init__(self):
        self.rows, self.files, self.live = RecordedRows(), {}, {}

    def commit(self, added=(), removed=(), hits=None, partition_hits=None):
        change = RecordedChange(
            "append", tuple(added), tuple(removed), hits=hits or {}, partition_hits=partition_hits or {},
            followed=frozenset(file.id for file in added),
        )  # fmt: skip
        self.rows.commit(commit_spec(change))
        for file in added:
            made = DataFile(recorded_path(file.id), file.size_bytes, file.rows, file.partition)
            self.rows.add(made, file.rows)
            self.files[made.path], self.live[file.id] = {file.id}, file.rows
        for file in removed:
            self.live[file.id] = 0
        for id_, count in (hits or {}).items():
            self.live[id_] -= count

    def compact(self, paths, name):
        merged = DataFile(name, 1, self.rows.kept(map(self.file, paths)))
        self.rows.replace([self.file(path) for path in paths], [merged])
        self.files[name] = set().union(*(self.files.pop(path) for path in paths))

    def file(self, path):
        return DataFile(path, 1, 0)

    def expected(self, path):
        return sum(self.live[id_] for id_ in self.files[path])


@given(st.data())
def test_rows_are_followed_by_name_through_compactions(draws):
    table, ids = Table(), iter(range(100))
    for number in range(draws.draw(st.integers(1, 8))):
        action = draws.draw(st.sampled_from(["add", "add", "hit", "remove", "compact"]))
        if action == "add" or not table.files:
            table.commit([data(next(ids), draws.draw(st.integers(1, 50))) for _ in range(2)])
        elif action == "compact":
            paths = draws.draw(st.lists(st.sampled_from(sorted(table.files)), min_size=1, unique=True))
            table.compact(paths, f"merged-{number}")
        else:
            id_ = draws.draw(st.sampled_from(sorted(table.live)))
            if action == "remove":
                table.commit(removed=[data(id_)])
            else:
                table.commit(hits={id_: draws.draw(st.integers(0, table.live[id_]))})
        for path in table.files:
            assert table.rows.kept([table.file(path)]) == table.expected(path)
        assert table.rows.total == sum(table.live.values())


def test_holders_are_the_files_that_hold_rows_of_a_file_now():
    table = Table()
    table.commit([data(0), data(1), data(2)])
    table.compact([recorded_path(0), recorded_path(1)], "merged")
    assert table.rows.holders([0, 1, 2, 9]) == ["merged", recorded_path(2)]


def test_a_compaction_into_several_files_shares_every_source():
    table = Table()
    table.commit([data(0, rows=100)])
    halves = [DataFile(name, 1, 50) for name in ("left", "right")]
    table.rows.replace([table.file(recorded_path(0))], halves)
    table.commit(hits={0: 40})
    assert [table.rows.live(name) for name in ("left", "right")] == [30, 30]
    assert table.rows.fallen() == {("left", 0): 30, ("right", 0): 30}


def test_files_that_lose_rows_of_one_source_come_in_the_order_of_their_names():
    table = Table()
    table.commit([data(0, rows=100)])
    parts = [DataFile(f"part-{number}", 1, 10) for number in range(10)]
    table.rows.replace([table.file(recorded_path(0))], parts)
    table.commit(hits={0: 50})
    assert [origin for origin, _ in table.rows.fallen()] == [part.path for part in parts]


def test_deletions_in_a_partition_hit_all_its_older_rows_alike():
    table = Table()
    table.commit([data(0, 100, partition="p=a"), data(1, 300, partition="p=a"), data(2, 50, partition="p=b")])
    table.commit([data(3, 100, partition="p=a")], partition_hits={"p=a": 200})
    assert [table.rows.live(recorded_path(n)) for n in range(4)] == [50, 150, 50, 100]
    table.commit(partition_hits={"": 175})  # half of all rows
    assert table.rows.total == 175
    assert table.rows.live(recorded_path(2)) == 25


def test_more_deletions_than_rows_leave_none():
    table = Table()
    table.commit([data(0, 100)])
    table.commit(partition_hits={"": 1_000})
    assert table.rows.total == 0


def test_a_commit_may_delete_rows_of_its_own_files():
    table = Table()
    table.commit([data(0, 100)], hits={0: 7})
    assert table.rows.live(recorded_path(0)) == 93
    assert table.rows.dead(recorded_path(0)) == 7


def test_files_that_nobody_names_again_are_only_counted():
    rows = RecordedRows()
    rows.commit(commit_spec(RecordedChange("append", (data(0), data(1)))))
    for n in range(2):
        rows.add(DataFile(recorded_path(n), 1, 100), 100)
    rows.replace([DataFile(recorded_path(n), 1, 100) for n in range(2)], [DataFile("merged", 1, 200)])
    assert rows.live("merged") == rows.total == 200
    assert rows.holders([0, 1]) == []


def test_a_deletion_in_a_file_by_its_own_name():
    rows = RecordedRows()
    rows.commit(commit_spec(RecordedChange("append", (data(0),))))
    rows.add(DataFile(recorded_path(0), 1, 100), 100)
    rows.hit_file(recorded_path(0), 30)
    assert rows.live(recorded_path(0)) == pytest.approx(70)
    assert rows.lost == {recorded_path(0): 30}
