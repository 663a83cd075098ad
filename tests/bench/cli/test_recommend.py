import re
from pathlib import Path

import pytest
from result_builder import build_results
from scenario_builder import write

from bench.engines.journal import Journal
from bench.results.folders import load_runs
from bench.runs.settings import NAMESPACE_NOTES
from bench.runs.suite import suite


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return build_results(tmp_path_factory.mktemp("results"))


def test_the_answer_in_words(compactbench, results):
    printed = compactbench("recommend", results, "--subject-to", "query_mean_s<=1h").words
    assert "All strategies keep up with the stream" in printed.partition("Run never: no rules.")[0]
    assert "Its compaction CPU is 0 s, the least of all 4: the limits exclude none." in printed


def test_what_decides_is_in_the_json(compactbench, results):
    (answer,) = compactbench(
        "recommend", results, "--subject-to", "query_mean_s<=1h", "--format", "json"
    ).json
    measured = answer["measured"]
    assert (measured["strategy"], measured["value"]) == ("never", 0)
    assert (answer["objective"], answer["modelled"], answer["confirmed"]) == ("compaction_cpu_s", None, [])
    (limit,) = measured["limits"]
    assert (limit["metric"], limit["limit"], limit["is_sure"]) == ("query_mean_s", 3600, True)


def test_without_a_limit_it_would_be_cheapest_never_to_compact(compactbench, results):
    assert "give --subject-to" in compactbench("recommend", results, code=2).err


def test_no_strategy_keeps_a_limit_that_is_too_low(compactbench, results):
    printed = compactbench("recommend", results, "--subject-to", "query_mean_s<=1ms", code=1)
    assert "keeps query_mean_s <= 1 ms." in printed.words


def test_a_figure_that_no_run_has_is_said_to_be_missing(compactbench, results):
    printed = compactbench("recommend", results, "--objective", "money_per_day", code=1)
    assert "No strategy has the figure money_per_day." in printed.words
    printed = compactbench("recommend", results, "--subject-to", "s3_get_requests<=10", code=1)
    assert "No strategy has the figure s3_get_requests." in printed.words


