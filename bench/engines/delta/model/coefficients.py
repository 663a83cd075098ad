"""The coefficients of a simulated Delta table."""

from pathlib import Path

from bench.engines.simulated.costs import Bytes, Coefficients, Operation, Part, load_coefficients


class Log(Part):
    """Bytes of the log. A commit with 2 files added and 1 removed is 700 + 2 x 1,400 + 250 = 3,750.

    `schema_bytes` is added to the first commit, which contains the schema; so does every checksum file.
    """

    schema_bytes: Bytes
    commit_bytes: Bytes
    bytes_per_add: Bytes
    bytes_per_remove: Bytes
    checksum_bytes: Bytes
    checkpoint_bytes: Bytes
    checkpoint_bytes_per_file: Bytes
    checkpoint_bytes_per_tombstone: Bytes


class DeltaCoefficients(Coefficients):
    merge: Operation
    checkpoint: Operation
    log: Log


def delta_coefficients(path: Path | None = None) -> DeltaCoefficients:
    return load_coefficients("delta", DeltaCoefficients, path)
