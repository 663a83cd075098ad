"""The coefficients of a simulated Hudi table: those of every format, and the sizes of its timeline."""

from pathlib import Path

from pydantic import Field

from bench.engines.simulated.costs import Bytes, Coefficients, Operation, Part, load_coefficients


class Timeline(Part):
    """Bytes of the timeline. An instant is three files, which name the files that it wrote.

    `instant_bytes` are those of all three without these, most of which is the schema.
    """

    table_bytes: Bytes
    instant_bytes: Bytes
    bytes_per_file: Bytes
    plan_bytes_per_slice: Bytes
    archived_ratio: float = Field(ge=0, le=1)  # of an instant's bytes, those that archiving leaves


class HudiCoefficients(Coefficients):
    """A coefficients file for Hudi. An `upsert` looks keys up; `scheduling` makes and writes a plan."""

    upsert: Operation
    scheduling: Operation
    timeline: Timeline


def hudi_coefficients(path: Path | None = None) -> HudiCoefficients:
    """The coefficients in `path`, or in the file that ships with the package. Raises ScenarioError."""
    return load_coefficients("hudi", HudiCoefficients, path)
