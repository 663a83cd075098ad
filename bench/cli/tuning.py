"""Settings of strategies on the seeds of a scenario: simulated, and compared with the best schedules."""

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import typer

from bench.cli.executing import execute
from bench.cli.searching import Search, best_schedules, with_found
from bench.errors import ScenarioError
from bench.hindsight.search import hindsight_scenario, planner_of
from bench.results.arithmetic import all_known, mean
from bench.results.best_schedules import (
    LABEL,
    BestSchedules,
    read_best_schedules,
    write_best_schedules,
)
from bench.results.folders import load_runs
from bench.runs.suite.cases import plan_runs
from bench.runs.suite.results_folder import earlier_runs, stored_runs
from bench.runs.suite.suite import Options
from bench.scenario.load import scenario_of
from bench.scenario.scenario import Scenario
from bench.sweep.grid import swept_scenarios
from reports.verdicts.regrets import Regrets, cheapest, regrets_of


@dataclass(frozen=True, slots=True)
class Stream:
    """One stream: a scenario with its own strategies, and with the cells of those that are swept."""

    plain: Scenario
    swept: Scenario


@dataclass(frozen=True, slots=True)
class Score:
    """A strategy on some streams at one rate of queries: extra CPU, and that over the best schedule's.

    Each has an item per stream, None where it is not known. Means and the worst are None unless all are
    known.
    """

    extra_s: tuple[float | None, ...]
    over_best: tuple[float | None, ...]

    @property
    def mean_extra_s(self) -> float | None:
        return mean(all_known(self.extra_s) or ())

    @property
    def mean_over_best(self) -> float | None:
        return mean(all_known(self.over_best) or ())

    @property
    def worst_over_best(self) -> float | None:
        return max(all_known(self.over_best) or (), default=None)


def score(every: Sequence[Regrets], label: str) -> Score:
    """`every` has the regrets of each stream at one rate."""
    return Score(tuple(one.extra_s(label) for one in every), tuple(one.over_best(label) for one in every))


def least_extra(every: Sequence[Regrets], labels: Sequence[str]) -> str:
    """The strategy with the least mean extra CPU."""
    return cheapest(labels, lambda label: score(every, label).mean_extra_s)


def by_seed(seeds: Iterable[int]) -> str:
    """The axis by which streams have these seeds."""
    return f"seed={','.join(map(str, seeds))}"


def streams(base: Scenario, over: Sequence[str], each: str) -> list[Stream]:
    """One for each value of `each`, an axis of the scenario itself. Raises ScenarioError."""
    pairs = zip(swept_scenarios(base, [each]), swept_scenarios(base, [*over, each]), strict=True)
    return [Stream(plain, swept) for plain, swept in pairs]


def with_strategies_of(name_or_path: str, base: Scenario) -> Scenario:
    """Another scenario with the strategies of `base`, prepared for a search. Raises ScenarioError."""
    other, _ = hindsight_scenario(name_or_path, ())
    if other.name == base.name:
        problem = f"has the name of the scenario that is tuned, {base.name}: rename its file"
        raise ScenarioError(problem, code="taken", path=other.file)
    document = {**other.document, "strategies": base.document["strategies"]}
    return scenario_of(other.file, document, secrets=other.secrets | base.secrets)


def regrets_on(
    some: Sequence[Stream], labels: Sequence[str], asked: Search, options: Options, *, quiet: bool
) -> list[tuple[Regrets, ...]]:
    """Of each stream, by rate: the strategies with these labels, which are simulated unless they were.

    `options.out` must be locked. Best schedules are searched and simulated unless they are stored there.
    Raises ScenarioError if a table never has rows or for the reasons of `earlier_runs`, and Exit if a run
    fails or the user stops.
    """
    _simulate([one.swept for one in some], labels, options, quiet=quiet)
    return [_regrets(one, _schedules(one, asked, options, quiet=quiet), options.out) for one in some]


def _simulate(scenarios: Sequence[Scenario], labels: Sequence[str], options: Options, *, quiet: bool) -> None:
    """Make the runs of these strategies that are missing. Raises Exit if one fails or the user stops."""
    done = earlier_runs(
        scenarios, options.out, resume=True, mode="simulated", coefficients=options.coefficients
    )
    runs = plan_runs(scenarios, labels, None, done, mode="simulated")
    made = execute(runs, options, goes_on_with="the same command makes the others", quiet=quiet)
    if not all(run.finished for run in made):
        raise typer.Exit(1)


def _regrets(stream: Stream, schedules: BestSchedules, out: Path) -> tuple[Regrets, ...]:
    runs = load_runs(out / stream.plain.name)
    made = tuple(one for found in schedules.found if (one := regrets_of(found, runs)) is not None)
    if not made:
        raise ScenarioError(
            "no commit has rows: choose a longer duration", code="empty", path=stream.plain.file
        )
    return made


def _schedules(stream: Stream, asked: Search, options: Options, *, quiet: bool) -> BestSchedules:
    """The best schedules of a stream, stored beside its runs and simulated."""
    plain, folder = stream.plain, options.out / stream.plain.name
    stored = read_best_schedules(folder)
    if stored is None or stored.search != asked.identity(plain):
        stored = best_schedules(plain, asked, quiet=quiet)
        for run in stored_runs(folder):
            if run.manifest.strategy.startswith(LABEL):
                shutil.rmtree(run.folder)
    stored = _for_cells(stream, stored)
    write_best_schedules(folder, stored)
    labels = [one.label for one in stored.found if one.ticks]
    if labels:
        _simulate([with_found(plain, stored)], labels, options, quiet=quiet)
    return stored


def _for_cells(stream: Stream, schedules: BestSchedules) -> BestSchedules:
    """With the cells that run a planner that was searched: none of their schedules may beat the best."""
    known = {label for one in schedules.found for label in one.same_planners}
    planners = {planner_of(spec) for spec in stream.plain.strategies if spec.label in known}
    specs = (*stream.plain.strategies, *stream.swept.strategies)
    labels = tuple(dict.fromkeys(spec.label for spec in specs if planner_of(spec) in planners))
    return replace(schedules, found=tuple(replace(one, same_planners=labels) for one in schedules.found))