def test_simulated_answers_say_what_the_errors_of_the_model_leave_open(compactbench, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    compactbench("sweep", write(tmp_path), "--over", "strategies.every-2min.every=1min,2min,3min,5min")
    printed = compactbench("recommend", "results/sweep", "--subject-to", "query_mean_s<=90ms").words
    assert "the limit may not hold" in printed
    assert "the errors of the model do not tell it from" in printed
    assert re.search(
        r"Next to it: every=3min with [\d.]+x the compaction CPU, query_mean_s [\d.]+ ms", printed
    )


def test_the_best_of_a_simulation_run_for_real_and_are_judged_again(
    compactbench, tmp_path, monkeypatch, request
):
    monkeypatch.chdir(tmp_path)
    file = write(tmp_path)
    compactbench("run", file, "--simulate", "--out", "results")
    suites = request.getfixturevalue("suites")
    words = ("recommend", "results", "--subject-to", "query_mean_s<=1h", "--confirm", "2", "--repetitions")
    (answer,) = compactbench(*words, "1", "--format", "json").json
    (planned, _) = suites[-1]
    assert {run.spec.label for run in planned} == {"never", "every-2min"}
    assert {run.mode for run in planned} == {"real"}
    pairs = {(pair["strategy"], pair["metric"]): pair for pair in answer["confirmed"]}
    assert pairs["every-2min", "compaction_cpu_s"]["modelled"] > 0
    assert len(pairs) == 4
    compactbench(*words, "2")
    (missing, _) = suites[-1]
    assert {run.repetition for run in missing} == {2}


def test_what_was_measured_decides(compactbench, tmp_path, monkeypatch, request):
    """Queries take less than a tenth of a second in the simulation, and a second in each real run."""
    monkeypatch.chdir(tmp_path)
    compactbench("run", write(tmp_path), "--simulate", "--out", "results")
    request.getfixturevalue("suites")
    words = ("recommend", "results", "--format", "json", "--subject-to")
    (modelled,) = compactbench(*words, "query_mean_s<=500ms").json
    assert (modelled["modelled"]["strategy"], modelled["measured"]) == ("never", None)
    confirm = ("--confirm", "1", "--repetitions", "1")
    (broken,) = compactbench(*words, "query_mean_s<=500ms", *confirm, code=1).json
    assert broken["modelled"] == modelled["modelled"]
    assert (broken["measured"]["strategy"], broken["measured"]["limits"]) == (None, [])
    (kept,) = compactbench(*words, "query_mean_s<=2s", *confirm).json
    assert kept["measured"]["strategy"] == "never"
    assert kept["measured"]["limits"][0]["value"] == 1
    assert kept["modelled"]["limits"][0]["value"] < 0.5


def test_what_an_interrupted_real_run_has_left_is_dropped_before_it_is_made_again(
    compactbench, tmp_path, monkeypatch, request
):
    monkeypatch.chdir(tmp_path)
    compactbench("run", write(tmp_path), "--simulate", "--out", "results")
    request.getfixturevalue("suites")
    words = ("recommend", "results", "--subject-to", "query_mean_s<=1h", "--confirm", "1", "--repetitions")
    compactbench(*words, "1")
    (made,) = (run.folder for run in load_runs(Path("results/demo")) if run.manifest.mode == "real")
    Journal(made / NAMESPACE_NOTES).note("bench_demo")
    dropped = []
    monkeypatch.setattr(suite, "drop_left_by", lambda run, *of, **kept: dropped.append(run.folder.name))
    compactbench(*words, "2")
    assert dropped == [made.name]


def test_measured_strategies_are_not_confirmed(compactbench, results):
    words = ("--subject-to", "query_mean_s<=1h", "--confirm", "1")
    assert "only simulated runs are confirmed" in compactbench("recommend", results, *words, code=2).err


def test_one_strategy_for_all_streams_of_a_sweep(compactbench, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    compactbench("sweep", write(tmp_path), "--over", "workload.rows_per_commit=40,80,120")
    printed = compactbench("recommend", "results/sweep", "--subject-to", "files_end<=10").words
    assert "all 3 scenarios (iceberg, simulated) Run every-2min: it keeps the limits in all" in printed
    assert "Its compaction CPU is the best in each." in printed
    printed = compactbench("recommend", "results/sweep", "--subject-to", "files_end<=0", code=1).words
    assert "No strategy keeps the limits in all of them." in printed


def test_strategies_that_some_streams_lack_are_named(compactbench, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scenario = write(tmp_path)
    for rows, more in ((40, ()), (80, ("--over", "strategies.every-2min.every=2min,5min"))):
        words = ("--over", f"workload.rows_per_commit={rows}", *more, "--out", f"results/{rows}")
        compactbench("sweep", scenario, *words)
    printed = compactbench("recommend", "results/40", "results/80", "--subject-to", "files_end<=1000").words
    assert (
        "Not considered, because only some of the scenarios have them: every-2min, every-2min every=2min, "
        "every-2min every=5min." in printed
    )


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--subject-to", "query_mean_s<2"], "write METRIC<=VALUE"),
        (["--subject-to", "latency<=2"], "'latency' is not a metric"),
        (["--subject-to", "query_mean_s<=soon"], "is not a duration"),
        (["--subject-to", "query_mean_s<=nan"], "is not a duration"),
        (["--subject-to", "files_end<=inf"], "must be a finite number"),
        (["--subject-to", "files_end<=500MB"], "files_end is a plain number"),
        (["--subject-to", "query_mean_s<=2s", "--table", "lake..orders"], "is no name of a table"),
        (["--objective", "cost"], "'cost' is not a metric"),
        (["--subject-to", "query_mean_s<=2s", "--repetitions", "2"], "add --confirm N"),
        (["--objective", "compactions"], "neither more nor less of it is better"),
    ],
)
def test_a_mistake_is_one_line(compactbench, results, words, problem):
    printed = compactbench("recommend", results, *words, code=2)
    assert problem in printed.err
    assert len(printed.err.splitlines()) == 1
