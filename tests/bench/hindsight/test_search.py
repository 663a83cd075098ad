"""The best schedule against every schedule, simulated one by one."""

from itertools import combinations
from unittest.mock import Mock

import pytest

from bench.errors import ScenarioError
from bench.hindsight.search import (
    candidates,
    floor_cpu_s,
    hindsight_scenario,
    moments_of,
    search,
    searched_specs,
    with_schedules,
)
from bench.results.folders import load_runs
from bench.runs.suite.cases import plan_runs
from bench.runs.suite.suite import Options, run_suite
from bench.runs.suite.watcher import Watcher
from reports.verdicts.query_load import cpu_with_queries_s

TICKS = 5
RATES = (1.0, 30.0, 200.0, 1500.0)


def every_schedule(scenario, spec, folder):
    """The CPU of commits, compactions and queries of each choice of ticks, by rate."""
    chosen = [ticks for count in range(1, TICKS + 1) for ticks in combinations(range(1, TICKS + 1), count)]
    labels = {f"schedule-{index}": ticks for index, ticks in enumerate(chosen)}
    made = with_schedules(scenario, {label: (spec.label, ticks) for label, ticks in labels.items()})
    run_suite(
        plan_runs([made], [*labels, "never"], None, (), mode="simulated"), Options(folder), Mock(spec=Watcher)
    )
    by_label = {run.manifest.strategy: run for run in load_runs(folder)}
    runs = {ticks: by_label[label] for label, ticks in labels.items()} | {(): by_label["never"]}
    return {rate: {ticks: cpu_with_queries_s(run, rate) for ticks, run in runs.items()} for rate in RATES}


@pytest.mark.parametrize(
    ("name", "label", "settings"),
    [
        ("append-only", "every-5min", ()),
        (
            "append-only",
            "every-5min",
            ['queries.arrival={ type = "bursts", every = "3min", length = "1min", factor = 9.0 }'],
        ),
        ("upsert-quick", "spark-4min-deletes", ()),
        # Every tenth version has a checkpoint, whose commit would depend on the number of compactions.
        ("delta-upsert-quick", "optimize-4min", ["table.properties={ delta.checkpointInterval = 1000 }"]),
        ("hudi-upsert-quick", "compact-4min", ()),
    ],
)
def test_no_schedule_is_cheaper_than_the_one_that_is_found(name, label, settings, tmp_path):
    scenario, _ = hindsight_scenario(name, [f"duration={TICKS}min", *settings])
    spec = next(spec for spec in scenario.strategies if spec.label == label)
    every = every_schedule(scenario, spec, tmp_path)
    for most in (TICKS, 3, 2):
        moments = moments_of(TICKS, most)
        searched = [search(scenario, spec, None, moments, lambda: None)]
        for rate, cpu_s in every.items():
            best, *_ = candidates(scenario, searched, moments, rate)
            possible = {ticks: cost for ticks, cost in cpu_s.items() if set(ticks) <= set(moments)}
            least = min(cpu_s.values())
            assert best.schedule.cpu_s == pytest.approx(min(possible.values()), rel=1e-5)
            assert best.schedule.cpu_s == pytest.approx(cpu_s[best.schedule.ticks], rel=1e-5)
            assert floor_cpu_s(scenario, searched, rate) < best.bound_cpu_s <= least * (1 + 1e-5)
            if most == TICKS:
                assert best.bound_cpu_s == pytest.approx(best.schedule.cpu_s, rel=1e-5)


def test_moments_are_evenly_spaced_and_end_with_the_stream():
    assert moments_of(6, 6) == (1, 2, 3, 4, 5, 6)
    assert moments_of(6, 120) == (1, 2, 3, 4, 5, 6)
    assert moments_of(60, 7) == (6, 15, 24, 33, 42, 51, 60)
    assert len(moments_of(43_200, 120)) == 120


def test_planners_are_searched_once_if_they_decide_alone():
    scenario, _ = hindsight_scenario("append-only", ())
    assert [spec.label for spec in searched_specs(scenario)] == ["every-1min", "amoro"]


def test_a_planner_that_decides_when_to_compact_has_no_moments_to_search():
    scenario, _ = hindsight_scenario("policies-append", ())
    assert [spec.label for spec in searched_specs(scenario)] == ["amoro", "amoro-single-node"]


def test_planners_to_search_can_be_named():
    scenario, _ = hindsight_scenario("append-only", ())
    assert [spec.label for spec in searched_specs(scenario, ["amoro", "never"])] == ["amoro"]
    with pytest.raises(ScenarioError, match="no such strategy"):
        searched_specs(scenario, ["amoros"])


def test_a_scenario_without_such_a_planner_is_refused():
    scenario, _ = hindsight_scenario("delta-upsert-quick", ['strategies=[{ label = "never" }]'])
    with pytest.raises(ScenarioError, match="there is nothing to search"):
        searched_specs(scenario)
