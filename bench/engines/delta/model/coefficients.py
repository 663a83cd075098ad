"""The coefficients of a simulated Delta table: those of every format, and the sizes of its log."""

from pathlib import Path

from bench.engines.simulated.costs import Bytes, Coefficients, Operation, Part, load_coefficients


class Log(Part):
    """Bytes of the log. A commit with 2 files added and 1 removed is 700 + 2 x 1,400 + 250 = 3,750.

    `schema_bytes` are those of the first commit, which has the schema; every checksum file has it too.
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
    """A coefficients file for Delta."""

    merge: Operation
    checkpoint: Operation
    log: Log


def delta_coefficients(path: Path | None = None) -> DeltaCoefficients:
    """The coefficients in `path`, or in the file that ships with the package. Raises ScenarioError."""
    return load_coefficients("delta", DeltaCoefficients, path)
