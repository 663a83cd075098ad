import re

from result_builder import build_group, build_results

from bench.results.folders import load_runs
from reports.data.group import run_groups
from reports.page.one_line import one_line


def lines(folder, strategies, repetitions=3, **how):
    return [str(line) for line in one_line(build_group(folder, strategies, repetitions, **how))]


def test_the_best_trade_off_has_what_it_gains_and_costs_and_what_the_fastest_adds(tmp_path):
    four = {"never": None, "every-1min": 1, "every-5min": 5, "every-20min": 20}
    (line,) = lines(tmp_path, four)
    assert re.fullmatch(
        r"every-5min: mean query \S+ ms, [\d.]+x as fast as never, for [\d.]+ s of compaction CPU\. "
        r"every-1min is 1\.\d+x as fast as that, for [\d.]+x the CPU\.", line,
    )  # fmt: skip


def test_of_two_to_choose_from_both_have_their_figures_and_the_proven_ones_are_named(tmp_path):
    (line,) = lines(tmp_path, {"never": None, "every-10min": 10, "every-1min": 1})
    assert line.startswith("No strategy stands out. Mean query and compaction CPU: every-10min ")
    assert line.endswith("Proven to be faster than never: every-10min and every-1min.")


def test_nothing_is_said_of_a_baseline_that_did_not_run(tmp_path):
    (line,) = lines(tmp_path, {"every-10min": 10, "every-1min": 1})
    assert line.endswith(" Without a run of never, what queries gain is not known.")


def test_the_only_one_has_its_own_cost(tmp_path):
    (line,) = lines(tmp_path, {"never": None, "a": 2}, ticks=20)
    assert re.fullmatch(
        r"a: mean query \S+ ms, [\d.]+x as fast as never, for [\d.]+ s of compaction CPU\.", line
    )


def test_a_gain_that_noise_may_have_made_is_not_claimed(tmp_path):
    (line,) = lines(tmp_path, {"never": None, "a": 2}, repetitions=1, ticks=20)
    assert ", not proven to be faster than never, with too few runs to know the noise, for " in line


def test_modelled_figures_are_called_so(tmp_path):
    (line,) = lines(tmp_path, {"never": None, "a": 2}, repetitions=1, ticks=20, mode="simulated")
    assert line.startswith("As modelled, a: ")


def test_without_a_choice_the_reason_is_given(tmp_path):
    assert lines(tmp_path, {"never": None}, ticks=3) == ["No strategy compacted during the stream."]


def test_a_baseline_beyond_the_model_is_not_said_to_be_as_fast(tmp_path):
    options = {"coefficients": {"operations": {"query": {"steps": 1}}}}
    made = {"never": None, "every-10min": 10, "every-1min": 1}
    folder = build_results(tmp_path, made, 1, 20, mode="simulated", options=options)
    for path in folder.rglob("events.jsonl"):
        if '"strategy": "never"' in path.with_name("manifest.json").read_text():
            beyond = '"kind": "run", "beyond_fit": {"extrapolated": {"query s_per_file": 9.0}}'
            path.write_text(path.read_text().replace('"kind": "run"', beyond))
    (group,) = run_groups(load_runs(folder))
    (line,) = map(str, one_line(group))
    assert line.endswith(" never is not compared: 9 times as many files in a query as were measured.")


def test_where_no_seconds_can_be_compared_it_says_what_holds_and_what_to_do(tmp_path):
    options = {"coefficients": {"operations": {"query": {"steps": 1}}}}
    folder = build_results(tmp_path, {"never": None, "a": 2}, 1, 12, mode="simulated", options=options)
    for path in folder.rglob("events.jsonl"):
        beyond = '"kind": "run", "beyond_fit": {"extrapolated": {"query s_per_file": 9.0}}'
        path.write_text(path.read_text().replace('"kind": "run"', beyond))
    (group,) = run_groups(load_runs(folder))
    (line,) = map(str, one_line(group))
    assert re.fullmatch(r"No strategy has .* compared\. Counts and bytes hold\. .* \(calibrate\)\.", line)


def test_prices_decide_before_the_trade_off(tmp_path):
    prices = {"price_per_core_hour": 0.05, "queries_per_h": 60.0, "currency": "USD"}
    (line,) = lines(tmp_path, {"never": None, "every-1min": 1, "every-5min": 5}, ticks=20, **prices)
    assert line.startswith("At 60 queries an hour ")
