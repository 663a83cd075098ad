from types import SimpleNamespace

import pytest
from iceberg_manifests import entry, write_manifest
from iceberg_tables import BY_CITY, SCHEMA
from pyiceberg.conversions import to_bytes
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import DataFileContent, ManifestContent
from pyiceberg.types import LongType

from bench.engines.iceberg import state as iceberg_state
from bench.engines.iceberg.state import LiveFiles
from strategies.iceberg.files import KeyBounds

NULLABLE = {"null_value_counts": {1: 0, 2: 0}}  # the columns of SCHEMA are optional


class Lake:
    """A table whose snapshots are lists of manifests made by hand; `opened` are those read, in order."""

    def __init__(self, folder, monkeypatch):
        self.io, self._folder, self._count = PyArrowFileIO(), folder, 0
        self.opened, self.files = [], LiveFiles()
        monkeypatch.setattr(iceberg_state, "files_of", self._opening(iceberg_state.files_of))
        monkeypatch.setattr(iceberg_state, "manifests_of", lambda manifests, io: manifests)

    def _opening(self, files_of):
        def run(manifest, table, key, snapshot_times_ms):
            self.opened.append(manifest.name)
            return files_of(manifest, table, key, snapshot_times_ms)

        return run

    def specs(self):
        return {0: BY_CITY}

    def schema(self):
        return SCHEMA

    def manifest(self, name, low, high, equality_ids=None):
        """A manifest of one file of the same name whose ids are from `low` to `high`."""
        bounds = {"lower_bounds": {1: to_bytes(LongType(), low), 2: b"a"},
                  "upper_bounds": {1: to_bytes(LongType(), high), 2: b"b"}}  # fmt: skip
        kind = DataFileContent.EQUALITY_DELETES if equality_ids else DataFileContent.DATA
        path = f"file://{self._folder / name}.avro"
        write_manifest(
            self.io, path, entry(name, **bounds, **NULLABLE, content=kind, equality_ids=equality_ids)
        )
        return SimpleNamespace(
            name=name, manifest_path=path, partition_spec_id=0, sequence_number=7,
            content=ManifestContent.DELETES if equality_ids else ManifestContent.DATA,
            added_files_count=1, existing_files_count=0, deleted_files_count=0,
        )  # fmt: skip

    def keys(self, *manifests):
        """The keys of the files by path, read as the next snapshot."""
        self.opened.clear()
        return {file.path: file.key_bounds for file in self.files.read(self, manifests)}


@pytest.fixture
def lake(tmp_path, monkeypatch):
    return Lake(tmp_path, monkeypatch)


def test_a_table_without_snapshot_has_no_files(lake):
    assert list(lake.files.read(lake, None)) == []


def test_manifests_are_read_once_without_equality_deletes(lake):
    a, b = lake.manifest("a", 1, 5), lake.manifest("b", 6, 9)
    assert lake.keys(a) == {"a": None}
    assert lake.keys(a, b) == {"a": None, "b": None}
    assert lake.opened == ["b"]


def test_the_first_equality_delete_makes_every_manifest_read_again(lake):
    a, delete = lake.manifest("a", 1, 5), lake.manifest("d", 2, 3, equality_ids=[1])
    lake.keys(a)
    assert lake.keys(a, delete) == {"a": KeyBounds(1, 5), "d": KeyBounds(2, 3)}
    assert lake.opened == ["d", "a", "d"]
    assert lake.keys(a, delete, lake.manifest("e", 4, 4, equality_ids=[1]))["e"] == KeyBounds(4, 4)
    assert lake.opened == ["e"]


def test_another_key_column_makes_every_manifest_read_again(lake):
    a, delete = lake.manifest("a", 1, 5), lake.manifest("d", 2, 3, equality_ids=[1])
    lake.keys(a, delete)
    assert lake.keys(a, lake.manifest("e", 4, 4, equality_ids=[2])) == dict.fromkeys(
        "ae", KeyBounds("a", "b")
    )
    assert sorted(lake.opened) == ["a", "e", "e"]
    assert lake.keys(a, delete, lake.manifest("f", 4, 4, equality_ids=[2])) == dict.fromkeys("adf")


def test_the_key_stays_when_the_last_equality_delete_has_gone(lake):
    a, delete = lake.manifest("a", 1, 5), lake.manifest("d", 2, 3, equality_ids=[1])
    lake.keys(a, delete)
    assert lake.keys(a) == {"a": KeyBounds(1, 5)}
    assert lake.opened == []
