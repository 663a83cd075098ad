"""Arguments that several commands share, and how runs that cannot be read are reported."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from bench.cli.completion import scenario_names
from bench.cli.output import print_error, print_remark, without_secrets
from bench.errors import ResultSchemaError
from bench.results.folders import RunResult, stored_runs
from bench.results.remarks import not_read
from bench.secrets import hide_setting

DEFAULT_OUT = Path("results")  # where `run` writes, and what the other commands read

ResultsArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="RESULTS",
        default_factory=lambda: [DEFAULT_OUT],
        show_default=str(DEFAULT_OUT),
        help="Results folders written by `run`, or parts of them.",
    ),
]

ScenariosArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="SCENARIO",
        autocompletion=scenario_names,
        help="Paths of .toml files, or names of shipped scenarios.",
    ),
]
ScenarioArgument = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO",
        autocompletion=scenario_names,
        help="A shipped scenario, or a path to a .toml file.",
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override a key of the scenario, e.g. table.target_file_size=8MiB, or of one of its strategies: "
        "'strategies[LABEL].KEY=VALUE'. May be repeated.",
    ),
]
KeyOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override a key of the scenario. May be repeated."),
]
OutOption = Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="The results folder.")]
CoefficientsOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Coefficients of the cost model.")
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]


def given(flag: str, value: object) -> list[str]:
    """The words of an option; none if it was not given."""
    return [flag, str(value)] if value else []


def repeated(flag: str, values: Iterable[str] | None) -> list[str]:
    """The words of an option that may be repeated, with secrets hidden."""
    return [word for value in values or () for word in (flag, without_secrets(hide_setting(value)))]


@contextmanager
def readable_runs(results: Sequence[Path]) -> Iterator[tuple[RunResult, ...]]:
    """The runs that can be read. The others are printed as errors, and the block ends with their exit code.

    Folders in these that were not read are named, too.

    Raises ResultSchemaError if no run can be read.
    """
    stored = stored_runs(*results)
    for damage in stored.damages:
        print_error(damage.within("left out"))
    tell_not_read(results)
    yield stored.runs
    if stored.damages:
        raise typer.Exit(ResultSchemaError.exit_code)


def tell_not_read(results: Iterable[Path]) -> None:
    for remark in not_read(results):
        print_remark(remark)
