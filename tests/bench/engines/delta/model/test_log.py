from bench.engines.delta.model.coefficients import Log
from bench.engines.delta.model.log import Entry, SimulatedLog


def log(interval=10):
    """Versions of 500 bytes, 100 an added and 10 a removed file; checksums of 300 bytes and 100 a file."""
    return SimulatedLog(
        Log(
            schema_bytes=2_000, commit_bytes=500, bytes_per_add=100, bytes_per_remove=10,
            checksum_bytes=300, checkpoint_bytes=5_000, checkpoint_bytes_per_file=7,
            checkpoint_bytes_per_tombstone=3,
        ),
        interval,
    )  # fmt: skip


def test_the_first_version_has_the_schema_and_no_checkpoint():
    assert log(interval=1).append(0, 0) == Entry(0, 2_500 + 300, 2, None)


def test_a_version_is_its_actions_and_a_checksum_file_of_all_live_files():
    made = log()
    made.append(0, 0)
    assert made.append(3, 0) == Entry(1, (500 + 300) + (300 + 300), 2, None)
    assert made.append(1, 2) == Entry(2, (500 + 100 + 20) + (300 + 200), 2, None)
    assert made.storage_bytes == 2_800 + 1_400 + 1_120


def test_a_checksum_file_lists_up_to_50_files():
    made = log()
    made.append(0, 0)
    assert made.append(50, 0).size_bytes == (500 + 5_000) + (300 + 5_000)
    assert made.append(1, 0).size_bytes == (500 + 100) + 300


def test_a_checkpoint_has_the_live_files_and_the_tombstones():
    made = log(interval=2)
    made.append(0, 0)
    made.append(3, 0)
    # Of 3 + 1 - 2 files; tombstones of 2.
    assert made.append(1, 2) == Entry(2, 620 + 500 + (5_000 + 2 * 7 + 2 * 3), 3, 4)
    made.append(0, 0)
    assert made.append(1, 1).checkpointed_count == 2 + 3


def test_a_reader_lists_the_checkpoint_and_the_versions_after_it():
    made, listed = log(interval=3), []
    for _ in range(8):
        made.append(1, 0)
        listed.append(made.read_files_count)
    # Versions 0 to 2 alone; the checkpoint of version 3, with 4 and 5; that of 6, with 7.
    assert listed == [1, 2, 3, 1, 2, 3, 1, 2]
