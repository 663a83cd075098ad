import json
from pathlib import Path

import pytest
from scenario_builder import write

from bench.text import human_ratio


@pytest.fixture
def scenario(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write(tmp_path)


def test_each_strategy_is_told_its_cost_over_the_best_schedule(compactbench, scenario):
    answer = compactbench("hindsight", scenario, "--format", "json", "--quiet").json
    assert answer["scenario"] == "demo"
    assert [rate["queries_per_h"] for rate in answer["rates"]] == [1, 10, 100, 1000]
    for rate in answer["rates"]:
        assert rate["bound_extra_cpu_s"] == pytest.approx(rate["best_extra_cpu_s"])
        assert abs(rate["found"]["error_of_parts"]) < 1e-6
        over = {one["strategy"]: one["over_best"] for one in rate["strategies"]}
        assert list(over) == ["never", "every-2min"]
        assert min(over.values()) >= 1 - 1e-9
    assert answer["rates"][0]["found"]["compactions_at_s"] == []  # nobody reads, so nobody compacts
    assert len(answer["rates"][-1]["found"]["compactions_at_s"]) > 1


def test_the_schedule_is_told_in_words_and_stored_as_a_strategy(compactbench, scenario):
    printed = compactbench("hindsight", scenario, "--set", "prices.queries_per_hour=1000")
    assert "Best at 1,000 queries/h: iceberg.rewrite_data_files()" in printed.words
    assert "best schedule: extra CPU" in printed.words
    stored = compactbench("show", "results/hindsight", "--format", "json").json["rows"]
    assert [row["strategy"] for row in stored] == ["never", "every-2min", "hindsight-1000"]


def test_with_fewer_moments_than_ticks_there_is_a_bound(compactbench, scenario):
    printed = compactbench("hindsight", scenario, "--moments", "2")
    assert "Schedules that compact at 2 of the 10 ticks were searched; the last row" in printed.words
    assert "any schedule: at least" in printed.words
    assert 'those of a job that has run for days (jvm = "warm")' in printed.words


def test_planners_whose_plans_are_not_modelled_are_named(compactbench, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = compactbench("hindsight", "hudi-upsert-quick", "--set", "duration=2min", "--quiet")
    assert "no schedules of log-compact-4min: its plans are not modelled" in printed.err


def test_a_scenario_without_a_planner_to_search_is_refused(compactbench, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = 'strategies=[{ label = "never" }]'
    printed = compactbench("hindsight", "quickstart", "--set", settings, code=2)
    assert "there is nothing to search" in printed.err
    assert len(printed.err.splitlines()) == 1


def test_what_a_search_cannot_have_is_left_out_and_said(compactbench, scenario):
    settings = ("--set", "clock=real", "--set", "resources.shared_cores=2")
    printed = compactbench("hindsight", scenario, *settings, "--quiet")
    assert "left out of the search, and of all costs: clock and resources.shared_cores" in (printed.err)


def test_another_search_replaces_the_schedules_of_the_last_one(compactbench, scenario):
    counts = []
    for moments in ("1", "10"):
        compactbench("hindsight", scenario, "--moments", moments, "--set", "prices.queries_per_hour=1000")
        rows = compactbench("show", "results/hindsight", "--format", "json").json["rows"]
        assert [row["strategy"] for row in rows] == ["never", "every-2min", "hindsight-1000"]
        counts.append(rows[-1]["compactions"])
    assert counts[0] == 1 < counts[1]


OFTEN_AMORO = (
    'strategies=[{ label = "never" }, { label = "amoro", rules = '
    '[{ trigger = { type = "every", interval = "1min" }, planner = { type = "amoro" } }] }]'
)


@pytest.mark.parametrize(
    ("moments", "more"),
    [
        ("120", ["workload.files_per_commit=2"]),
        ("120", ["workload.files_per_commit=1", OFTEN_AMORO]),  # most evaluations find nothing
        ("10", ["workload.files_per_commit=3", "table.buckets=4", OFTEN_AMORO]),  # sums of parts are far off
    ],
)
def test_where_compactions_depend_on_each_other_nothing_beats_the_best(compactbench, scenario, moments, more):
    """If rewrites need more files than a commit adds, what is compacted depends on when it was before."""
    settings = ("table.partitioning=bucket", "table.buckets=3", "duration=40min", *more)
    words = [word for setting in settings for word in ("--set", setting)]
    words += ["--moments", moments]
    answer = compactbench("hindsight", scenario, *words, "--format", "json", "--quiet").json
    shown = compactbench("show", "results/hindsight", "--format", "json").json["rows"]
    rows = {row["strategy"]: row for row in shown}
    for rate in answer["rates"]:
        assert min(one["over_best"] for one in rate["strategies"]) >= 1 - 1e-9
        queries = rate["queries_per_h"] * 40 / 60
        cpu_s = {label: row["total_cpu_s"] + queries * row["query_cpu_s"] for label, row in rows.items()}
        own = f"hindsight-{rate['queries_per_h']:g}" if rate["found"]["compactions_at_s"] else "never"
        found = [cost_s for label, cost_s in cpu_s.items() if label.startswith("hindsight-")]
        assert cpu_s[own] <= min(found) * (1 + 1e-9)
        assert len(rate["found"]["compactions_at_s"]) == rows[own]["compactions"]


def test_schedules_of_delta_are_said_to_be_approximate(compactbench, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = compactbench("hindsight", "delta-upsert-quick", "--set", "duration=3min", "--quiet").words
    assert "A checkpoint of the log comes with every so many versions" in printed


def test_runs_of_other_commands_stay(compactbench, scenario):
    compactbench("run", scenario, "--simulate", "--out", "results/hindsight")
    printed = compactbench("hindsight", scenario, code=2)
    assert "has runs of other commands: choose another --out" in printed.err
    rows = compactbench("show", "results/hindsight", "--format", "json").json["rows"]
    assert [row["strategy"] for row in rows] == ["never", "every-2min"]


def test_another_rate_can_be_asked_for_in_the_same_folder_also_after_an_accident(
    compactbench, scenario, tmp_path
):
    (tmp_path / "results/hindsight/demo/left").mkdir(parents=True)
    for rate in ("40", "0"):
        answer = compactbench(
            "hindsight", scenario, "--set", f"prices.queries_per_hour={rate}", "--format", "json", "--quiet"
        ).json
        assert [one["queries_per_h"] for one in answer["rates"]] == [float(rate)]


def test_a_label_of_a_schedule_is_not_a_strategys(compactbench, scenario):
    settings = 'strategies=[{ label = "hindsight-100" }]'
    printed = compactbench("hindsight", scenario, "--set", settings, code=2)
    assert "strategies[hindsight-100]" in printed.err


@pytest.mark.parametrize("first", [1, 5])
def test_ticks_before_the_first_rows_cost_nothing(compactbench, scenario, tmp_path, first):
    (tmp_path / "t.csv").write_text("time,rows\n" + "".join(f"{60 * n},40\n" for n in range(first - 1, 10)))
    trace = 'workload.arrival={ type = "trace", path = "t.csv" }'
    answer = compactbench("hindsight", scenario, "--set", trace, "--format", "json", "--quiet").json
    for rate in answer["rates"]:
        assert rate["bound_extra_cpu_s"] == pytest.approx(rate["best_extra_cpu_s"], rel=1e-6)
        assert min(one["over_best"] for one in rate["strategies"]) >= 1 - 1e-9
    assert answer["rates"][0]["strategies"][0]["over_best"] == pytest.approx(1)  # never


def test_a_planner_that_fails_is_named_and_the_others_are_searched(compactbench, scenario, tmp_path):
    (tmp_path / "boom.py").write_text(
        "from dataclasses import dataclass\n\n\n@dataclass(frozen=True)\nclass Boom:\n"
        "    def decide(self, state):\n        raise RuntimeError('boom')\n"
    )
    rule = '{ trigger = { type = "every", interval = "1min" }, planner = { type = "boom:Boom" } }'
    more = f"strategies[never].rules=[{rule}]"
    printed = compactbench("hindsight", scenario, "--set", more, code=1)
    assert "no schedules of never: its planner failed (RuntimeError: boom)" in printed.err


def test_a_stream_without_rows_is_refused(compactbench, scenario, tmp_path):
    (tmp_path / "t.csv").write_text("time,rows\n36000,40\n")
    trace = 'workload.arrival={ type = "trace", path = "t.csv" }'
    assert "no commit has rows" in compactbench("hindsight", scenario, "--set", trace, code=2).err


def test_a_schedule_that_only_hindsight_knows_is_not_recommended(compactbench, scenario):
    compactbench(
        "hindsight", scenario, "--set", "prices.queries_per_hour=1000", "--set", "prices.core_hour=1"
    )
    printed = compactbench("recommend", "results/hindsight").words
    assert "Run every-2min" in printed
    assert "hindsight" not in printed


def test_the_report_has_the_figures_beside_the_front_and_recommends_no_schedule(compactbench, scenario):
    rate = ("--set", "prices.queries_per_hour=1000")
    answer = compactbench("hindsight", scenario, *rate, "--format", "json", "--quiet").json
    compactbench("report", "results/hindsight")
    text = Path("results/hindsight/report/report.md").read_text()
    assert "Extra CPU over that of the best schedule in hindsight, as modelled" in text
    table = text.split("in hindsight, as modelled**")[1].split("Extra CPU is")[0]
    for one in answer["rates"][0]["strategies"]:
        assert f"| `{one['strategy']}` | {human_ratio(one['over_best'])} |" in table
    assert "hindsight" not in table
    answer = text.split("### The answer")[1].split("\n### ")[0]
    assert "all strategies keep up" in answer
    assert "Data files at the end" in answer
    assert "hindsight-1000" not in answer
    assert "or hindsight-1000" not in compactbench("show", "results/hindsight").words


def test_schedules_of_another_scenario_are_not_the_reports(compactbench, scenario):
    compactbench("hindsight", scenario, "--set", "prices.queries_per_hour=1000", "--quiet")
    file = Path("results/hindsight/demo/hindsight.json")
    stored = json.loads(file.read_text())
    file.write_text(json.dumps({**stored, "scenario_hash": "another"}))
    compactbench("report", "results/hindsight")
    assert "best schedule in hindsight" not in Path("results/hindsight/report/report.md").read_text()
    file.write_text("{")
    printed = compactbench("report", "results/hindsight", code=2)
    assert printed.codes == ["damaged-record"]
