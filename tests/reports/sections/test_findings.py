from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from result_builder import build_results

from bench.results.folders import load_runs
from reports.compare import compare
from reports.load import run_groups
from reports.pareto_front import Point, candidates, dominated, pareto_front
from reports.phrases import COST, LATENCY, claim, counted, evidence, listed
from reports.repeating import compare_counts, compare_modelled
from reports.sections.cautions import cautions
from reports.sections.findings import answers, cheapest_to_fastest

points = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), max_size=8).map(
    lambda pairs: tuple(Point(str(i), float(cost), float(query)) for i, (cost, query) in enumerate(pairs))
)


def _group(folder, **how):
    return run_groups(load_runs(build_results(folder, **how)))[0]


def _texts(group):
    return "\n".join(str(caution.text) for caution in cautions(group))


@given(points)
def test_front_and_dominated_are_all_points_and_share_none(all_points):
    optimal = {point.strategy for point in pareto_front(all_points)}
    assert optimal | dominated(all_points).keys() == {point.strategy for point in candidates(all_points)}
    assert not optimal & dominated(all_points).keys()


@given(points)
def test_along_the_front_latency_falls_while_cost_rises(all_points):
    for cheaper, faster in pairwise(pareto_front(all_points)):
        assert cheaper.cost_s <= faster.cost_s
        assert cheaper.query_s >= faster.query_s


def test_a_claim_of_less_names_the_inverse_ratio_and_its_interval():
    # Ratios 1/4.0, 1/4.1 and 1/4.2: 1/4.1. On three logs the interval is 4.303 standard errors either side:
    # half of ln 4.2 - ln 4 over sqrt 3, 0.0141; exp(4.303 x 0.0141) = 1.0625; 4.099 / 1.0625 = 3.86 and
    # 4.099 x 1.0625 = 4.36.
    comparison = compare([1.0, 1.0, 1.0], [4.0, 4.1, 4.2])
    assert claim(comparison, COST, cost="CPU") == "uses 1/4.1 of the CPU of"
    assert claim(comparison, LATENCY) == "at 1/4.1 of the mean query latency"
    assert evidence(comparison) == " (95 % CI 1/4.4 to 1/3.9, n = 3)"


def test_a_claim_of_more_names_the_ratio_and_its_interval():
    comparison = compare([4.0, 4.1, 4.2], [1.0, 1.0, 1.0])
    assert claim(comparison, COST, cost="CPU") == "uses 4.1x the CPU of"
    assert claim(comparison, LATENCY) == "at 4.1x the mean query latency"
    assert evidence(comparison) == " (95 % CI 3.9 to 4.4, n = 3)"


def test_an_undecided_comparison_claims_no_difference():
    comparison = compare([1.0, 2.0, 1.5], [2.0, 1.0, 1.5])
    assert claim(comparison, COST, cost="CPU") == "does not differ significantly in CPU from"
    assert evidence(comparison).startswith(" (undecided: ratio 1.00x, 95 % CI ")


def test_a_single_pair_claims_no_difference_and_gives_its_ratio_as_evidence():
    comparison = compare([6.0], [2.0])
    assert claim(comparison, LATENCY) == "with no significant difference in mean query latency"
    assert evidence(comparison) == " (undecided: ratio 3.0x, 1 pair of runs; an interval needs 3)"


def test_figures_without_noise_are_exact_or_modelled():
    assert evidence(compare_counts([2.0], [1.0])) == " (exact)"
    assert evidence(compare_modelled([2.0], [1.0], "timing")) == " (modelled)"
    assert claim(compare_counts([2.0], [2.0]), COST, cost="CPU") == "uses exactly as much CPU as"


def test_a_count_agrees_with_its_noun():
    assert [counted(n, "row", "rows") for n in (0, 1, 1440)] == ["0 rows", "1 row", "1,440 rows"]


def test_listed_reads_as_a_list():
    assert [str(listed(list(labels))) for labels in ("", "a", "ab", "abc")] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]


def test_answers_name_the_extremes_the_baseline_and_who_rises(group):
    cheapest, without, trends = map(str, answers(group))
    assert cheapest.startswith("The cheapest strategy that compacts, every-60min, uses 1/")
    assert " of the compaction CPU of the fastest, every-1min (95 % CI 1/" in cheapest
    assert "x the mean query latency (95 % CI " in cheapest
    assert without.startswith("Without compaction (never), the mean query latency is ")
    assert "x that with the fastest strategy that compacts, every-1min (95 % CI " in without
    assert trends == (
        "Whether latency rises cannot be told of never, every-1min, every-10min and every-60min: no control "
        "query was recorded."
    )


def test_the_front_leads_from_the_cheapest_to_the_fastest(group):
    lines = [str(line).split(":")[0] for line in cheapest_to_fastest(group)]
    assert lines == ["never", "every-60min", "every-10min", "every-1min"]


def test_a_strategy_that_costs_more_for_slower_queries_is_dominated(group):
    slow = [
        replace(row, values={**row.values, "query_mean_s": 1.0}) if row.strategy == "every-60min" else row
        for row in group.rows
    ]
    lines = [str(line) for line in cheapest_to_fastest(replace(group, rows=tuple(slow)))]
    assert lines[-1].startswith("every-60min is dominated by never: ")
    assert "compaction CPU, never uses none, " in lines[-1]


def test_the_break_even_is_stated_only_where_queries_are_significantly_faster(tmp_path, group):
    assert "pays for itself from" in str(cheapest_to_fastest(group)[1])
    single = _group(tmp_path, repetitions=1, ticks=12)
    assert not any("pays for itself" in str(line) for line in cheapest_to_fastest(single))


