import pytest

from bench.engines.delta.ledger import delta_ledger
from bench.engines.delta.model.auto_compaction import AutoCompaction
from bench.engines.delta.model.changes import Changes
from bench.engines.delta.model.coefficients import DeltaCoefficients
from bench.engines.delta.model.files import vector_file_bytes
from bench.engines.delta.model.log import SimulatedLog
from bench.engines.delta.model.versions import Versions
from bench.engines.simulated.contents import Opened
from bench.engines.simulated.selection import Selection
from strategies.delta.files import DeletionVector, DeltaDataFile


@pytest.fixture
def versions():
    """Files are named after their range of keys, or "any"."""

    def keys_of(run):
        low, _, high = run.first.path.partition("-")
        return ((int(low), int(high)) if high else None), 0

    return Versions(
        delta_ledger(100, {}), SimulatedLog(DeltaCoefficients.read().log, 10), AutoCompaction(), keys_of
    )


def test_a_file_of_vectors_stays_while_one_of_them_is_live(versions):
    first, second = DeltaDataFile("a", 100, 10), DeltaDataFile("b", 100, 10)
    versions.write(Changes("WRITE", added=[first, second]), 0, None)
    vectors = [DeletionVector("v", 40, 1, data_file=path) for path in ("a", "b")]
    versions.write(Changes("MERGE", vectors=vectors, marked=[first, second]), 60, None)
    marked_bytes = versions.storage.size_bytes
    assert marked_bytes == 200 + vector_file_bytes(vectors)
    versions.write(Changes("DELETE", removed=[first]), 120, None)
    versions.storage.delete(1_000)
    assert versions.storage.size_bytes == marked_bytes - 100
    versions.write(Changes("DELETE", removed=[second]), 1_000, None)
    versions.storage.delete(1_001)
    assert versions.storage.size_bytes == 0


def test_a_query_by_key_opens_the_vectors_of_files_that_may_hold_it(versions):
    files = [DeltaDataFile(path, 100, 10) for path in ("1-10", "11-20", "any")]
    versions.write(Changes("WRITE", added=files), 0, None)
    assert versions.opened(Selection((5, 5))) == Opened(0, 0)  # from now on it is kept up to date
    vectors = [
        DeletionVector("v", size_bytes, 1, data_file=file.path)
        for file, size_bytes in zip(files, (40, 50, 60), strict=True)
    ]
    versions.write(Changes("MERGE", vectors=vectors, marked=files), 60, None)
    assert versions.opened(Selection((5, 5))) == Opened(2, 100)
    assert versions.opened(Selection((10, 12))) == Opened(3, 150)
    versions.write(Changes("DELETE", removed=files[:1]), 120, None)
    assert versions.opened(Selection((5, 5))) == Opened(1, 60)
    assert versions.opened(Selection((10, 12))) == Opened(2, 110)
