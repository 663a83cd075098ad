import json
import shlex
from pathlib import Path

import pytest
import typer
from coefficients import shipped_with
from scenario_builder import EVERY, SOUND, write

from bench.cli.main import command_line
from bench.cli.searching import Search
from bench.engines.simulated import costs
from bench.scenario.load import load_scenario

OVER = ("--over", "strategies.every-2min.every=1min,2min,5min")
SMALL = ("--training-seeds", "2", "--held-out-seeds", "1", "--quiet")
NOOP = "[operations.noop.wall]\n"
RATE = ("--set", "prices.queries_per_hour=1000")


@pytest.fixture
def scenario(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write(tmp_path)


def tuned(compactbench, *words):
    return compactbench("tune", *words, *SMALL, "--format", "json").json


def test_the_cheapest_setting_on_training_seeds_is_scored_on_others(compactbench, scenario):
    answer = tuned(compactbench, scenario, *OVER)
    assert (answer["settings_of_each_family"], answer["training_runs_of_each_family"]) == (3, 6)
    assert [rate["queries_per_h"] for rate in answer["rates"]] == [1, 10, 100, 1000]
    cheap, dear = answer["rates"][0]["strategies"], answer["rates"][-1]["strategies"]
    assert [one["strategy"] for one in cheap] == ["every-2min", "never"]
    assert (cheap[0]["setting"], cheap[1]["setting"]) == ("every=5min", None)
    assert dear[0]["setting"] == "every=1min"  # who is asked a thousand times an hour compacts always
    training, held_out = dear[0]["scores"]
    assert [one["seed"] for one in training["seeds"] + held_out["seeds"]] == [7, 8, 9]
    assert (training["role"], held_out["role"]) == ("training", "held-out")
    for scores in (training, held_out):
        ratios = [one["over_best"] for one in scores["seeds"]]
        assert scores["over_best_worst"] == pytest.approx(max(ratios))
        assert scores["over_best_mean"] == pytest.approx(sum(ratios) / len(ratios))
        assert 1 - 1e-9 <= min(ratios) < 1.5


def test_extra_cpu_is_that_of_hindsight(compactbench, scenario):
    told = compactbench("hindsight", scenario, *RATE, "--format", "json", "--quiet").json["rates"][0]
    over = {one["strategy"]: one for one in told["strategies"]}
    (rate,) = tuned(compactbench, scenario, *RATE, "--over", "strategies.every-2min.every=2min")["rates"]
    for one in rate["strategies"]:
        own = one["scores"][0]["seeds"][0]
        assert own["extra_cpu_s"] == pytest.approx(over[one["strategy"]]["extra_cpu_s"])
        assert own["over_best"] == pytest.approx(over[one["strategy"]]["over_best"])


def test_every_family_has_the_same_budget(compactbench, scenario, tmp_path):
    write(tmp_path, SOUND + f'[[strategies]]\nlabel = "often"\nrules = [{EVERY}]\n')
    more = ("--over", "strategies.often.every=1min..10min*8")
    printed = compactbench("tune", scenario, *OVER, *more, *RATE, *SMALL, "--runs", "5").words
    assert "Each family had 2 settings on 2 training seeds, 4 simulated runs" in printed
    assert "every-2min: strategies.every-2min.every=1min,2min,5min (2 of 3, drawn)" in printed
    assert "often: strategies.often.every=1min..10min*8 (2 of 7, drawn)" in printed
    assert "These seeds hardly differ" in printed
    manifests = [json.loads(path.read_text()) for path in Path("results/tune").rglob("manifest.json")]
    for family in ("every-2min", "often"):
        assert (
            sum(m["strategy"].startswith(f"{family} ") and m["scenario"] != "demo-seed-9" for m in manifests)
            == 4
        )


def test_another_scenario_can_be_held_out(compactbench, scenario, tmp_path):
    other = SOUND.replace("rows_per_commit = 80", "rows_per_commit = 8").replace("every-2min", "another")
    write(tmp_path, other, name="quiet.toml")
    answer = tuned(compactbench, scenario, *OVER, *RATE, "--held-out-on", "quiet.toml")
    own, *_ = answer["rates"][0]["strategies"]
    assert [(one["scenario"], one["role"]) for one in own["scores"]] == [
        ("demo", "training"), ("demo", "held-out"), ("quiet", "held-out"),
    ]  # fmt: skip
    assert own["scores"][2]["over_best_worst"] >= 1 - 1e-9


def test_random_arrivals_tell_seeds_apart(compactbench, scenario):
    arrival = ("--set", 'workload.arrival={ type = "poisson" }', "--set", "workload.rows_per_commit=4000")
    answer = tuned(compactbench, scenario, *OVER, *RATE, *arrival)
    seeds = answer["rates"][0]["strategies"][0]["scores"][0]["seeds"]
    assert seeds[0]["extra_cpu_s"] != seeds[1]["extra_cpu_s"]


def test_the_same_command_goes_on_and_makes_nothing_again(compactbench, scenario):
    words = ("tune", scenario, *OVER, *RATE, *SMALL)
    first = compactbench(*words, "--format", "csv").csv
    before = {path: path.stat().st_mtime_ns for path in Path("results/tune").rglob("manifest.json")}
    assert compactbench(*words, "--format", "csv").csv == first
    assert {path: path.stat().st_mtime_ns for path in Path("results/tune").rglob("manifest.json")} == before
    compactbench(*words, "--moments", "3")
    made = [json.loads(path.read_text())["strategy"] for path in Path("results/tune").rglob("manifest.json")]
    assert made.count("hindsight-1000") == 3  # another search replaces the schedules of the last one
    assert first[0]["strategy"] == "every-2min"
    assert first[0]["role"] == "training"


def test_the_last_line_measures_the_choice_on_real_tables(compactbench, scenario, request):
    last = compactbench("tune", scenario, *OVER, *RATE, *SMALL).out.splitlines()[-1]
    name, command, *words = shlex.split(last)
    assert (name, command) == ("compactbench", "run")
    suites = request.getfixturevalue("suites")
    compactbench("run", *words)
    ((planned, _),) = suites
    assert {run.spec.label for run in planned} == {"every-2min"}
    assert "interval=1min" in planned[0].spec.summary
    assert planned[0].mode == "real"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--over", "strategies.often.every=1min"), "no such strategy"),
        (("--over", "workload.rows_per_commit=1,2"), "is no key of a strategy"),
        ((*OVER, "--runs", "1"), "give at least 2"),
        ((*OVER, "--held-out-on", "demo.toml"), "has the name of the scenario that is tuned"),
        ((*OVER, "--schedules-of", "nobody"), "no such strategy"),
        ((*OVER, "--set", "prices.queries_per_hour=-1"), "prices.queries_per_hour"),
    ],
)
def test_a_mistake_is_one_line(compactbench, scenario, words, problem):
    printed = compactbench("tune", scenario, *words, *SMALL, code=2)
    assert problem in printed.err
    assert len(printed.err.splitlines()) == 1
    assert not Path("results/tune/demo-seed-7").exists()