def test_one_repetition_gives_figures_and_no_claim(tmp_path):
    strategies = {"never": None, "every-1min": 1, "every-10min": 10}
    cheapest, without, _ = map(str, answers(_group(tmp_path, strategies=strategies, repetitions=1, ticks=12)))
    reason = "1 pair of runs; an interval needs 3"
    assert cheapest == (
        "The cheapest strategy that compacts, every-10min, cannot be compared with the fastest, every-1min: "
        f"{reason}."
    )
    assert without.startswith("Without compaction (never), the mean query latency is ")
    assert without.endswith(f" with the fastest strategy that compacts, every-1min (undecided: {reason}).")


@pytest.mark.parametrize("strategies", [{"never": None}, {"only": 2}])
def test_one_strategy_alone_is_described(tmp_path, strategies):
    assert answers(_group(tmp_path, strategies=strategies, ticks=8))


def test_a_strategy_that_never_came_to_compact_is_no_choice(tmp_path):
    found = _group(tmp_path, strategies={"never": None, "every-5min": 5, "every-90min": 90}, ticks=10)
    said = [str(line) for line in answers(found)]
    assert said[0].startswith("every-5min is the only strategy that compacts")
    assert said[1].startswith("every-90min did not compact during the stream")
    assert not any("every-90min" in str(line) for line in cheapest_to_fastest(found))


def test_no_usable_run_is_texts(tmp_path):
    found = _group(tmp_path, strategies={"never": None}, repetitions=1, fate={("never", 1): "failed"})
    assert [str(line) for line in answers(found)] == [
        "No run has both a compaction cost and a query latency: there is nothing to compare."
    ]


def test_clean_runs_need_no_caution(group):
    assert cautions(group) == ()


def test_cautions_name_every_run_whose_figures_are_not_used(tmp_path):
    fate = {("never", 1): "failed", ("never", 2): "cut off", ("every-1min", 1): "differs",
            ("every-1min", 2): "timings_invalid", ("every-10min", 1): "unchecked"}  # fmt: skip
    found = _group(tmp_path, ticks=8, fate=fate)
    said = _texts(found)
    assert "never (repetition 1) failed: boom: <the disk> is full" in said
    assert "never (repetition 2) was interrupted" in said
    assert "every-1min (repetition 1) failed its content check (3,199 rows found, 3,200 expected)" in said
    assert "every-1min (repetition 2) was checked after every compaction" in said
    assert "Table content was not checked in every run of every-10min" in said
    assert "never: fewer than two usable runs" in said
    assert [c.is_grave for c in cautions(found)] == sorted(
        (c.is_grave for c in cautions(found)), reverse=True
    )


def test_cautions_name_simulation_overlap_and_duty(tmp_path):
    said = _texts(_group(tmp_path, ticks=8, mode="simulated", commit_interval_ms=1000, duration_ms=10_000))
    assert "all times come from a cost model" in said
    assert "every-1min: the longest compaction takes longer than the commit interval" in said
    assert "every-1min compacts for " in said


def test_cautions_name_ineffective_compactions(tmp_path, group):
    build_results(tmp_path, {"never": None, "every-2min": 2}, repetitions=1, ticks=4)
    for path in tmp_path.rglob("events.jsonl"):
        path.write_text(path.read_text().replace('"files_added_count": 1', '"files_added_count": 16'))
    said = _texts(run_groups(load_runs(tmp_path))[0])  # 16 files in, 16 out
    assert "every-2min: some compactions were ineffective" in said
    assert "ineffective" not in _texts(group)


def test_cautions_about_a_simulation_are_those_of_its_coefficients(tmp_path):
    def warned(name, **options):
        found = _group(tmp_path / name, ticks=8, repetitions=1, mode="simulated", options=options)
        return cautions(found)[0].is_grave, _texts(found)

    is_grave, said = warned("rough", coefficients={"calibrated": False})
    assert is_grave
    assert "were not fitted" in said
    assert "fewer than two usable runs" not in said
    assert "were not fitted" not in warned("fitted", coefficients={"calibrated": True})[1]
    coefficients = {"calibrated": True, "caution": "Sorting costs nothing."}
    assert " Sorting costs nothing." in warned("caution", coefficients=coefficients)[1]


def test_a_simulated_pair_of_runs_is_modelled_and_its_latency_has_no_trend(tmp_path):
    def told(mode):
        found = _group(tmp_path / mode, ticks=30, repetitions=1, mode=mode)
        return " ".join(map(str, answers(found))), found.compare("query_mean_s", "every-1min", "never")

    simulated, found = told("simulated")
    assert found.method == "modelled"
    assert "(modelled)" in simulated
    assert "exact" not in simulated
    assert "rises" not in simulated
    real, found = told("real")
    assert found.verdict == "undecided"
    assert "rises" in real


def test_cautions_name_differences_of_pooled_runs(tmp_path):
    build_results(tmp_path, {"never": None}, repetitions=1, ticks=3)
    build_results(
        tmp_path, {"every-1min": 1}, repetitions=1, ticks=3, suite_id="later", seed=7, format="iceberg "
    )
    for path in tmp_path.rglob("manifest.json"):
        path.write_text(path.read_text().replace('"iceberg "', '"iceberg"'))
    assert "differ in seed." in _texts(run_groups(load_runs(tmp_path))[0])


def test_cautions_name_noise(tmp_path):
    build_results(tmp_path, {"never": None}, repetitions=2, ticks=3)
    path = sorted(tmp_path.rglob("events.jsonl"))[0]
    path.write_text(path.read_text().replace('"wall_s": 0.', '"wall_s": 3.'))
    assert "Noise: the mean query latency varies by more than 15 %" in _texts(
        run_groups(load_runs(tmp_path))[0]
    )
