"""What races of commits find in a log, and how they end if a writer fails."""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import BrokenBarrierError

import pytest

from tools import torture_log_store
from tools.torture_log_store import at_once, problems_of, winners


@pytest.fixture
def table(tmp_path):
    """Makes a table whose versions after the first one add these files."""

    def make(*files):
        log = tmp_path / "table" / "_delta_log"
        log.mkdir(parents=True)
        for version, file in enumerate(files, 1):
            line = {"add": {"path": file, "partitionValues": {}, "size": 1, "dataChange": True}}
            (log / f"{version:020}.json").write_text(json.dumps(line))
        return log.parent

    return make


TOLD = {"a-0": 1, "b-0": 2, "b-1": 3, "a-1": 4}


def test_a_log_that_has_each_file_in_its_version_has_no_problem(table):
    assert problems_of(table("a-0", "b-0", "b-1", "a-1"), TOLD) == []
    assert winners(TOLD, range(2)) == Counter(a=1, b=1)


def test_a_commit_whose_version_another_one_has_overwritten_is_lost_and_nobody_has_won(table):
    told = {"a-0": 1, "b-0": 1}
    assert problems_of(table("b-0"), told) == ["table: a-0 was told version 1, which has ['b-0']"]
    assert winners(told, range(1)) == Counter()


def test_a_commit_without_its_version_is_lost(table):
    assert problems_of(table("a-0"), {"a-0": 1, "b-0": 2}) == [
        "table: b-0 was told version 2, which has None"
    ]


def test_a_version_that_nobody_was_told_is_a_problem(table):
    assert problems_of(table("a-0", "b-0"), {"a-0": 1}) == ["table: nobody was told version 2"]


@pytest.fixture
def pool():
    with ThreadPoolExecutor(2) as threads:
        yield threads


def test_each_writer_works_and_waits_for_the_other(pool):
    def work(writer, both):
        both.wait()
        return {writer: 1}

    assert at_once(work, pool) == {"a": 1, "b": 1}


def test_the_error_of_a_writer_ends_the_race(pool):
    def work(writer, both):
        if writer == "b":
            raise ValueError("lost its JVM")
        both.wait()

    with pytest.raises(ValueError, match="lost its JVM"):
        at_once(work, pool)


def test_nobody_waits_for_ever(pool, monkeypatch):
    monkeypatch.setattr(torture_log_store, "WAIT_S", 0.1)

    def work(writer, both):
        if writer == "a":
            both.wait()
        return {writer: 1}

    with pytest.raises(BrokenBarrierError):
        at_once(work, pool)
