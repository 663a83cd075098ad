"""The jobs of worker processes and the progress of a change log, as JSON documents."""

import os
import sys
import tomllib
from collections.abc import Callable
from contextlib import suppress
from datetime import date, time
from pathlib import Path
from typing import IO, Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, field_serializer, field_validator

from bench.results.records import Mode
from bench.scenario.load import scenario_of
from bench.scenario.scenario import Scenario


class _Job(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    work_folder: Path


class NoiseJob(_Job):
    """Repeat one query for `seconds`."""

    kind: Literal["noise"] = "noise"
    seconds: float
    walls_file: Path


_TOML = "as in TOML"  # the key of a table that stands for a date or a time, which JSON does not have


class SentScenario(BaseModel):
    """A scenario on its way to a worker, which makes it from the document that the suite began with."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: Path
    document: dict[str, Any] = Field(repr=False)  # may contain secrets
    variant: str | None

    @field_serializer("document")
    def _written(self, document: dict[str, Any]) -> Any:
        def written(value: Any) -> Any:
            return {_TOML: value.isoformat()} if isinstance(value, date | time) else value

        return _with_dates(document, written)

    @field_validator("document")
    @classmethod
    def _read(cls, document: dict[str, Any]) -> Any:
        def read(value: Any) -> Any:
            is_written = isinstance(value, dict) and value.keys() == {_TOML}
            return tomllib.loads(f"value = {value[_TOML]}")["value"] if is_written else value

        return _with_dates(document, read)

    @classmethod
    def of(cls, scenario: Scenario) -> Self:
        return cls(file=scenario.file, document=dict(scenario.document), variant=scenario.variant_label)

    def made(self) -> Scenario:
        """Raises ScenarioError, for instance if an environment variable is no longer set."""
        return scenario_of(self.file, self.document).in_variant(self.variant)


def _with_dates(value: Any, change: Callable[[Any], Any]) -> Any:
    """A document, each of its values changed, the outer ones first."""
    changed = change(value)
    if isinstance(changed, dict):
        return {key: _with_dates(item, change) for key, item in changed.items()}
    return [_with_dates(item, change) for item in changed] if isinstance(changed, list) else changed


class _ScenarioJob(_Job):
    scenario: SentScenario


class LogJob(_ScenarioJob):
    """Write the change log of a scenario."""

    kind: Literal["log"] = "log"
    cache_folder: Path
    progress_file: Path


class LogProgress(BaseModel):
    """The commits of a change log that are written so far; at the end its folder, or the error.

    `total` is 0 while the cache is searched, and `commits_count` is set at the end.
    """

    done: int = 0
    total: int = 0
    commits_count: int = 0
    folder: Path | None = None
    damaged: str | None = None
    failed: str | None = None


class RunJob(_ScenarioJob):
    """Execute one run."""

    kind: Literal["run"] = "run"
    load_before_suite: float | None = None  # over a minute; set for the suite's first run only
    mode: Mode
    run_folder: Path
    run_id: str
    suite_id: str
    strategy: str  # its label in the variant
    strategy_index: int | None = None
    repetition: int
    position: int
    log_folder: Path | None  # of the change log; None for a simulated run
    coefficients: Path | None  # of a simulated run; None for the format's own
    verify: Literal["end", "each", "off"]
    command: str
    keep_tables: bool


class RoleJob(_ScenarioJob):
    """Do one role of a run with a real clock on real tables.

    Its records go to `records`; `barrier` is the folder by which roles agree on beginning and end.
    """

    kind: Literal["role"] = "role"
    run: RunJob
    role: str
    records: Path
    barrier: Path


class DropJob(_ScenarioJob):
    """Remove the namespaces and staged files that a run has noted; see `dropping.left_by`."""

    kind: Literal["drop"] = "drop"
    run_folder: Path
    tables_too: bool  # False: staged files only


class TryJob(_ScenarioJob):
    """Create and drop an empty table in the catalog of the scenario's runs."""

    kind: Literal["try"] = "try"
    run_folder: Path  # for notes of the namespace, which has the name of this folder in its own name


Job = DropJob | LogJob | NoiseJob | RoleJob | RunJob | TryJob
JOB: TypeAdapter[Job] = TypeAdapter(Annotated[Job, Field(discriminator="kind")])


def worker_command(job: Job) -> list[str]:
    """The command of a process that does a job, which it reads from its standard input (`send`)."""
    is_simulated = isinstance(job, RunJob) and job.mode == "simulated"
    module = "bench.runs.worker.simulation" if is_simulated else "bench.runs.worker"
    # -P keeps the working folder, which may contain a folder named `bench`, off the import path.
    # The folder shows in `ps` which run a process belongs to. The worker ends when this process does; it gets
    # our process id, since its own parent may have changed before it can look.
    return [sys.executable, "-P", "-m", module, str(job.work_folder), str(os.getpid())]


def send(job: Job, stdin: IO[bytes]) -> None:
    """Write a job to a worker's standard input, unless the worker has died."""
    with suppress(BrokenPipeError), stdin:
        stdin.write(job.model_dump_json().encode())
