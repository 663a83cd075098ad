"""States of Delta tables for planners: files by size, with or without deleted rows."""

from collections import defaultdict

from hypothesis import strategies as st

from strategies.delta.files import DeletionVector, DeltaDataFile, DeltaState
from strategies.state import MIB, PartitionStats

KNOWN_ROWS = st.integers(1, 2000)


def data_file(path, size_bytes, rows=1000, partition="", **more):
    return DeltaDataFile(path, size_bytes, rows, partition, **more)


def vector(data_path, rows, partition="", size_bytes=40):
    return DeletionVector("vectors.bin", size_bytes, rows, partition, data_file=data_path, offset=1)


def delta_table(files, vectors=(), target_bytes=128 * MIB, **more):
    """A state with these files; the totals of its partitions follow from them."""
    stats = defaultdict(PartitionStats)
    for file in files:
        seen = stats[file.partition]
        size_bytes, rows = seen.size_bytes + file.size_bytes, seen.rows + file.rows
        stats[file.partition] = PartitionStats(seen.files_count + 1, size_bytes, rows)
    at_ms = more.pop("observed_at_ms", 0)
    return DeltaState(at_ms, target_bytes, tuple(files), tuple(vectors), dict(stats), **more)


@st.composite
def delta_tables(draw, partitions=("", "p=1", "p=2"), max_files=12):
    """Tables of files up to 200 bytes, some with deleted rows, some without statistics."""
    files, vectors = [], []
    for number in range(draw(st.integers(0, max_files))):
        rows, is_known = draw(KNOWN_ROWS), draw(st.integers(0, 9)) > 0
        path, partition = f"f{number}", draw(st.sampled_from(partitions))
        size_bytes = draw(st.integers(1, 200))
        files.append(data_file(path, size_bytes, rows * is_known, partition, has_rows_count=is_known))
        if draw(st.booleans()):
            vectors.append(vector(path, draw(st.integers(1, rows)), partition))
    return delta_table(files, vectors, target_bytes=draw(st.integers(1, 300)))
