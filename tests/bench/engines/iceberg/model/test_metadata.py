from dataclasses import dataclass, field

import pytest
from coefficients import METADATA
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.engines.iceberg.model.coefficients import Metadata
from bench.engines.iceberg.model.metadata import MERGE_FROM_MANIFESTS, Entries, SimulatedMetadata
from bench.results.values import MaintenanceWork

SIZES = Metadata(**METADATA)


@pytest.fixture
def metadata():
    """The metadata of an empty table: 1,000 bytes of table metadata, and 100 more a snapshot.

    A manifest list has 500 bytes and 10 a manifest, a manifest 50 and 1 a file.
    """
    made = SimulatedMetadata(SIZES)
    made.create()
    return made


def commit(metadata, at_ms, added, removed, added_bytes, replaced_bytes, added_deletes=(), gone_deletes=()):
    """Commit single files, given by their keys."""
    return metadata.commit(
        at_ms,
        Entries(dict.fromkeys(added, 1), dict.fromkeys(removed, 1), removed),
        Entries(dict.fromkeys(added_deletes, 1), dict.fromkeys(gone_deletes, 1), gone_deletes),
        added_bytes,
        replaced_bytes,
    )


def test_a_commit_writes_table_metadata_a_list_and_a_manifest(metadata):
    assert commit(metadata, 60, ["a", "b"], [], 20, 0) == (1_100 + 510 + 52, 3)
    assert commit(metadata, 120, ["c"], [], 10, 0) == (1_200 + 520 + 51, 3)
    assert metadata.manifests_count == 2
    assert metadata.data_storage_bytes == 30
    assert metadata.metadata_storage_bytes == 1_000 + 1_662 + 1_771


def test_removing_files_writes_their_manifests_anew(metadata):
    commit(metadata, 60, ["a", "b", "c"], [], 30, 0)
    commit(metadata, 120, ["d"], [], 10, 0)
    # Table metadata, a list of 2 manifests (that of d is spent), those of a b c and of d anew, and one of e.
    assert commit(metadata, 180, ["e"], ["a", "b", "d"], 30, 30) == (1_300 + 520 + 53 + 51 + 51, 5)
    assert metadata.manifests_count == 2
    assert metadata.data_storage_bytes == 70


def test_manifests_are_merged_when_there_are_a_hundred(metadata):
    for number in range(MERGE_FROM_MANIFESTS - 1):
        written_bytes, files_count = commit(metadata, number, [f"{number}"], [], 1, 0)
    assert (metadata.manifests_count, files_count) == (99, 3)
    before_bytes = metadata.metadata_storage_bytes
    written_bytes, files_count = commit(metadata, 100, ["last"], [], 1, 0)
    assert metadata.manifests_count == 1
    # Of 100 snapshots: table metadata, a list of one manifest, the commit's own manifest and the merged one.
    assert (written_bytes, files_count) == (11_000 + 510 + 51 + 150, 4)
    # The commit's own is no longer needed when it ends; the 99 others are, by older snapshots.
    assert metadata.metadata_storage_bytes - before_bytes == 11_000 + 510 + 150
    metadata.expire(100, 1)
    table_metadata_bytes = 1_000 + sum(1_000 + 100 * count for count in range(1, 101)) + 1_100
    assert metadata.metadata_storage_bytes == table_metadata_bytes + 510 + 150


def test_a_part_of_a_run_leaves_its_manifest_and_later_the_rest_leaves_the_merged_one(metadata):
    metadata.commit(60, Entries({"a": 5}), Entries(), 50, 0)
    metadata.commit(120, Entries({"b": 1}, {"a": 2}), Entries(), 10, 20)
    # The manifest of the run was written again with its 5 entries, of which 2 are deleted now.
    assert metadata.rewrite(180) == (1_300 + 510 + 54, 3)
    assert metadata.commit(240, Entries({}, {"a": 3}, ["a"]), Entries(), 0, 30) == (1_400 + 510 + 54, 3)
    assert metadata.manifests_count == 1


