import re
import signal

import pytest
from scenario_builder import SOUND, write
from stored import stored

from bench.cli import executing
from bench.cli.output import EXIT_INTERRUPTED, OUT
from bench.errors import MissingRuntimeError
from bench.results.records import REPLACED
from bench.runs.jobs import SentScenario
from bench.runs.suite import results_folder


@pytest.fixture
def run(tmp_path, compactbench, monkeypatch):
    """`compactbench run` of the sound scenario into tmp_path/results."""
    file = write(tmp_path)
    monkeypatch.chdir(tmp_path)

    def call(*words, scenarios=(file,), code=0):
        return compactbench("run", *scenarios, "--out", "results", *words, code=code)

    return call


def test_a_dry_run_lists_the_runs_and_writes_nothing(run, tmp_path, monkeypatch):
    monkeypatch.setenv("COMPACTBENCH_CACHE", str(tmp_path / "cache"))  # without this scenario's change log
    printed = run("--dry-run", "--repetitions", "2")
    assert printed.err == ""
    lines = printed.out.splitlines()
    named = [line.split(":")[0].split(". ")[1] for line in lines[:4]]
    assert sorted(named[:2]) == ["demo every-2min #1", "demo never #1"]
    assert sorted(named[2:]) == ["demo every-2min #2", "demo never #2"]
    (compacting, _) = (line for line in lines if "every-2min" in line)
    assert all(part in compacting for part in ("10 commits", "iceberg.rewrite_data_files()", "0.2 GiB"))
    disk, cache, repetitions, summary = lines[-4:]
    assert re.findall(r"[\d.]+ GiB", disk) == ["0.2 GiB", "0.8 GiB"]
    assert "0.0 GiB" in cache
    assert "--repetitions 3" in repetitions
    assert summary.startswith("4 runs planned")
    assert not (tmp_path / "results").exists()


def test_a_dry_run_is_folded_at_its_spaces(run, monkeypatch):
    monkeypatch.setattr(OUT, "width", 60)
    lines = run("--dry-run", "--simulate").out.splitlines()
    assert max(map(len, lines)) <= 60
    (folded,) = (line for line in lines if line.startswith(" " * 5))
    assert folded.strip().endswith("simulated")


@pytest.mark.parametrize("words", [["--repetitions", "3"], ["--simulate"]])
def test_enough_repetitions_need_no_remark(run, words):
    printed = run("--dry-run", *words).out
    assert "intervals" not in printed
    assert ("disk" in printed) is ("--simulate" not in words)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--only", "never"], "--only never: "),
        (["--only", "strategy="], "--only strategy=: "),
        (["--only", "variant=v3"], "available: base"),
        (["--only", "strategy=nver"], "available: never, every-2min"),
        (["--set", "spark.my.token Zq7-x"], "--set: spark.my.token is not"),
        (["--set", "spark.spark.my.token"], "--set: spark.spark.my.token is not"),
        (["--set", 'spark."spark.driver.memory"=1g'], "`driver_memory = ...`"),
        (["--set", "spark.spark.a=\udcff"], "is not UTF-8"),
        (["--set", "sed=3"], "unknown key"),
        (["--repetitions", "0"], "--repetitions"),
        (["--verify", "sometimes"], "--verify"),
        (["--simulate", "--verify", "each"], "--verify each and --simulate: "),
        (["--simulate", "--keep-tables"], "--keep-tables and --simulate: "),
        (["--coefficients", "mine.toml"], "--coefficients mine.toml: "),
        (["--set", "clock=real", "--verify", "each"], '--verify each with clock = "real": '),
    ],
)
def test_bad_options_exit_2_with_their_name(run, words, text):
    printed = run("--dry-run", *words, code=2)
    assert printed.out == ""
    assert text in printed.err
    assert "Zq7" not in printed.err


VARIED = SOUND + '[[variants]]\nlabel = "v3"\nset = { table = { properties = { a = "b" } } }\n'


def test_variants_are_planned_and_chosen(run, tmp_path):
    file = write(tmp_path, VARIED, "v.toml")
    printed = run("--dry-run", scenarios=(file,)).out
    assert "4 runs planned" in printed
    assert "every-2min @ v3" in printed
    only = ("--only", "variant=v3", "--only", "strategy=never")
    printed = run("--dry-run", *only, scenarios=(file,)).out
    assert "1 run planned" in printed
    assert "never @ v3" in printed
    assert "every-2min" not in printed


def test_quiet_leaves_the_results(run):
    printed = run("--simulate", "--quiet")
    assert "compactbench report" in printed.out
    assert [line.split(":")[0] for line in printed.err.splitlines()] == ["demo"]  # that it is simulated
    assert "all: 2/2 runs in " in run("--simulate", "-o", "loud").err


