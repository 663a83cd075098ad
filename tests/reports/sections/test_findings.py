from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from result_builder import build_results

from bench.results.folders import load_runs
from reports.compare import compare
from reports.front import Point, candidates, dominated, front
from reports.load import sections
from reports.phrases import COST, claim, listed, proof
from reports.sections.cautions import cautions
from reports.sections.findings import along_the_front, answers

points = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), max_size=8).map(
    lambda pairs: tuple(Point(str(i), float(cost), float(query)) for i, (cost, query) in enumerate(pairs))
)


def _section(folder, **how):
    return sections(load_runs(build_results(folder, **how)))[0]


def _said(section):
    return "\n".join(str(caution.text) for caution in cautions(section))


@given(points)
def test_front_and_dominated_are_all_points_and_share_none(found):
    optimal = {point.strategy for point in front(found)}
    assert optimal | dominated(found).keys() == {point.strategy for point in candidates(found)}
    assert not optimal & dominated(found).keys()


@given(points)
def test_along_the_front_latency_falls_while_cost_rises(found):
    optimal = front(found)
    for cheaper, dearer in pairwise(optimal):
        assert cheaper.cost_s <= dearer.cost_s
        assert cheaper.query_s >= dearer.query_s


def test_claim_turns_ratio_and_interval_round_for_less():
    # Ratios 1/4 and 1/4.2; the interval of the inverse holds 4.1.
    head, tail = claim(compare([1.0, 1.0], [4.0, 4.2]), COST, cost="CPU")
    assert head == "costs 4.1x less CPU"
    assert tail.endswith("n = 2)")
    assert tail.startswith(" (95 % interval 3.")


def test_claim_says_undecided_plainly():
    head, tail = claim(compare([1.0, 2.0], [2.0, 1.0]), COST, cost="CPU")
    assert head == "costs neither clearly more nor clearly less CPU"
    assert tail.startswith(" (undecided: ratio 1.00x, 95 % interval ")


def test_claim_tells_a_single_pair_and_calls_it_undecided():
    assert claim(compare([6.0], [2.0]), COST, cost="CPU") == (
        "costs 3.0x more CPU", " (undecided: one pair of runs tells no noise)",
    )  # fmt: skip


def test_proof_marks_exact_figures():
    assert proof(compare([2.0], [1.0], exact=True)) == " (exact)"


def test_listed_reads_as_a_list():
    assert [str(listed(list(labels))) for labels in ("", "a", "ab", "abc")] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]


def test_answers_name_the_extremes_the_baseline_and_who_rises(section):
    cheapest, without, rising = map(str, answers(section))
    assert cheapest.startswith("The cheapest strategy that compacts, every-60min, costs ")
    assert "than the fastest, every-1min (95 % interval" in cheapest
    assert without.startswith("Without compaction (never) queries are ")
    assert rising.startswith("During the run latency rises with never (")
    assert "no rise can be told with every-1min and every-10min" in rising


def test_the_front_leads_from_the_cheapest_to_the_fastest(section):
    lines = [str(line).split(":")[0] for line in along_the_front(section)]
    assert lines == ["never", "every-10min", "every-1min", "every-60min lies behind never"]


def test_payback_is_told_only_where_queries_are_faster_beyond_doubt(tmp_path, section):
    assert "paid back after" in str(along_the_front(section)[1])
    single = _section(tmp_path, repetitions=1, ticks=12)
    assert not any("paid back" in str(line) for line in along_the_front(single))


@pytest.mark.parametrize("strategies", [{"never": None}, {"only": 2}])
def test_one_strategy_alone_is_described(tmp_path, strategies):
    assert answers(_section(tmp_path, strategies=strategies, ticks=8))


def test_a_strategy_that_never_came_to_compact_is_no_choice(tmp_path):
    found = _section(tmp_path, strategies={"never": None, "every-5min": 5, "every-90min": 90}, ticks=10)
    said = [str(line) for line in answers(found)]
    assert said[0].startswith("every-5min is the only strategy that compacts")
    assert said[1].startswith("every-90min did not compact during the stream")
    assert not any("every-90min" in str(line) for line in along_the_front(found))