@pytest.mark.parametrize("command", ["tune", "sweep", "run"])
def test_runs_with_other_coefficients_are_not_used_again(compactbench, scenario, tmp_path, command):
    words = {
        "tune": ("tune", scenario, *OVER, *RATE, *SMALL),
        "sweep": ("sweep", scenario, *OVER, "--quiet"),
        "run": ("run", scenario, "--simulate", "--quiet"),
    }[command]
    compactbench(*words, "--out", "made")
    before = sorted(Path("made").rglob("manifest.json"))
    dear = shipped_with(tmp_path, NOOP, f"{NOOP}s_per_delete_file = 7.0\n")
    resume = ("--resume",) if command == "run" else ()
    printed = compactbench(*words, *resume, "--out", "made", "--coefficients", dear, code=2)
    assert "was simulated with other coefficients" in printed.err
    assert "choose another --out" in printed.err
    assert len(printed.err.splitlines()) == 1
    assert sorted(Path("made").rglob("manifest.json")) == before
    same = shipped_with(tmp_path, 'format = "iceberg"', 'format = "iceberg"  # the shipped ones')
    compactbench(*words, *resume, "--out", "made", "--coefficients", same)
    assert sorted(Path("made").rglob("manifest.json")) == before


def test_schedules_of_an_earlier_versions_coefficients_are_searched_again(scenario, tmp_path, monkeypatch):
    plain, asked = load_scenario(scenario), Search((1.0,))
    before = asked.identity(plain)
    assert asked.identity(plain) == before
    later = shipped_with(tmp_path, NOOP, f"{NOOP}s_per_delete_file = 7.0\n")
    assert Search((1.0,), coefficients=later).identity(plain) != before
    monkeypatch.setattr(costs, "shipped_file", lambda table_format: later)
    assert asked.identity(plain) != before


@pytest.mark.parametrize("command", ["tune", "hindsight", "sweep"])
def test_the_recorded_command_has_all_options_and_makes_the_same_runs(
    compactbench, scenario, tmp_path, command
):
    write(tmp_path, name="quiet.toml")
    same = shipped_with(tmp_path, NOOP, NOOP)
    searching = ("--moments", "3", "--schedules-of", "every-2min")
    words = {
        "tune": (
            *OVER, *searching, "--runs", "4", "--training-seeds", "2", "--held-out-seeds", "1",
            "--held-out-on", "quiet.toml",
        ),
        "hindsight": searching,
        "sweep": OVER,
    }[command]  # fmt: skip
    compactbench(command, scenario, *RATE, *words, "--coefficients", same, "--out", "made", "--quiet")
    manifests = sorted(Path("made").rglob("manifest.json"))
    (recorded,) = {json.loads(path.read_text())["command"] for path in manifests}
    name, *repeated = shlex.split(recorded)
    assert name == "compactbench"
    called = typer.main.get_command(command_line([command])).commands[command]
    flags = {param.opts[0] for param in called.params}
    assert {word for word in repeated if word.startswith("--")} == {
        flag for flag in flags if flag.startswith("--")
    } - {"--out", "--format", "--quiet", "--help"}
    compactbench(*repeated, "--out", "again", "--quiet")
    made = [
        sorted(json.loads(path.read_text())["strategy"] for path in Path(out).rglob("manifest.json"))
        for out in ("made", "again")
    ]
    assert made[0] == made[1]
