import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from result_builder import build_results
from scenario_builder import SOUND, write

from bench.cli.completion import (
    metric_names,
    only_filters,
    planner_names,
    scenario_names,
    strategy_labels,
)
from bench.cli.main import COMMANDS
from bench.results.metrics import METRICS
from bench.results.records import MANIFEST
from bench.scenario.file import shipped
from strategies.registry import PLANNERS

BIN = Path(sys.executable).parent
HOSTILE = (
    "$(touch pwned)",
    "`touch pwned`",
    "a;touch pwned",
    "a'b",
    'a"b',
    "a\\ b",
    "*",
    "a\nb",
    "a\tb",
    "~",
    "a\x1bb",
    "-x",
)
# What bash makes of each word that it is offered, by typer's own script, and of the line with the word in it.
ENTERED = """
eval "$(_COMPACTBENCH_COMPLETE=source_bash compactbench)"
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_compactbench_completion compactbench
for word in "${COMPREPLY[@]}"; do eval "printf '<%s>' ${OPENED}$word$OPENED"; done
"""

VARIED = f'{SOUND}[[variants]]\nlabel = "v3"\nset = {{ table = {{ format_version = 3 }} }}\n'


def given(**params):
    """What typer knows of the words before the one that is being typed."""
    return SimpleNamespace(params=params, args=[])


@pytest.fixture
def entered(tmp_path):
    """What a real bash has as words if it inserts what it is offered for the last of these words."""

    def run(*words, opened=""):
        done = subprocess.run(
            ["bash", "-c", ENTERED, "bash", "compactbench", *words],
            cwd=tmp_path, capture_output=True, text=True, check=True,
            env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "OPENED": opened},
        )  # fmt: skip
        assert done.stderr == ""
        return done.stdout

    return run


@pytest.fixture
def offered(compactbench, monkeypatch):
    """What bash offers for the last word of a line."""

    def run(line, words=None):
        words = words or line.split(" ")
        monkeypatch.setenv("_COMPACTBENCH_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", "\n".join(words))
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        printed = compactbench()
        assert printed.err == ""
        return printed.out.splitlines()

    return run


def test_names_are_those_of_the_registries():
    assert scenario_names(given()) == list(shipped())
    assert planner_names(given()) == list(PLANNERS)
    assert metric_names(given()) == [metric.name for metric in METRICS]


def test_only_offers_strategies_and_variants_of_the_scenarios_on_the_line(tmp_path):
    scenarios = [write(tmp_path), write(tmp_path, VARIED, "varied.toml")]
    assert only_filters(given(scenarios=scenarios)) == [
        "strategy=never", "strategy=every-2min", "variant=base", "variant=v3",
    ]  # fmt: skip
    assert only_filters(given(scenarios=scenarios[:1])) == ["strategy=never", "strategy=every-2min"]
    assert only_filters(given()) == []


def test_a_plan_offers_the_strategies_of_its_scenario(tmp_path):
    assert planner_names(given(scenario=write(tmp_path)))[:3] == ["never", "every-2min", next(iter(PLANNERS))]


def test_labels_are_those_of_the_results_with_one_damaged_run(tmp_path):
    build_results(tmp_path, {"never": None, "every-2min": 2}, 2, 2)
    assert set(strategy_labels(given(results=[tmp_path]))) == {"never", "every-2min"}
    (run, *_) = sorted((tmp_path / "append-small").iterdir())
    assert strategy_labels(given(results=[run])) == ["never"]
    (run / MANIFEST).write_text("{")
    assert strategy_labels(given(results=[tmp_path])) == ["every-2min", "never"]
    assert strategy_labels(given(results=[run])) == []


