"""Simulated runs that are made for their figures alone, and not kept."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.cli.output import ERR
from bench.cli.progress import SuiteProgress
from bench.errors import EngineError
from bench.results.folders import RunResult, load_runs
from bench.results.rows import usable
from bench.runs.suite.cases import PlannedRun
from bench.runs.suite.suite import Options, run_suite


def simulated_aside(runs: Sequence[PlannedRun], coefficients: Path | None = None) -> tuple[RunResult, ...]:
    """Raises EngineError if one of them fails."""
    with (
        tempfile.TemporaryDirectory(prefix="compactbench-") as folder,
        SuiteProgress(runs, ERR, quiet=True) as progress,
    ):
        run_suite(runs, Options(Path(folder), coefficients=coefficients), progress)
        made = load_runs(Path(folder))
    if failed := [run for run in made if not usable(run)]:
        error = failed[0].end.error if failed[0].end else "it was stopped"
        raise EngineError(
            f"its simulation failed: {error}", code="run-failed", path=failed[0].manifest.strategy
        )
    return made