def test_rewriting_manifests_leaves_one(metadata):
    assert metadata.rewrite(0) == (0, 0)
    commit(metadata, 60, ["a", "b"], [], 20, 0)
    assert metadata.rewrite(70) == (0, 0)
    commit(metadata, 120, ["c"], [], 10, 0)
    assert metadata.rewrite(180) == (1_300 + 510 + 53, 3)
    assert metadata.manifests_count == 1
    assert metadata.data_storage_bytes == 30


def test_data_and_deletes_are_in_manifests_of_their_own(metadata):
    # Table metadata, a list of two manifests, one of a and b, one of the delete.
    assert commit(metadata, 60, ["a", "b"], [], 30, 0, ["x"]) == (1_100 + 520 + 52 + 51, 4)
    assert commit(metadata, 120, ["c"], [], 10, 10, gone_deletes=["x"]) == (1_200 + 520 + 51 + 51, 4)
    assert (metadata.manifests_count, metadata.data_storage_bytes) == (2, 40)
    commit(metadata, 180, [], [], 10, 0, ["y"])
    # The manifests of data become one; the one of deletes is one already.
    assert metadata.rewrite(240) == (1_400 + 520 + 53, 3)


def test_only_deletes_of_the_oldest_manifests_are_found_first(metadata):
    for number, keys in enumerate((["a", "b"], ["c"], ["d", "e"])):
        commit(metadata, 60 * number, [], [], 1, 0, keys)
    assert metadata.first_deletes(["e", "b", "d"], 1) == ["b"]
    assert metadata.first_deletes(["e", "b", "d"], 2) == ["b", "e", "d"]
    assert metadata.first_deletes([], 2) == []


@pytest.mark.parametrize(("retain_last", "left"), [(1, 1), (3, 3), (4, 4), (9, 5)])
def test_expiry_keeps_the_newest_whatever_their_age(metadata, retain_last, left):
    for number in range(5):
        commit(metadata, number, [f"{number}"], [], 1, 0)
    written_bytes, files_count, work = metadata.expire(1_000, retain_last)
    assert work == MaintenanceWork(0, 5 - left)
    assert (written_bytes, files_count) == ((1_000 + 100 * left, 1) if left < 5 else (0, 0))


def is_delete(path):
    return path.startswith("delete")


@dataclass
class Naive:
    """Every snapshot by all it names: files, its list, its manifests; what none names is gone."""

    live: dict[str, int] = field(default_factory=dict)  # bytes by path
    # Entries, live paths, whether of deletes.
    manifests: dict[int, tuple[int, set[str], bool]] = field(default_factory=dict)
    snapshots: list[dict] = field(default_factory=list)
    table_metadata_bytes: int = SIZES.table_metadata_bytes
    made: int = 0

    def manifest(self, entries, paths, of_deletes):
        self.made += 1
        self.manifests[self.made] = (entries, paths, of_deletes)

    def lasting(self, of_deletes):
        return sum(bool(paths) and kind == of_deletes for _, paths, kind in self.manifests.values())

    def commit(self, at_ms, added, removed):
        self.manifests = {n: m for n, m in self.manifests.items() if m[1]}
        for number, (_, paths, kind) in list(self.manifests.items()):
            if paths & set(removed):
                del self.manifests[number]
                self.manifest(len(paths), paths - set(removed), kind)
        for path in removed:
            del self.live[path]
        self.live.update(added)
        for kind in (False, True):
            own = {path for path in added if is_delete(path) == kind}
            if own:
                self.manifest(len(own), own, kind)
            if self.lasting(kind) >= MERGE_FROM_MANIFESTS:
                self.merge(kind)
        self.snapshot(at_ms)

    def merge(self, of_deletes):
        self.manifests = {n: m for n, m in self.manifests.items() if not m[1] or m[2] != of_deletes}
        paths = {path for path in self.live if is_delete(path) == of_deletes}
        self.manifest(len(paths), paths, of_deletes)

    def rewrite(self, at_ms):
        several = [kind for kind in (False, True) if self.lasting(kind) > 1]
        if several:
            self.manifests = {n: m for n, m in self.manifests.items() if m[1]}
            for kind in several:
                self.merge(kind)
            self.snapshot(at_ms)

    def snapshot(self, at_ms):
        lasting = self.lasting(False) + self.lasting(True)
        list_bytes = SIZES.manifest_list_bytes + SIZES.manifest_list_bytes_per_manifest * lasting
        sizes = {
            number: SIZES.manifest_bytes + SIZES.manifest_bytes_per_file * entries
            for number, (entries, _, _) in self.manifests.items()
        }
        self.snapshots.append(
            {"at_ms": at_ms, "list": list_bytes, "manifests": sizes, "files": dict(self.live)}
        )
        self.write_table_metadata()

    def write_table_metadata(self):
        per_snapshot = SIZES.table_metadata_bytes_per_snapshot
        self.table_metadata_bytes += SIZES.table_metadata_bytes + per_snapshot * len(self.snapshots)

    def expire(self, keep_from_ms, retain_last):
        last = self.snapshots[-retain_last:]
        kept = [s for s in self.snapshots if s["at_ms"] >= keep_from_ms or any(s is one for one in last)]
        if len(kept) < len(self.snapshots):
            self.snapshots = kept
            self.write_table_metadata()

    @property
    def stored(self):
        return {p: size for s in self.snapshots for p, size in s["files"].items()}

    @property
    def data_storage_bytes(self):
        return sum(self.stored.values())

    @property
    def metadata_storage_bytes(self):
        manifests = {n: size for s in self.snapshots for n, size in s["manifests"].items()}
        lists_bytes = sum(s["list"] for s in self.snapshots)
        return self.table_metadata_bytes + lists_bytes + sum(manifests.values())