@pytest.mark.parametrize("wrong", ["nowhere.toml", "damaged.toml", "=", ""])
def test_errors_offer_nothing(tmp_path, monkeypatch, wrong):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "damaged.toml").write_text("seed = ")
    assert only_filters(given(scenarios=[wrong])) == []
    assert strategy_labels(given(results=[tmp_path / "nowhere"])) == []


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("compactbench run quick", ["quickstart"]),
        ("compactbench validate append-only quick", ["quickstart"]),
        ("compactbench sweep quick", ["quickstart"]),
        ("compactbench hindsight quick", ["quickstart"]),
        ("compactbench list scenarios quick", ["quickstart"]),
        ("compactbench list strategies amo", ["amoro"]),
        ("compactbench list scen", ["scenarios"]),
        ("compactbench plan table --strategy amo", ["amoro"]),
        ("compactbench compare --metric compaction_cpu_s", ["compaction_cpu_s"]),
        ("compactbench compare --fail-if query_mean_", ["query_mean_s"]),
        ("compactbench recomm", ["recommend"]),
        ("compactbench run nothing-like-this", []),
        ("compactbench run quickstart --only strategy=n", ["strategy=never"]),
    ],
)
def test_a_shell_is_offered_what_begins_as_the_word_does(offered, line, names):
    assert [name for name in offered(line) if name] == names


def test_a_shell_is_offered_all_commands(offered):
    assert offered("compactbench ") == list(COMMANDS)


def test_bash_is_offered_labels_after_the_equals_sign_which_it_takes_for_a_word(offered):
    words = ["compactbench", "run", "quickstart", "--only", "strategy", "="]
    labels = offered("", words)
    assert "every-1min" in labels
    assert offered("", [*words, "nev"]) == ["never"]


def test_labels_of_the_default_results_are_offered(offered, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    build_results(tmp_path / "results", {"never": None, "every-2min": 2}, 1, 2)
    build_results(tmp_path / "other", {"hourly": 60}, 1, 2)
    assert offered("compactbench compare --baseline ev") == ["every-2min"]
    assert offered("compactbench report other --only h") == ["hourly"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_no_shell_is_offered_a_label_that_it_would_execute_or_expand(tmp_path, monkeypatch, shell):
    monkeypatch.setenv("_COMPACTBENCH_COMPLETE", f"complete_{shell}")
    build_results(tmp_path, dict.fromkeys(("never", *HOSTILE, "every-2min+sort", "50%")), 1, 1)
    assert set(strategy_labels(given(results=[tmp_path]))) == {"never", "every-2min+sort", "50%"}


def test_bash_takes_each_label_for_one_word_and_executes_none(tmp_path, entered):
    build_results(
        tmp_path / "results", dict.fromkeys(("never", "never @ format-v3", "never $(touch pwned)")), 1, 1
    )
    assert entered("compare", "--baseline", "nev") == "<never><never @ format-v3>"
    assert entered("compare", "--baseline", '"never @ f', opened='"') == "<never @ format-v3>"
    assert entered("compare", "--baseline", "never\\ \\$") == ""
    assert not (tmp_path / "pwned").exists()


def test_other_shells_are_not_offered_labels_with_blanks(tmp_path, monkeypatch):
    monkeypatch.setenv("_COMPACTBENCH_COMPLETE", "complete_zsh")
    build_results(tmp_path, dict.fromkeys(("never", "never @ format-v3")), 1, 1)
    assert strategy_labels(given(results=[tmp_path])) == ["never"]


@pytest.mark.parametrize("asked", [{}, {"COMP_WORDS": "compactbench run", "COMP_CWORD": "abc"}])
def test_a_question_that_no_shell_asks_has_no_answer(compactbench, monkeypatch, asked):
    for name, value in {"_COMPACTBENCH_COMPLETE": "complete_bash", **asked}.items():
        monkeypatch.setenv(name, value)
    printed = compactbench(code=1)
    assert (printed.out, printed.err) == ("", "")


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("compactbench run quick", ["quickstart"]),
        ("compactbench sweep quick", ["quickstart"]),
        ("compactbench li", ["list"]),
        ("compactbench compare {results} --baseline n", ["never"]),
        ("compactbench report {results} --only n", ["never"]),
        ("compactbench recommend --obj", ["--objective"]),
    ],
)
def test_names_come_without_the_libraries_of_reports(tmp_path, line, names):
    line = line.format(results=build_results(tmp_path, {"never": None}, 1, 2))
    code = (
        "import sys; from bench.cli.main import main; assert main([]) == 0; "
        "assert not {'pandas', 'scipy', 'matplotlib', 'pyspark'} & sys.modules.keys()"
    )
    last = str(len(line.split()) - 1)
    asked = {"COMP_WORDS": line, "COMP_CWORD": last, "_COMPACTBENCH_COMPLETE": "complete_bash"}
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **asked}, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == names
