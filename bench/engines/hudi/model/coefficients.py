"""The coefficients of a simulated Hudi table."""

from collections.abc import Mapping

from pydantic import Field

from bench.engines.hudi.table_keys import has_metadata_table
from bench.engines.simulated.costs import COMMON, Bytes, Coefficients, Part
from bench.engines.simulated.steps import Operation


class Timeline(Part):
    """Bytes of the timeline. An instant is three files, which name the files that it wrote.

    `instant_bytes` is the size of all three without these names; most of it is the schema.
    """

    table_bytes: Bytes
    instant_bytes: Bytes
    bytes_per_file: Bytes
    plan_bytes_per_slice: Bytes
    archived_ratio: float = Field(ge=0, le=1)  # the part of an instant's bytes that archiving leaves


class HudiCoefficients(Coefficients):
    """A coefficients file for Hudi."""

    table_format = "hudi"
    needed = COMMON | {Operation.UPSERT, Operation.CLUSTER}

    timeline: Timeline


def table_amounts(properties: Mapping[str, str]) -> Mapping[str, float]:
    """If there is a metadata table, each instant is also a commit to it, and readers list files from it."""
    return {"s_with_metadata_table": float(has_metadata_table(properties))}