STEPS = st.one_of(
    st.tuples(st.just("commit"), st.integers(1, 3), st.integers(0, 6)),
    st.tuples(st.just("many"), st.integers(90, 105), st.just(0)),
    st.tuples(st.just("rewrite"), st.just(0), st.just(0)),
    st.tuples(st.just("expire"), st.integers(0, 12), st.integers(1, 4)),
)


@settings(max_examples=30)
@given(steps=st.lists(STEPS, max_size=20), data=st.data())
def test_storage_is_what_the_kept_snapshots_name(steps, data):
    metadata, naive = SimulatedMetadata(SIZES), Naive()
    metadata.create()

    def committed(at_ms, added_count, removed):
        kinds = data.draw(st.sampled_from([("data",), ("data", "delete"), ("delete",)]))
        added = {f"{kind}-{at_ms}-{n}": n + 1 for n in range(added_count) for kind in kinds}
        gone_bytes = sum(naive.live[path] for path in removed)
        own, gone = ([[path for path in paths if is_delete(path) == kind] for kind in (False, True)]
                     for paths in (added, removed))  # fmt: skip
        commit(metadata, at_ms, own[0], gone[0], sum(added.values()), gone_bytes, own[1], gone[1])
        naive.commit(at_ms, added, removed)

    at_ms = 0
    for kind, first, second in steps:
        at_ms += 1
        if kind == "commit":
            live = sorted(naive.live)
            removed = data.draw(st.lists(st.sampled_from(live), unique=True, max_size=second)) if live else []
            committed(at_ms, first, removed)
        elif kind == "many":
            for _ in range(first):
                at_ms += 1
                committed(at_ms, 1, [])
        elif kind == "rewrite":
            metadata.rewrite(at_ms)
            naive.rewrite(at_ms)
        else:
            stored_count, snapshots_count = len(naive.stored), len(naive.snapshots)
            _, _, work = metadata.expire(at_ms - first, second)
            naive.expire(at_ms - first, second)
            assert work.deleted_files_count == stored_count - len(naive.stored)
            assert work.expired_versions_count == snapshots_count - len(naive.snapshots)
        assert metadata.data_storage_bytes == naive.data_storage_bytes >= sum(naive.live.values())
        assert metadata.metadata_storage_bytes == naive.metadata_storage_bytes
        assert metadata.manifests_count == naive.lasting(False) + naive.lasting(True)
