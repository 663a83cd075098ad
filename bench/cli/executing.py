"""Executes planned runs with progress, until they are finished or the user stops them."""

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

import typer

from bench.cli.output import ERR, EXIT_INTERRUPTED
from bench.cli.progress import SuiteProgress, doing
from bench.results.folders import RunResult
from bench.runs.preflight.checks import check
from bench.runs.suite.cases import PlannedRun
from bench.runs.suite.suite import Options, run_suite


def _interrupted(signum: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


@contextmanager
def stopped_by_sigterm() -> Iterator[None]:
    """Within the block, SIGTERM acts as Ctrl-C does."""
    before = signal.signal(signal.SIGTERM, _interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def stoppable(how_to_go_on: str) -> Iterator[None]:
    """If the user stops the block, say so and how to go on, and raise Exit."""
    try:
        yield
    except KeyboardInterrupt:
        ERR.print(f"stopped; {how_to_go_on}", highlight=False)
        raise typer.Exit(EXIT_INTERRUPTED) from None


def execute(
    runs: Sequence[PlannedRun],
    options: Options,
    *,
    goes_on_with: str,
    quiet: bool,
    first: Callable[[SuiteProgress], None] | None = None,
) -> tuple[RunResult, ...]:
    """Check the runs, call `first`, and make them; `options.out` must be locked.

    Raises the errors of `check` and of `run_suite`, and Exit if the user stops the runs, after saying what
    they go on with.
    """
    is_real = any(run.mode == "real" for run in runs)
    what = "Java, jars (downloaded once) and disk space" if is_real else "the scenario"
    with doing(f"checking {what}", quiet=quiet):
        check(runs, options.out, keep_tables=options.keep_tables)
    with (
        stoppable(f"finished runs are kept, {goes_on_with}"),
        SuiteProgress(runs, ERR, quiet=quiet) as progress,
    ):
        if first is not None:
            first(progress)
        return run_suite(runs, options, progress)
