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
