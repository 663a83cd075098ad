"""Searches best schedules in hindsight, with progress."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from bench.cli.output import ERR, print_remark
from bench.cli.simulating import simulated_aside
from bench.engines.registry import FORMATS
from bench.errors import ScenarioError
from bench.hindsight.search import (
    SCHEDULES_OF,
    Candidate,
    Searched,
    candidates,
    floor_cpu_s,
    moments_of,
    planner_of,
    search,
    searched_specs,
    with_schedules,
)
from bench.results.best_schedules import LABEL, BestSchedule, BestSchedules
from bench.runs.suite.cases import plan_runs
from bench.scenario.scenario import Scenario
from bench.scenario.specs import content_hash, planner_text
from reports.verdicts.query_load import QUERIES_PER_H, cpu_with_queries_s

MOMENTS = 120

MomentsOption = Annotated[
    int,
    typer.Option(
        "--moments",
        metavar="N",
        min=1,
        help="Try compactions at up to N ticks (commits), evenly spaced; each takes one more simulation.",
    ),
]
SchedulesOfOption = Annotated[
    list[str] | None,
    typer.Option(
        SCHEDULES_OF,
        metavar="LABEL",
        help="Search schedules of this strategy's planner, not of all planners. May be repeated.",
    ),
]


@dataclass(frozen=True, slots=True)
class Search:
    """What is searched: schedules of at most `most` moments, at these rates of queries an hour.

    `labels` are the strategies whose planners are searched, all that can be if there are none.
    """

    rates: tuple[float, ...]
    most: int = MOMENTS
    labels: tuple[str, ...] = ()
    coefficients: Path | None = None

    def identity(self, scenario: Scenario) -> str:
        """Equal for searches of a scenario that find the same, whichever file has the coefficients."""
        planners = [planner_of(spec) for spec in searched_specs(scenario, self.labels)]
        costs = FORMATS[scenario.table.format].engines.estimates(self.coefficients).to_json()
        return content_hash([scenario.hash, planners, self.rates, self.most, costs])


def rates_of(scenario: Scenario) -> tuple[float, ...]:
    """Those of the published tables, or the scenario's own."""
    own = scenario.prices.queries_per_hour
    return tuple(map(float, QUERIES_PER_H)) if own is None else (own,)


def best_schedules(scenario: Scenario, asked: Search, *, quiet: bool) -> BestSchedules:
    """Raises the error of `bench.hindsight.search.search` if it can search no planner.

    Otherwise says which ones it cannot search.
    """
    specs = searched_specs(scenario, asked.labels)
    moments = moments_of(scenario.commits_count, asked.most)
    with Progress(console=ERR, transient=True, disable=quiet or not ERR.is_terminal) as progress:
        what = f"searching schedules of {scenario.name}"
        task = progress.add_task(what, total=len(specs) * (len(moments) + 1))
        made, problems = _searched(scenario, asked, moments, lambda: progress.advance(task))
    for problem in problems:
        print_remark(f"no schedules of {problem}")
    planners = {planner_of(one.spec) for one in made}
    own = tuple(spec.label for spec in scenario.strategies if planner_of(spec) in planners)
    found = []
    for rate in asked.rates:
        tried = candidates(scenario, made, moments, rate)
        one = _cheapest_simulated(scenario, tried, asked.coefficients)
        (rule,) = one.spec.strategy.rules
        found.append(
            BestSchedule(
                rate, one.spec.label, planner_text(rule.planner, rule.executor), one.schedule.ticks,
                one.schedule.cpu_s, one.bound_cpu_s, floor_cpu_s(scenario, made, rate), own,
            )
        )  # fmt: skip
    return BestSchedules(asked.identity(scenario), scenario.hash, tuple(found))


def with_found(scenario: Scenario, schedules: BestSchedules) -> Scenario:
    """The scenario with the schedules that compact as strategies."""
    return with_schedules(scenario, {one.label: (one.strategy, one.ticks) for one in schedules.found})


def _searched(
    scenario: Scenario, asked: Search, moments: Sequence[int], advance: Callable[[], None]
) -> tuple[list[Searched], list[ScenarioError]]:
    made, problems = list[Searched](), list[ScenarioError]()
    for spec in searched_specs(scenario, asked.labels):
        try:
            made.append(search(scenario, spec, asked.coefficients, moments, advance))
        except ScenarioError as error:
            problems.append(error)
    if not made:
        raise problems[0]
    return made, problems


def _cheapest_simulated(
    scenario: Scenario, tried: Sequence[Candidate], coefficients: Path | None
) -> Candidate:
    """The candidate of one rate that costs least when it is simulated."""
    if len(tried) == 1:
        return tried[0]
    by_label = {f"{LABEL}{one.stride}": one for one in tried}
    made = with_schedules(
        scenario, {label: (one.spec.label, one.schedule.ticks) for label, one in by_label.items()}
    )
    labels = [spec.label for spec in made.strategies if spec.label in by_label]
    cpu_s = {
        run.manifest.strategy: cost_s
        for run in simulated_aside(plan_runs([made], labels, None, (), mode="simulated"), coefficients)
        if (cost_s := cpu_with_queries_s(run, tried[0].queries_per_h)) is not None
    }
    # One that never compacts has no run of its own.
    label = min(by_label, key=lambda label: cpu_s.get(label, by_label[label].schedule.cpu_s))
    return by_label[label]
