import pytest
from result_builder import build_results

from bench.results.folders import load_runs
from reports.verdicts.history import histories

VERSIONS = {"python": "3.11.9", "java": "17.0.12", "spark": "3.5.8", "format": "1.9.2"}
BOTH = {"never": None, "every-2min": 2}


@pytest.fixture
def built(tmp_path):
    """Builds a suite of a day of January in a folder of its own."""

    def build(day, strategies=BOTH, repetitions=1, folder=None, hour=9, **changes):
        started = f"2026-01-{day:02d}T{hour:02d}:00:00Z"
        place = tmp_path / (folder or f"day-{day}")
        return build_results(
            place, strategies, repetitions, 4, started_utc=started, suite_id=started, **changes
        )

    return build


def of(*folders):
    return histories(load_runs(*folders))


def test_points_are_in_the_order_in_which_they_were_made(built):
    folders = [built(day, folder=f"{number}") for number, day in enumerate((7, 20, 12))]
    (history,) = of(*folders)
    days = [point.started_utc[:10] for point in history.points]
    assert days == ["2026-01-07", "2026-01-12", "2026-01-20"]
    assert [point.changes for point in history.points] == [()] * 3


def test_each_change_is_marked_where_it_happened_and_not_again(built):
    spark = {"versions": VERSIONS | {"spark": "3.5.9"}}
    machine = {"machine": {"cpu": "Another CPU", "cores": 2, "ram_bytes": 8 * 2**30}}
    options = {"options": {"spark": {"spark.master": "local[2]"}, "table": {"format-version": "3"}}}
    commit = {"git": {"commit": "fedcba9876543210", "dirty": False}}
    steps = [{}, spark, spark, spark | machine, spark | machine | options, spark | machine | options | commit]
    (history,) = of(*(built(day, **step) for day, step in enumerate(steps, 7)))
    words = [point.change_words for point in history.points]
    assert words == [(), ("spark 3.5.9",), (), ("machine",), ("options",), ("compactbench fedcba98",)]
    assert all(point.is_comparable for point in history.points)


def test_rules_of_a_strategy_may_change_and_the_scenario_may_not(built):
    (history,) = of(
        built(7, strategy_hash="a"), built(8, strategy_hash="b"),
        built(9, strategy_hash="b", scenario_hash="other"),
    )  # fmt: skip
    _, rules, scenario = history.points
    assert (rules.change_words, rules.is_comparable) == (("rules of a strategy",), True)
    assert (scenario.change_words, scenario.is_comparable) == (("scenario",), False)


def test_simulated_and_real_runs_have_histories_of_their_own(built):
    kinds = ({}, {"mode": "simulated"})
    days = ((day, hour, kind) for day in (7, 8) for hour, kind in enumerate(kinds))
    made = of(*(built(day, folder=f"{day}-{hour}", hour=hour, **kind) for day, hour, kind in days))
    assert [history.latest.manifest.mode for history in made] == ["real", "simulated"]
    assert [len(history.points) for history in made] == [2, 2]


def test_a_suite_that_was_resumed_is_one_point_unless_something_changed(built):
    built(5, {"never": None}, folder="all")
    for hour, more in ((10, {}), (11, {"versions": VERSIONS | {"spark": "3.5.9"}})):
        again = built(5, {"every-2min": 2}, folder=f"{hour}", hour=hour, **more)
        (run,) = (again / "append-small").iterdir()
        run.rename(again.parent / "all" / "append-small" / f"run-{hour}")
    (history,) = of(again.parent / "all")
    assert [len(point.group.runs) for point in history.points] == [2, 1]


def test_a_figure_has_its_range_and_an_unknown_one_is_none(built):
    fate = {("every-2min", 1): "failed"}
    (history,) = of(built(7, repetitions=3), built(8, {"every-2min": 2}, 3, fate=fate))
    first, second = history.points
    value = first.value("query_mean_s", "every-2min")
    assert (value.low < value.mean < value.high, value.runs) == (True, 3)
    assert second.value("query_mean_s", "every-2min").runs == 2
    assert second.value("query_mean_s", "never") is None
    assert history.strategies == ("never", "every-2min")
    runs = {(line["started_utc"][:10], line["strategy"]): line["runs"] for line in history.lines}
    assert runs == {
        ("2026-01-07", "never"): 3, ("2026-01-07", "every-2min"): 3, ("2026-01-08", "every-2min"): 2
    }  # fmt: skip
