"""A report over time: three points of two strategies, of which the first must not be compared."""

import csv
import math
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from result_builder import build_results

from bench.results.folders import load_runs
from reports.charts.hints import hints_of
from reports.charts.history import draw
from reports.charts.theme import LIGHT
from reports.page.render import render_history
from reports.verdicts.history import histories

GOLDEN = Path(__file__).parents[1] / "golden" / "history.md"
OTHER = {"scenario_hash": "other", "scenario_text": {"seed": 42, "duration": "30min"}}
OWN = {"scenario_text": {"seed": 42, "duration": "60min"}}
VERSIONS = {"python": "3.11.9", "java": "17.0.12", "format": "1.9.2"}


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    folder = tmp_path_factory.mktemp("history")
    for day, repetitions, spark, more in ((5, 2, "3.5.8", OTHER), (6, 3, "3.5.8", OWN), (9, 1, "3.5.9", OWN)):
        build(folder, day, repetitions, versions=VERSIONS | {"spark": spark}, **more)
    return histories(load_runs(*folder.iterdir()))


def build(folder, day, repetitions=1, **changes):
    moment = f"2026-01-{day:02d}T09:00:00Z"
    build_results(
        folder / f"{day}", {"never": None, "every-2min": 2}, repetitions, 4, started_utc=moment,
        suite_id=moment, **changes,
    )  # fmt: skip


def queries_of(note):
    return {"notes": {"table_metadata": note}}


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
        "compaction CPU", "mean latency of first-order", "write amplification",
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


def test_a_hint_has_the_number_of_runs(told):
    (history,) = told
    figure = draw(history, LIGHT.of_page(history.strategies))
    texts = [title.partition("<")[0] for title in hints_of(figure).split("<title>")[1:]]
    assert [text.rpartition(", ")[2] for text in texts[:3]] == ["2 runs", "3 runs", "1 run"]


def test_nothing_is_said_across_a_gap(tmp_path):
    build(tmp_path, 5)
    build(tmp_path, 6, **OTHER)
    text = page_of(tmp_path)
    assert " to 3.64 s" not in text
    assert "says whether two sittings differ" not in text


def test_latencies_name_their_query_and_sessions_where_these_changed(tmp_path):
    build(tmp_path, 5, **queries_of("read by each query"))
    build(tmp_path, 6, **queries_of("read by new sessions"))
    build(tmp_path, 7, **queries_of("read by new sessions"), primary_probe="max", scenario_hash="other")
    text = page_of(tmp_path)
    phases = (
        "first-order by new sessions",
        "first-order by long-lived sessions",
        "max by long-lived sessions",
    )
    assert f"**Mean latency of {', then of '.join(phases)}**" in text
    assert "| which sessions query | `new sessions` | `long-lived sessions` | all |" in text
    assert "`other`" not in text


def page_of(results):
    report = render_history(histories(load_runs(*results.iterdir())), results / "report").parent
    return (report / "report.md").read_text(encoding="utf-8")
