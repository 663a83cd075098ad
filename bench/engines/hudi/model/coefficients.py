"""The coefficients of a simulated Hudi table."""

from pydantic import Field

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
