"""Simulates real runs again and compares, to show the errors (`validate-model`) or to publish them."""

from collections.abc import Iterable
from pathlib import Path

from bench.cli.output import ERR
from bench.cli.progress import SuiteProgress
from bench.errors import ResultSchemaError, ScenarioError
from bench.results.folders import RunResult
from bench.runs.resimulation import Resimulation, resimulations, simulate
from reports.data.group import RunGroup, run_groups
from reports.verdicts.model_errors import ModelErrors, model_errors


def resimulated(runs: Iterable[RunResult], place: Path, *, quiet: bool = False) -> list[Resimulation]:
    """The real ones of these runs, simulated again.

    `place` is where the runs are, for errors: ResultSchemaError without a usable real run, ScenarioError if
    no strategy can be simulated.
    """
    return _resimulated(_real_groups(runs), place, None, quiet=quiet)


def validated(
    runs: Iterable[RunResult], place: Path, coefficients: Path | None = None, *, quiet: bool = False
) -> tuple[ModelErrors, list[Resimulation]]:
    """The errors of the model for the real ones of these runs, and what became of each strategy.

    Raises the errors of `resimulated`, and ScenarioError if the coefficients cannot be used.
    """
    groups = _real_groups(runs)
    made = _resimulated(groups, place, coefficients, quiet=quiet)
    errors = model_errors(
        (group, {one.strategy: one.made for one in made if one.group == number and one.made})
        for number, group in enumerate(groups)
    )
    return errors, made


def _real_groups(runs: Iterable[RunResult]) -> list[RunGroup]:
    return [group for group in run_groups(runs) if not group.is_simulated]


def _resimulated(
    groups: Iterable[RunGroup], place: Path, coefficients: Path | None, *, quiet: bool
) -> list[Resimulation]:
    tried = resimulations([group.usable_runs for group in groups], coefficients)
    if not tried:
        raise ResultSchemaError("contains no usable real runs to compare with", code="no-runs", path=place)
    planned = [one.planned for one in tried if one.planned is not None]
    if not planned:
        problem = f"none of its strategies can be simulated: {'; '.join(map(str, tried))}"
        raise ScenarioError(problem, code="unsupported", path=place)
    with SuiteProgress(planned, ERR, quiet=quiet) as progress:
        return simulate(tried, coefficients, progress)
