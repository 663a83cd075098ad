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
    Key,
    Searched,
    candidates,
    cpu_s_of,
    floor_cpu_s,
    moments_of,
    planner_of,
    search,
    searched_specs,
    with_schedules,
)
from bench.results.best_schedules import LABEL, BestSchedule, BestSchedules
from bench.results.folders import RunResult
from bench.results.records import CompactionRecord
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
    """The cheapest of all schedules that were found, at each rate.

    A schedule that was found for one rate may be the best at another where the sums of parts are not exact.
    Raises the error of `bench.hindsight.search.search` if it can search no planner; otherwise says which
    ones it cannot search.
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
    by_rate = [candidates(scenario, made, moments, rate) for rate in asked.rates]
    tried = list({one.key: one for some in by_rate for one in some}.values())
    runs = _simulated(scenario, tried, asked.coefficients)
    found = []
    for rate, (first, *_) in zip(asked.rates, by_rate, strict=True):
        parts_s = {one.key: cpu_s_of(one, scenario, made, rate) for one in tried}
        simulated_s = {key: cpu_with_queries_s(run, rate) for key, run in runs.items()}
        cpu_s = parts_s | {key: own_s for key, own_s in simulated_s.items() if own_s is not None}
        best = min(tried, key=lambda one: cpu_s[one.key])
        ticks = _compacted_at(runs[best.key]) if best.key in runs else ()
        (rule,) = best.spec.strategy.rules
        found.append(
            BestSchedule(
                rate, best.spec.label, planner_text(rule.planner, rule.executor), ticks,
                parts_s[best.key], first.bound_cpu_s, floor_cpu_s(scenario, made, rate), own,
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


def _simulated(
    scenario: Scenario, tried: Sequence[Candidate], coefficients: Path | None
) -> dict[Key, RunResult]:
    """The runs of the candidates that compact."""
    by_label = {f"{LABEL}{place}": one for place, one in enumerate(tried) if one.schedule.ticks}
    if not by_label:
        return {}
    made = with_schedules(
        scenario, {label: (one.spec.label, one.schedule.ticks) for label, one in by_label.items()}
    )
    runs = simulated_aside(plan_runs([made], [*by_label], None, (), mode="simulated"), coefficients)
    return {by_label[run.manifest.strategy].key: run for run in runs}


def _compacted_at(run: RunResult) -> tuple[int, ...]:
    """The ticks at which a schedule found something to compact."""
    at_ms = run.of(CompactionRecord).having(status="ok", is_inline=False).column("at_ms")
    return tuple(int(one) // run.manifest.commit_interval_ms for one in at_ms)
