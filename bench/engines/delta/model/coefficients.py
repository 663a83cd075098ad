"""The coefficients of a simulated Delta table."""

from bench.engines.simulated.costs import COMMON, Bytes, Coefficients, Part
from bench.engines.simulated.steps import Operation


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
    table_format = "delta"
    needed = COMMON | {Operation.MERGE}

    log: Log
