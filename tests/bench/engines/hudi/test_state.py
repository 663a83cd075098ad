"""What the reader of a table sees of what others do to it meanwhile."""

import pytest
from hudi_folders import HudiFolder

from bench.engines.contract import Tag
from bench.engines.hudi.folder import TableFolder
from bench.engines.hudi.state import HudiReader

FIRST, SECOND = Tag("writer", "commit-1", 60_000, 5), Tag("writer", "commit-2", 120_000, 5)


@pytest.fixture
def folder(tmp_path):
    return HudiFolder(tmp_path / "orders")


@pytest.fixture
def table(folder):
    return TableFolder(str(folder.path))


def test_a_commit_is_found_by_its_tag_until_it_has_been_read(folder, table):
    reader = HudiReader(table)
    folder.commit(1, folder.log(1, "f"), tag=str(FIRST))
    assert reader.has_committed(FIRST)
    assert not reader.has_committed(SECOND)
    assert [version.tag for version in reader.read(0).versions] == [FIRST]
    assert not reader.has_committed(FIRST)


def test_a_write_that_is_rolled_back_has_not_been_archived(folder, table):
    reader = HudiReader(table)
    folder.commit(1, folder.base(1, "f"))
    begun = folder.timeline / "20260101000200000.deltacommit.requested"
    begun.touch()
    reader.read(0)
    begun.unlink()
    assert reader.read(0).versions == ()
    folder.commit(3, folder.log(3, "f"))
    reader.read(0)
    folder.archive(1)
    assert [version.operation for version in reader.read(0).versions] == ["archive"]


def test_what_one_reading_finds_replaced_twice_counts_once(folder, table):
    reader = HudiReader(table, looks_up_keys=True)
    folder.commit(1, folder.base(1, "f"))
    reader.read(0)
    folder.commit(3, folder.base(3, "f", size_bytes=50))
    folder.commit(5, folder.base(5, "g"), action="replacecommit", operation="CLUSTER", replaced={"a": ["f"]})
    folder.plan(5, ("a", "f"), service="clustering")
    folder.commit(7, folder.log(7, "g"))
    reading = reader.read(0)
    rewritten, clustered, changed = reading.versions
    assert [version.change.replaced_bytes for version in reading.versions] == [100, 50, 0]
    assert (rewritten.change.files_removed_count, clustered.change.files_removed_count) == (1, 1)
    assert changed.work.looked_up_files_count == 1
    assert sorted(file.file_id for file in reading.live.values()) == ["g", "g"]


def test_a_folder_that_vanishes_while_it_is_listed_is_listed_again(folder, table, monkeypatch):
    folder.commit(1, folder.base(1, "f"))
    tries, listed = [FileNotFoundError("gone"), None], table.list

    def listing(self):
        problem = tries.pop(0)
        if problem is not None:
            raise problem
        return listed()

    monkeypatch.setattr(TableFolder, "list", listing)
    assert len(HudiReader(table).read(0).live) == 1
    assert not tries
