"""The coefficients of a simulated Iceberg table: those of every format, and the bytes of its metadata."""

from pathlib import Path

from pydantic import Field

from bench.engines.simulated.costs import Coefficients, Part, load_coefficients


class Metadata(Part):
    """Bytes of the metadata one table commit writes; 7,000 and 250: a manifest of 8 files has 9,000."""

    table_metadata_bytes: int = Field(ge=0)
    table_metadata_bytes_per_snapshot: int = Field(ge=0)
    manifest_list_bytes: int = Field(ge=0)
    manifest_list_bytes_per_manifest: int = Field(ge=0)
    manifest_bytes: int = Field(ge=0)
    manifest_bytes_per_file: int = Field(ge=0)


class IcebergCoefficients(Coefficients):
    """A coefficients file of Iceberg."""

    metadata: Metadata


def iceberg_coefficients(path: Path | None = None) -> IcebergCoefficients:
    """Those of `path`, or those that come with this package. Raises ScenarioError as `load_coefficients`."""
    return load_coefficients("iceberg", IcebergCoefficients, path)
