"""What a worker is asked to do, and what it answers about a change log: JSON documents."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from bench.results.records import Mode


class _Job(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    work_folder: Path


class NoiseJob(_Job):
    """Repeat one probe for so many seconds."""

    kind: Literal["noise"] = "noise"
    seconds: float
    walls_file: Path


class _ScenarioJob(_Job):
    scenario: str  # name or path, as the user gave it
    overrides: tuple[str, ...]
    scenario_hash: str


class LogJob(_ScenarioJob):
    """Write the change log of a scenario."""

    kind: Literal["log"] = "log"
    cache_folder: Path
    progress_file: Path


class LogProgress(BaseModel):
    """How far a change log is: commits done, then its folder; or what is wrong with it."""

    done: int = 0
    total: int = 0
    folder: Path | None = None
    damaged: str | None = None
    failed: str | None = None


class RunJob(_ScenarioJob):
    """Carry out one run."""

    kind: Literal["run"] = "run"
    mode: Mode
    run_folder: Path
    run_id: str
    suite_id: str
    strategy: str
    repetition: int
    position: int
    log_folder: Path | None  # of the change log; a simulated run has none
    coefficients: Path | None  # of a simulated run; None: those that come with the format
    verify: Literal["end", "each", "off"]
    command: str
    keep_tables: bool


Job = LogJob | NoiseJob | RunJob
JOB: TypeAdapter[Job] = TypeAdapter(Annotated[Job, Field(discriminator="kind")])
