from dataclasses import replace
from pathlib import Path

import pytest
from workload_builders import CHANGES, rows_parquet

from bench.runs.worker.content_check import check_content
from workloads.change_log import ChangeLog, ChangeLogError, LoggedCommit, LoggedFile
from workloads.content import content
from workloads.fold import change_columns
from workloads.schema import ORDERS


def order(key, city):
    return {"order_id": key, "user_city": city}


def changed(op, number, key, city=None):
    return {**order(key, city), "op": op, "change_number": number}


LOAD = [order(1, "Oslo"), order(2, "Oslo"), order(3, "Oslo")]
STREAM = [
    [changed("U", 3, 1, "Rome"), changed("I", 4, 4, "Rome"), changed("D", 5, 2)],
    [changed("D", 6, 4), changed("U", 7, 2, "Lima"), changed("U", 8, 1, "Lima")],
]


class Dumped:
    """An engine whose table holds these rows."""

    def __init__(self, rows):
        self._rows = rows

    def dump(self, folder):
        folder.mkdir()
        rows_parquet(folder / "a.parquet", self._rows)


def commit(folder, index, rows, *, are_changes):
    file = folder / f"commit-{index:05}" / "part-00000.parquet"
    file.parent.mkdir(parents=True)
    columns = change_columns(ORDERS.names) if are_changes else ORDERS.names
    rows_parquet(file, rows, CHANGES) if are_changes else rows_parquet(file, rows)
    held = content([file], columns)
    size = file.stat().st_size
    return LoggedCommit(index, 60_000 * index, held.rows, 1, size, (LoggedFile(file.name, size),), held.hash)


@pytest.fixture
def log(tmp_path):
    folder = tmp_path / "log"
    commits = [commit(folder, 0, LOAD, are_changes=False)]
    commits += [commit(folder, index, rows, are_changes=True) for index, rows in enumerate(STREAM, start=1)]
    return ChangeLog(folder, "k", tuple(commits), is_cdc=True)


@pytest.mark.parametrize(
    ("commits", "rows"),
    [
        (1, LOAD),
        (2, [order(1, "Rome"), order(3, "Oslo"), order(4, "Rome")]),
        (3, [order(1, "Lima"), order(3, "Oslo"), order(2, "Lima")]),
    ],
)
def test_a_table_holds_the_last_change_of_each_key(log, tmp_path, commits, rows):
    truth = check_content(Dumped(rows), log, log.commits[:commits], tmp_path)
    assert truth.equal
    assert truth.expected_rows == 3
    rows_parquet(tmp_path / "same.parquet", rows)
    assert truth.content_bytes == (tmp_path / "same.parquet").stat().st_size
    assert not (tmp_path / "dump").exists()


def test_a_row_that_is_lost_and_one_that_lives_again_are_named(log, tmp_path):
    table = [order(1, "Rome"), order(2, "Lima"), order(4, "Rome")]
    truth = check_content(Dumped(table), log, log.commits, tmp_path)
    assert not truth.equal
    assert truth.differences == (
        "order_id 1: changed (1 expected, 1 found)",
        "order_id 3: missing_right (1 expected, 0 found)",
        "order_id 4: missing_left (0 expected, 1 found)",
    )


@pytest.mark.parametrize("index", [0, 1])
def test_a_log_that_has_changed_is_no_truth(log, tmp_path, index):
    (path,) = log.paths(log.commits[index])
    rows_parquet(Path(path), [changed("U", 3, 1, "Bern")], CHANGES)
    with pytest.raises(ChangeLogError, match="rows have changed"):
        check_content(Dumped(LOAD), log, log.commits, tmp_path)


def test_only_the_columns_of_the_log_are_compared(log, tmp_path):
    narrow = replace(log, columns=("order_id",), commits=(rehashed(log, ("order_id",)),))
    other = [order(row["order_id"], "elsewhere") for row in LOAD]
    assert check_content(Dumped(other), narrow, narrow.commits, tmp_path).equal
    assert not check_content(Dumped(other[1:]), narrow, narrow.commits, tmp_path).equal


def rehashed(log, columns):
    """The first commit of the log, as one of these columns would hold it."""
    first = log.commits[0]
    return replace(first, content_hash=content(log.paths(first), columns).hash)


def test_rows_of_an_append_log_all_count(log, tmp_path):
    plain = ChangeLog(log.folder, "k", log.commits[:1])
    assert check_content(Dumped(LOAD), plain, plain.commits, tmp_path).equal
    assert plain.table_after(plain.commits) == plain.paths(plain.commits[0])
