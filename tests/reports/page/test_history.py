"""A report over time: three sittings of two strategies, after the first of which Spark changed."""

import csv
import math
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from result_builder import build_results

from bench.results.folders import load_runs
from reports.charts.history import draw
from reports.charts.theme import LIGHT
from reports.page.render import render_history
from reports.verdicts.history import histories

GOLDEN = Path(__file__).parents[1] / "golden" / "history.md"
VERSIONS = {"python": "3.11.9", "java": "17.0.12", "format": "1.9.2"}


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    folder = tmp_path_factory.mktemp("history")
    other = {"scenario_hash": "other"}
    for day, repetitions, spark, more in ((5, 2, "3.5.8", {}), (6, 3, "3.5.9", {}), (9, 1, "3.5.9", other)):
        moment = f"2026-01-{day:02d}T09:00:00Z"
        build_results(
            folder / f"{day}", {"never": None, "every-2min": 2}, repetitions, 4, started_utc=moment,
            suite_id=moment, versions=VERSIONS | {"spark": spark}, **more,
        )  # fmt: skip
    return histories(load_runs(*folder.iterdir()))


@pytest.fixture(scope="module")
def report(told, tmp_path_factory):
    return render_history(told, tmp_path_factory.mktemp("report"), datetime(2026, 1, 10, tzinfo=UTC)).parent


def test_the_markdown_is_the_golden_one(report):
    text = (report / "report.md").read_text(encoding="utf-8")
    if os.environ.get("COMPACTBENCH_GOLDEN") == "rewrite":
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


def test_the_folder_is_that_of_a_report(report):
    names = {str(path.relative_to(report)) for path in report.rglob("*") if path.is_file()}
    charts = {"charts/history.svg", "charts/history.png"}
    assert names == {"index.html", "report.md", "tables/history.csv", *charts}
    page = (report / "index.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 1
    assert all(f'href="{name}"' in page for name in ("report.md", "tables/history.csv"))
    assert 'data-strategy="1"' in page
    assert "would be too long" not in page


def test_the_table_has_every_figure_in_the_order_of_time(report):
    with (report / "tables" / "history.csv").open(newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["metric"] == "files_end"]
    assert [(row["started_utc"][:10], row["strategy"], row["mean"]) for row in rows] == [
        (f"2026-01-{day}", strategy, files)
        for day in ("05", "06", "09")
        for strategy, files in (("never", "32.0"), ("every-2min", "1.0"))
    ]


def test_the_chart_has_a_panel_a_metric_marks_changes_and_gaps_where_nothing_compares(told):
    (history,) = told
    figure = draw(history, LIGHT.of_page(history.strategies))
    titles = [axes.texts[0].get_text() for axes in figure.axes]
    assert [title.partition(" (")[0] for title in titles] == [
        "compaction CPU", "mean latency of the primary query", "write amplification",
        "space amplification", "live data files at the end",
    ]  # fmt: skip
    last = figure.axes[-1]
    marks = {text.get_text(): round(text.get_position()[0]) for text in last.texts}
    assert {"spark 3.5.9", "scenario"} <= marks.keys()
    assert [label.get_text()[:10] for label in last.get_xticklabels()] == [
        "2026-01-05", "2026-01-06", "2026-01-09",
    ]  # fmt: skip
    lines = [line for line in last.lines if line.get_marker() not in (None, "None")]
    assert [sum(map(math.isnan, line.get_ydata())) for line in lines] == [1, 1]
