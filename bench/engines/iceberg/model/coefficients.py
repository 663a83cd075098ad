"""The coefficients of a simulated Iceberg table: the common ones and the sizes of its metadata."""

from bench.engines.simulated.costs import COMMON, Bytes, Coefficients, Part
from bench.engines.simulated.steps import Operation


class Metadata(Part):
    """Bytes of the metadata that a commit writes, e.g. 7,000 + 8 x 250 = 9,000 for a manifest of 8 files."""

    table_metadata_bytes: Bytes
    table_metadata_bytes_per_snapshot: Bytes
    manifest_list_bytes: Bytes
    manifest_list_bytes_per_manifest: Bytes
    manifest_bytes: Bytes
    manifest_bytes_per_file: Bytes


class IcebergCoefficients(Coefficients):
    """A coefficients file for Iceberg."""

    table_format = "iceberg"
    needed = COMMON | {Operation.UPSERT, Operation.MERGE, Operation.CONVERT}

    metadata: Metadata
