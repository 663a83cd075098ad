"""Runs for real what `recommend` found in a simulation, and shows measured beside modelled figures."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench.cli.executing import execute
from bench.cli.output import conceal, print_table
from bench.cli.tables import Column
from bench.errors import ResultSchemaError
from bench.results.folders import load_runs
from bench.runs.confirmation import real_scenario
from bench.runs.suite.cases import plan_runs
from bench.runs.suite.results_folder import earlier_runs, locked
from bench.runs.suite.suite import Options, drop_left
from reports.data.group import RunGroup, run_groups
from reports.text import format_value


@dataclass(frozen=True, slots=True)
class Beside:
    """One figure of a strategy, modelled and measured (mean over the runs); None if it is not known."""

    strategy: str
    metric: str
    modelled: float | None
    measured: float | None

    @property
    def ratio(self) -> float | None:
        """Measured over modelled."""
        return self.measured / self.modelled if self.measured is not None and self.modelled else None


def confirm(group: RunGroup, labels: Sequence[str], repetitions: int | None, *, quiet: bool) -> RunGroup:
    """The real runs of these simulated strategies, made where they are missing.

    They are stored beside the simulated ones. Raises the errors of `real_scenario`, `earlier_runs` and
    `execute`, and ResultSchemaError if no run finished.
    """
    scenario = real_scenario(group.manifest, labels)
    conceal(scenario.secrets)
    out = group.runs[0].folder.absolute().parent.parent  # tables are named by URI
    command = shlex.join(["compactbench", "recommend", "--confirm", str(len(labels))])
    with locked(out):
        done = earlier_runs([scenario], out, resume=True)
        runs = plan_runs([scenario], labels, repetitions, done)
        if runs:
            own = [run for run in done if run.manifest.strategy in labels]
            execute(
                runs, Options(out, command=command),
                goes_on_with="the same command makes the others", quiet=quiet,
                first=lambda progress: drop_left(own, [scenario], out, progress),
            )  # fmt: skip
    stored = load_runs(out / scenario.name)
    made = [run for run in stored if run.manifest.mode == "real" and run.manifest.strategy in labels]
    measured = next((one for one in run_groups(made) if one.usable_runs), None)
    if measured is None:
        problem = "no real run has finished: read the log.txt of one, and give the same command again"
        raise ResultSchemaError(problem, code="no-runs", path=out / scenario.name)
    return measured


def beside(modelled: RunGroup, measured: RunGroup, metrics: Sequence[str]) -> Iterator[Beside]:
    figures = {row.strategy: row.values for row in modelled.rows}
    for row in measured.rows:
        for metric in dict.fromkeys(metrics):
            yield Beside(row.strategy, metric, figures[row.strategy][metric], row.values[metric])


def print_beside(pairs: Sequence[Beside]) -> None:
    print_table(
        ["strategy", "figure", Column("modelled"), Column("measured"), Column("ratio")],
        [
            (
                pair.strategy, pair.metric, format_value(pair.metric, pair.modelled),
                format_value(pair.metric, pair.measured), format_value("ratio", pair.ratio),
            )
            for pair in pairs
        ],
    )  # fmt: skip