def test_settings_of_spark_are_set_as_text(run, suites):
    run("--set", "spark.master=local[1]", "--set", 'spark."spark.some.key"=a "b" = c')
    (planned, _) = suites[0]
    spark = planned[0].scenario.spark
    assert spark.master == "local[1]"
    assert spark.settings == {"spark.some.key": 'a "b" = c'}


def test_a_worker_can_load_the_scenario_with_its_overrides(run, suites):
    run("--set", "workload.rows_per_commit=10", "--set", "spark.spark.a=1")
    scenario = suites[0][0][0].scenario
    assert SentScenario.of(scenario).made().resolved == scenario.resolved


def test_a_scenario_given_twice_is_refused(run, tmp_path):
    (tmp_path / "other").mkdir()
    again = write(tmp_path / "other", SOUND)
    assert run("--dry-run", scenarios=(write(tmp_path), again), code=2).codes == ["taken"]


def test_options_reach_the_suite(run, suites, tmp_path):
    run("--verify", "each", "--keep-tables")
    (_, options) = suites[0]
    assert (options.verify, options.keep_tables) == ("each", True)
    assert options.out == tmp_path / "results"
    assert options.command.endswith("demo.toml --verify each")


def test_disturbed_runs_are_repeated_on_request_and_kept(run, suites, tmp_path):
    run()
    first = sorted(tmp_path.glob("results/demo/*-never-*/events.jsonl"))[0]
    first.write_text(
        first.read_text().replace('"status": "finished"', '"status": "finished", "other_cores": 1.3')
    )
    note = first.parent / REPLACED
    run("--repeat-disturbed", "--only", "strategy=every-2min")  # not the one that was disturbed
    run("--repeat-disturbed", "--dry-run")
    assert not note.exists()
    printed = run("--repeat-disturbed")
    assert note.read_text() == "other processes used 1.3 cores\n"
    ((again,), _) = suites[-1]
    assert (again.spec.label, again.repetition) == ("never", 1)
    assert "never: 1 replaced (other processes used 1.3 cores)" in printed.err
    run("--repeat-disturbed")
    assert suites[-1][0] == ()


def test_existing_results_need_resume(run, suites):
    run("--only", "strategy=never")
    for more in ([], ["--dry-run"]):
        assert run(*more, code=2).codes == ["has-runs"]
    printed = run("--resume", "--dry-run").out
    assert "demo every-2min #1" in printed
    assert "1 run planned" in printed
    printed = run("--resume").out
    assert [planned_run.spec.label for planned_run in suites[-1][0]] == ["every-2min"]
    assert "never" in printed  # the table shows the earlier runs too
    assert run("--resume", "--set", "workload.rows_per_commit=7", code=2).codes == ["mixed-runs"]
    run("--resume", "--repetitions", "2")  # more repetitions are no other definition
    assert [planned_run.repetition for planned_run in suites[-1][0]] == [2, 2]


def test_a_failed_run_exits_1_after_the_table(run, suites, monkeypatch):
    def run_suite(planned, options, watcher):
        return tuple(stored(options.out, planned_run, "failed") for planned_run in planned)

    monkeypatch.setattr(executing, "run_suite", run_suite)
    printed = run(code=1)
    assert "log.txt" in printed.out
    assert "demo, never: 1 failed" in printed.err


def test_what_the_machine_lacks_exits_3_before_anything_runs(run, suites, monkeypatch):
    def check(planned, out, keep_tables):
        raise MissingRuntimeError("no Java", code="test")

    monkeypatch.setattr(executing, "check", check)
    assert run(code=3).codes == ["test"]
    assert suites == []


def test_a_folder_in_use_exits_2(run, suites, tmp_path):
    with results_folder.locked(tmp_path / "results"):
        assert run(code=2).codes == ["locked"]
    assert suites == []


def test_filters_must_match_a_run_of_some_scenario(run, tmp_path):
    varied = write(tmp_path, VARIED, "varied.toml")
    contradiction = ("--only", "variant=base", "--only", "strategy=never @ v3")
    assert run("--simulate", *contradiction, scenarios=(varied,), code=2).codes == ["no-runs"]
    # One scenario has the variant, the other has nothing to run.
    printed = run("--simulate", "--only", "variant=v3", scenarios=(varied, write(tmp_path)))
    assert "never @ v3" in printed.out


def test_sigterm_stops_a_suite_and_is_the_callers_again_afterwards(run, monkeypatch):
    def terminated(planned, options, watcher):
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(executing, "check", lambda planned, out, keep_tables: None)
    monkeypatch.setattr(executing, "run_suite", terminated)
    callers = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        run("--simulate", code=EXIT_INTERRUPTED)
        run("--only", "strategy=nver", code=2)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, callers)
