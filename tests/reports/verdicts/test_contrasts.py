import math
import os
from dataclasses import replace
from pathlib import Path

import pytest
from comparisons import measured
from result_builder import build_results

from bench.cli.main import main
from bench.results.folders import load_runs
from bench.results.metrics import METRIC_BY_NAME
from reports.data.group import run_groups
from reports.page.sections.cautions import cautions
from reports.verdicts.compare import Comparison
from reports.verdicts.contrasts import (
    Contrast,
    confirmatory_metrics,
    confirmed,
    leading_metrics,
    metrics_with_figures,
    with_baselines,
)

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.mark.parametrize(
    ("metric", "verdict", "judged"),
    [
        ("files_end", "more", "worse"),
        ("files_end", "less", "better"),
        ("files_end", "equal", ""),
        ("files_end", "undecided", ""),
        ("ingested_bytes", "more", ""),
    ],
)
def test_a_verdict_is_judged_by_the_direction_of_the_metric(metric, verdict, judged):
    found = Comparison(None, None, None, 1, "none", verdict)
    assert Contrast("a", "b", METRIC_BY_NAME[metric], 1, 1, 1, 1, found).judged == judged


def test_leading_metrics_begin_with_the_cost_and_exist(group):
    assert leading_metrics(group)[0] == group.cost_metric
    assert set(leading_metrics(group)) <= METRIC_BY_NAME.keys()


def noisy(ratio, role="confirmatory", spread=1.1):
    """A contrast of three runs a side; `spread` is the noise of a run."""
    found = measured(ratio, math.log(spread) / math.sqrt(3))
    return Contrast("a", "b", METRIC_BY_NAME["query_mean_s"], 1, 1, 3, 3, found, role)


def test_confirmatory_verdicts_are_corrected_for_their_number_and_others_are_not():
    # Alone, 1.4 is proven: t = ln 1.4 / (ln 1.1 / sqrt 3) = 6.11, p = 0.026. Of two, its p-value is doubled.
    (alone,) = confirmed([noisy(1.4)])
    assert alone.comparison.verdict == "more"
    assert alone.comparison.adjusted_p == pytest.approx(0.0257, abs=1e-4)
    first, second, exploratory = confirmed([noisy(1.4), noisy(1.0), noisy(1.4, "exploratory")])
    assert first.comparison.verdict == "undecided"
    assert first.comparison.reason == "not proven after correction for 2 comparisons"
    assert first.comparison.adjusted_p == pytest.approx(2 * alone.comparison.adjusted_p)
    assert (first.comparison.low, first.comparison.high) == (alone.comparison.low, alone.comparison.high)
    assert second.comparison.words == "undecided"
    assert (exploratory.comparison.verdict, exploratory.comparison.adjusted_p) == ("more", None)


def test_a_page_may_be_corrected_in_parts_first():
    page = [noisy(1.4), noisy(3.0), noisy(1.0)]
    parts = [*confirmed(page[:1]), *confirmed(page[1:])]
    assert confirmed(parts) == confirmed(page)


def test_what_has_no_noise_is_not_counted():
    exact = replace(noisy(1.4), comparison=Comparison(2.0, 2.0, 2.0, 3, "exact", "more"))
    (kept, noise) = confirmed([exact, noisy(1.4)])
    assert (kept, noise.comparison.verdict) == (exact, "more")


def test_cost_and_latency_are_confirmatory(group):
    found = with_baselines(group, {"every-1min": "every-10min"}, leading_metrics(group))
    assert confirmatory_metrics(group) == ("compaction_cpu_s", "query_mean_s")
    assert [c.metric.name for c in found if c.role == "confirmatory"] == ["compaction_cpu_s", "query_mean_s"]
    assert [c.comparison.adjusted_p is not None for c in found] == [c.role == "confirmatory" for c in found]


@pytest.mark.parametrize(
    ("runs", "other_runs", "said"), [(1, 1, "1 run against 1"), (3, 2, "3 runs against 2")]
)
def test_a_contrast_says_which_runs_count(runs, other_runs, said):
    found = Contrast("a", "b", METRIC_BY_NAME["files_end"], 1, 1, runs, other_runs, noisy(2).comparison)
    assert found.sample == said


def test_metrics_without_a_figure_are_left_out(group):
    known = metrics_with_figures(group)
    assert "money_per_day" not in known
    assert list(known) == [name for name in METRIC_BY_NAME if name in known]


def test_the_report_cautions_about_what_a_comparison_refuses(tmp_path):
    build_results(tmp_path / "a", {"never": None}, 1, 3)
    build_results(tmp_path / "b", {"never": None}, 1, 3, suite_id="later", memory_bytes=10**9,
                  versions={"python": "3.12"}, options={"spark": {}})  # fmt: skip
    found = run_groups(load_runs(tmp_path / "a", tmp_path / "b"))[0]
    said = [str(caution.text) for caution in cautions(found) if caution.is_grave]
    assert said == ["The runs pooled here differ in memory, versions and options."]


def test_the_comparison_of_a_recorded_folder_is_the_golden_one(capsys, monkeypatch):
    """The folder of the golden report: one repetition of `never` failed, so one pair is left."""
    monkeypatch.chdir(GOLDEN)
    limits = ["--fail-if", "files_end>1x", "--fail-if", "query_mean_s>1.1x", "--fail-if", "files_end<0.9x"]
    code = main(
        [
            "compare",
            "runs",
            "--baseline",
            "never",
            "--metric",
            "all",
            "--all",
            "--format",
            "markdown",
            *limits,
        ]
    )
    made = capsys.readouterr().out
    assert code == 1
    if os.environ.get("COMPACTBENCH_GOLDEN") == "rewrite":
        (GOLDEN / "compare.md").write_text(made, encoding="utf-8")
    assert made == (GOLDEN / "compare.md").read_text(encoding="utf-8")