def test_no_usable_run_is_said(tmp_path):
    found = _section(tmp_path, strategies={"never": None}, repetitions=1, fate={("never", 1): "failed"})
    assert [str(line) for line in answers(found)] == [
        "No run gave both a cost and a latency, so nothing can be said."
    ]


def test_clean_runs_need_no_caution(section):
    assert cautions(section) == ()


def test_cautions_tell_every_run_that_counts_nowhere(tmp_path):
    fate = {("never", 1): "failed", ("never", 2): "cut off", ("every-1min", 1): "differs",
            ("every-1min", 2): "timings_invalid", ("every-10min", 1): "unchecked"}  # fmt: skip
    found = _section(tmp_path, ticks=8, fate=fate)
    said = _said(found)
    assert "never (repetition 1) failed: boom: <the disk> is full" in said
    assert "never (repetition 2) was interrupted" in said
    assert (
        "every-1min (repetition 1) holds other rows than were committed (3,199 rows found, 3,200 expected)"
        in said
    )
    assert "every-1min (repetition 2) was checked after every compaction" in said
    assert "Content was not checked in every run of every-10min" in said
    assert "never: fewer than two usable runs" in said
    assert [c.is_grave for c in cautions(found)] == sorted(
        (c.is_grave for c in cautions(found)), reverse=True
    )


def test_cautions_tell_simulation_overlap_and_duty(tmp_path):
    said = _said(_section(tmp_path, ticks=8, mode="simulated", commit_interval_ms=1000, duration_ms=10_000))
    assert "seconds come from a cost model" in said
    assert "every-1min: the longest compaction outlasts" in said
    assert "every-1min compacts for " in said


def test_cautions_tell_compactions_that_got_nowhere(tmp_path, section):
    build_results(tmp_path, {"never": None, "every-2min": 2}, repetitions=1, ticks=4)
    for path in tmp_path.rglob("events.jsonl"):
        path.write_text(path.read_text().replace('"files_added_count": 1', '"files_added_count": 16'))
    said = _said(sections(load_runs(tmp_path))[0])  # 16 files in, 16 out
    assert "every-2min: compactions committed as many files and rows as they took" in said
    assert "as many files and rows as they took" not in _said(section)


def test_cautions_tell_a_simulation_whose_coefficients_nobody_fitted(tmp_path):
    def warned(name, **options):
        found = _section(tmp_path / name, ticks=8, repetitions=1, mode="simulated", options=options)
        return cautions(found)[0].is_grave, _said(found)

    is_grave, said = warned("rough", coefficients={"calibrated": False})
    assert is_grave
    assert "were not fitted" in said
    assert "fewer than two usable runs" not in said
    assert "were not fitted" not in warned("fitted", coefficients={"calibrated": True})[1]


def test_a_simulated_pair_of_runs_is_exact_and_its_latency_has_no_trend(tmp_path):
    def told(mode):
        found = _section(tmp_path / mode, ticks=30, repetitions=1, mode=mode)
        return " ".join(map(str, answers(found))), found.compare("query_mean_s", "every-1min", "never")

    simulated, found = told("simulated")
    assert found.method == "exact"
    assert "(exact)" in simulated
    assert "latency" not in simulated
    real, found = told("real")
    assert found.verdict == "undecided"
    assert "latency" in real


def test_cautions_tell_runs_that_should_not_be_pooled(tmp_path):
    build_results(tmp_path, {"never": None}, repetitions=1, ticks=3)
    build_results(
        tmp_path, {"every-1min": 1}, repetitions=1, ticks=3, suite_id="later", seed=7, format="iceberg "
    )
    for path in tmp_path.rglob("manifest.json"):
        path.write_text(path.read_text().replace('"iceberg "', '"iceberg"'))
    assert "differ in the seed." in _said(sections(load_runs(tmp_path))[0])


def test_cautions_tell_noise(tmp_path):
    build_results(tmp_path, {"never": None}, repetitions=2, ticks=3)
    path = sorted(tmp_path.rglob("events.jsonl"))[0]
    path.write_text(path.read_text().replace('"wall_s": 0.', '"wall_s": 3.'))
    assert "Noise: the mean query varies by more than 15 %" in _said(sections(load_runs(tmp_path))[0])
