import pytest
from result_builder import build_results
from scenario_builder import write


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return build_results(tmp_path_factory.mktemp("results"))


def test_the_answer_in_words(compactbench, results):
    printed = compactbench("recommend", results, "--subject-to", "query_mean_s<=1h").words
    assert "Run never: no rules." in printed
    assert "Its compaction_cpu_s is 0 s, the least of 4 that keep the limits." in printed


def test_what_decides_is_in_the_json(compactbench, results):
    (answer,) = compactbench(
        "recommend", results, "--subject-to", "query_mean_s<=1h", "--format", "json"
    ).json
    assert answer["strategy"] == "never"
    assert (answer["objective"], answer["value"]) == ("compaction_cpu_s", 0)
    (limit,) = answer["limits"]
    assert (limit["metric"], limit["limit"], limit["is_sure"]) == ("query_mean_s", 3600, True)


def test_without_a_limit_it_would_be_cheapest_never_to_compact(compactbench, results):
    assert "give --subject-to" in compactbench("recommend", results, code=2).err


def test_no_strategy_keeps_a_limit_that_is_too_low(compactbench, results):
    printed = compactbench("recommend", results, "--subject-to", "query_mean_s<=1ms", code=1)
    assert "keeps query_mean_s <= 1 ms." in printed.words


def test_a_figure_that_no_run_has_is_said_to_be_missing(compactbench, results):
    printed = compactbench("recommend", results, "--objective", "money_per_day", code=1)
    assert "No strategy has the figure money_per_day." in printed.words


def test_simulated_answers_say_what_the_errors_of_the_model_leave_open(compactbench, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    compactbench("sweep", write(tmp_path), "--over", "strategies.every-2min.every=1min,2min,3min,5min")
    printed = compactbench("recommend", "results/sweep", "--subject-to", "query_mean_s<=90ms").words
    assert "the limit may not hold" in printed
    assert "the errors of the model do not tell it from" in printed


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--subject-to", "query_mean_s<2"], "write METRIC<=VALUE"),
        (["--subject-to", "latency<=2"], "'latency' is not a metric"),
        (["--subject-to", "query_mean_s<=soon"], "is not a duration"),
        (["--objective", "cost"], "'cost' is not a metric"),
        (["--objective", "compactions"], "neither more nor less of it is better"),
    ],
)
def test_a_mistake_is_one_line(compactbench, results, words, problem):
    printed = compactbench("recommend", results, *words, code=2)
    assert problem in printed.err
    assert len(printed.err.splitlines()) == 1
