import os
from pathlib import Path

import pytest
from result_builder import build_results

from bench.cli.main import main
from bench.results.folders import load_runs
from bench.results.rows import METRIC_BY_NAME
from reports.compare import Comparison
from reports.contrasts import Contrast, leading_metrics, metrics_with_figures
from reports.load import run_groups
from reports.sections.cautions import cautions

GOLDEN = Path(__file__).parent / "golden"


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
    assert Contrast("a", "b", METRIC_BY_NAME[metric], 1, 1, 1, 1, True, found).judged == judged


def test_leading_metrics_begin_with_the_cost_and_exist(group):
    assert leading_metrics(group)[0] == group.cost_metric
    assert set(leading_metrics(group)) <= METRIC_BY_NAME.keys()


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
        ["compare", "runs", "--baseline", "never", "--metric", "all", "--format", "markdown", *limits]
    )
    made = capsys.readouterr().out
    assert code == 1
    if os.environ.get("COMPACTBENCH_GOLDEN") == "rewrite":
        (GOLDEN / "compare.md").write_text(made, encoding="utf-8")
    assert made == (GOLDEN / "compare.md").read_text(encoding="utf-8")
