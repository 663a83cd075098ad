from bench.engines.delta.model import auto_compaction
from bench.engines.delta.model.auto_compaction import AutoCompaction
from strategies.delta.files import DeltaDataFile
from strategies.state import MIB


def files(count, partition=""):
    return [DeltaDataFile("a", 500 * MIB, 1, partition)] * count


def after(automatic, added, removed=()):
    """The partitions due after a version of these files, all partitions of files added being touched."""
    automatic.saw(added, removed)
    return automatic.due(file.partition for file in added)


def compact(automatic, partition, files_count):
    """OPTIMIZE makes one file of so many, and the partition is marked."""
    automatic.saw(files(1, partition), files(files_count, partition))
    automatic.compacted([partition])


def test_the_trace_measured_on_delta(monkeypatch):
    # minNumFiles = 10, appends of 4 files: OPTIMIZE 4 -> 1, none, none, 13 -> 1, none, none, 13 -> 1.
    monkeypatch.setattr(auto_compaction, "MIN_FILES_COUNT", 10)
    automatic, live, trace = AutoCompaction(), 0, []
    for _ in range(7):
        live += 4
        if after(automatic, files(4)):
            compact(automatic, "", live)
            trace.append(live)
            live = 1
        else:
            trace.append(0)
    assert trace == [4, 0, 0, 13, 0, 0, 13]


def test_by_default_a_partition_is_compacted_the_first_time_and_then_from_50_files_on():
    automatic = AutoCompaction()
    assert after(automatic, files(2)) == [""]
    compact(automatic, "", 2)
    assert after(automatic, files(48)) == []  # 49 with the merged one
    assert after(automatic, files(1)) == [""]


def test_files_from_before_the_session_do_not_count():
    # Removed files of which it has not seen the adding make no entry of their own.
    automatic = AutoCompaction()
    automatic.saw([], files(60))
    assert automatic.due([""]) == []
    assert after(automatic, files(1)) == [""]


def test_an_empty_partition_is_forgotten_with_its_mark():
    automatic = AutoCompaction()
    after(automatic, files(2))
    compact(automatic, "", 2)
    automatic.saw([], files(1))
    assert after(automatic, files(1)) == [""]  # as if it were the first time


def test_only_touched_partitions_are_due_each_by_its_own_count(monkeypatch):
    monkeypatch.setattr(auto_compaction, "MIN_FILES_COUNT", 3)
    automatic = AutoCompaction()
    assert after(automatic, [*files(1, "p=1"), *files(1, "p=2")]) == ["p=1", "p=2"]
    automatic.compacted(["p=1", "p=2"])
    automatic.saw([*files(2, "p=1"), *files(2, "p=2")], [])
    assert automatic.due(["p=2", "p=3"]) == ["p=2"]


def test_at_most_128_partitions_are_compacted_at_once():
    added = [file for number in range(129) for file in files(1, f"p={number}")]
    assert len(after(AutoCompaction(), added)) == 128
