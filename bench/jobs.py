"""What a worker is asked to do, and what it answers about a change log: JSON documents in files."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter


class _Job(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    scenario: str  # name or path, as the user gave it
    overrides: tuple[str, ...]
    scenario_hash: str
    work_folder: Path


class LogJob(_Job):
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


class RunJob(_Job):
    """Carry out one run."""

    kind: Literal["run"] = "run"
    run_folder: Path
    run_id: str
    suite_id: str
    strategy: str
    repetition: int
    position: int
    log_folder: Path
    verify: Literal["end", "each", "off"]
    keep_tables: bool


JOB: TypeAdapter[LogJob | RunJob] = TypeAdapter(Annotated[LogJob | RunJob, Field(discriminator="kind")])
