import base64
import csv
import hashlib
import os
import re
import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from records import commit, compaction, end, query, truth
from result_builder import build_results, manifest, write_run

from bench.results.folders import load_runs
from bench.results.records import CompactionRecord
from reports.charts.registry import CHARTS
from reports.charts.theme import DARK, LIGHT
from reports.data.spreadsheets import formula_safe
from reports.page.content import shorten
from reports.page.render import markdown_text, render
from reports.page.tables import Cell, Column, Table

GOLDEN = Path(__file__).parents[1] / "golden"
# What append-only runs show.
APPEND = {chart.id for chart in CHARTS} - {
    "at-once",
    "curves",
    "deletes",
    "freshness",
    "health",
    "partitions",
}
VOID = {"meta", "img", "br", "link", "input", "hr"}


class _Page(HTMLParser):
    """Tags, attributes and whether every element is closed in order."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.open, self.text = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module")
def report(tmp_path_factory, hostile_runs):
    """The folder of a report on hostile results."""
    return render(hostile_runs, tmp_path_factory.mktemp("report")).parent


@pytest.fixture(scope="module")
def page(report):
    return _Page((report / "index.html").read_text(encoding="utf-8"))


def test_report_writes_page_markdown_charts_and_tables(report):
    names = {str(path.relative_to(report)) for path in report.rglob("*") if path.is_file()}
    charts = {f"charts/{name}.{kind}" for name in APPEND for kind in ("svg", "png")}
    tables = {f"tables/{name}.csv" for name in ("summary", "compactions", "probes")}
    assert names == {"index.html", "report.md", *charts, *tables}


def test_no_two_elements_of_a_page_share_an_id(page):
    ids = [value for name, value in page.attributes if name == "id"]
    assert len(ids) > 60  # of charts and of sections
    assert len(set(ids)) == len(ids)


def test_page_is_well_formed_and_says_what_the_labels_are(page):
    assert page.open == []
    text = "".join(page.text)
    for label in ("<script>alert(1)</script>", "=HYPERLINK(1)|`x`", "$\\frac{1}{2}$_a_", "x" * 300):
        assert label in text


def test_page_loads_nothing_and_links_to_its_own_files_only(page, report):
    assert not {"link", "img", "iframe", "object", "embed", "base", "form"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    links = {
        value for name, value in page.attributes if name in ("href", "src", "xlink:href", "data", "action")
    }
    assert all(value.startswith("#") or (report / value).is_file() for value in links)
    ids = {value for name, value in page.attributes if name == "id"}
    assert {value[1:] for value in links if value.startswith("#")} <= ids
    outside = [
        value for name, value in page.attributes if "://" in (value or "") and not name.startswith("xmlns")
    ]
    assert outside == []


def test_page_runs_its_own_script_and_no_other(page, report):
    text = (report / "index.html").read_text(encoding="utf-8")
    (script,) = re.findall("<script>(.*?)</script>", text, flags=re.DOTALL)
    assert page.tags.count("script") == 1
    assert script == (Path(render.__code__.co_filename).parent / "templates" / "report.js").read_text()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = (value for name, value in page.attributes if name == "content" and "script-src" in value)
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def test_page_style_loads_nothing(report):
    text = (report / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"@import|url\((?!#)", text)


def test_page_has_each_chart_that_applies_once_in_the_colours_of_the_page(report):
    text = (report / "index.html").read_text(encoding="utf-8")
    images = re.findall("<svg.*?</svg>", text, flags=re.DOTALL)
    assert len(images) == len(APPEND)
    for colour in {*LIGHT.colours.values(), *DARK.colours.values()}:
        assert not any(colour in tag for image in images for tag in re.findall("<[^>]+>", image))
    variables = set(re.findall(r"var\(--([\w-]+)\)", "".join(images)))
    assert variables <= LIGHT.colours.keys()
    for theme in (LIGHT, DARK):
        assert all(f"--{name}: {colour};" in text for name, colour in theme.colours.items())


def test_page_numbers_the_same_strategy_alike_in_charts_tables_and_buttons(report):
    text = (report / "index.html").read_text(encoding="utf-8")
    for tag in ("g", "tr", "button"):
        numbers = set(re.findall(rf'<{tag}[^>]* data-strategy="(\d+)"', text))
        assert numbers == {str(number) for number in range(6)}, tag


def test_page_has_landmarks_captions_and_says_what_was_run(page, report):
    assert page.tags.count("main") == 1
    assert page.tags.count("caption") == page.tags.count("table")
    text = (report / "index.html").read_text(encoding="utf-8")
    (title,) = re.findall("<title>(.*?)</title>", text.partition("<body")[0])
    assert title.startswith("append-small on Iceberg ")
    assert title.endswith(", 6 strategies, 2026-01-05")
    labels = [value for name, value in page.attributes if name == "aria-label" and "." in value]
    assert any("On the front, from the cheapest to the fastest: " in label for label in labels)


def test_headings_leave_out_no_level(page, tmp_path, runs, upsert_group):
    both = render((*runs, *upsert_group.runs), tmp_path)
    of_two = _Page(both.read_text(encoding="utf-8"))
    for tags, deepest in ((page.tags, 3), (of_two.tags, 4)):
        levels = [int(tag[1]) for tag in tags if re.fullmatch(r"h\d", tag)]
        assert levels[0] == 1
        assert max(levels) == deepest
        assert all(after <= before + 1 for before, after in pairwise(levels))


def test_what_belongs_to_one_strategy_has_its_number(report):
    text = (report / "index.html").read_text(encoding="utf-8")
    owned = re.findall(r'<(\w+)[^>]* data-strategy="2"', text)
    assert {"th", "td", "tr", "dt", "dd", "details", "g", "button"} <= set(owned)


def test_chart_files_stand_alone(report):
    for path in (report / "charts").glob("*.svg"):
        ET.parse(path)


def test_markdown_keeps_hostile_text_in_its_place(report):
    text = (report / "report.md").read_text(encoding="utf-8")
    outside_blocks = re.sub(r"^(`{3,})\n.*?\n\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    assert not re.search(r"<(?!/?code>)", outside_blocks.replace("\\<", ""))
    widths = [
        len(re.findall(r"(?<!\\)\|", line)) for line in outside_blocks.splitlines() if line.startswith("|")
    ]
    tables = re.findall(r"(?:^\|.*\n)+", outside_blocks, flags=re.MULTILINE)
    assert widths
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1


def test_csv_cells_are_no_formulas(report):
    for path in (report / "tables").glob("*.csv"):
        with path.open(newline="", encoding="utf-8") as lines:
            cells = [cell for row in csv.reader(lines) for cell in row]
        assert not [cell for cell in cells if cell.startswith(("=", "+", "@", "\t"))]
    assert "'=HYPERLINK(1)|`x`" in (report / "tables" / "summary.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize(("value", "expected"), [("-1", "'-1"), (-1.5, -1.5), ("a", "a"), (["=a"], '["=a"]')])
def test_formula_safe_leaves_numbers_alone(value, expected):
    assert formula_safe(value) == expected


def test_a_report_again_is_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr("reports.page.content.CHARTS", CHARTS[:1])  # each chart's own test has the others
    now = datetime(2026, 1, 6, 12, tzinfo=UTC)
    first, second = (render(load_runs(GOLDEN / "runs"), tmp_path, now).read_bytes() for _ in range(2))
    assert first == second
    assert b"Report of 2026-01-06 12:00 UTC." in first


def test_no_run_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="no run"):
        render((), tmp_path / "report")


def test_shorten_keeps_both_ends_and_counts_the_rest():
    long = Table((Column("n"),), tuple((Cell(str(n)), Cell("")) for n in range(9)))
    assert [row[0].text for row in shorten(long, 2).rows] == ["0", "1", "… 5 more", "7", "8"]
    assert shorten(long, 4) is long


def test_a_note_is_explained_once_and_only_where_a_run_has_it(tmp_path):
    notes = {"clock": "virtual", "keys": "ascending", "page_cache": "warm", "own_topic": "a fact of its own"}
    plain, noted = (
        markdown_text(load_runs(build_results(tmp_path / name, {"never": None}, 1, 2, notes=own)))
        for name, own in (("plain", {}), ("noted", notes))
    )
    for text in ("Scenario time is virtual", "Keys are assigned", "page cache", "- **Own topic:** a fact of"):
        assert text not in plain
        assert noted.count(text) == 1


def test_older_results_of_compactions_in_a_thread_beside_the_stream_are_reported(tmp_path):
    rule = {"trigger": {"type": "every", "interval": "5min"}, "planner": {"type": "hudi.compaction"}}
    made = manifest(
        "thread",
        notes={"concurrency": "compaction beside the stream"},
        scenario_text={"strategies": [{"label": "thread", "rules": [{**rule, "concurrent": True}]}]},
    )
    beside = compaction(role="compactor-beside", wall_s=2.0, cpu_s=7.0, is_shared=True)
    write_run(tmp_path / made.run_id, made, [commit(), query(), beside, truth(), end()])
    runs = load_runs(tmp_path)
    assert [record.role for record in runs[0].of(CompactionRecord)] == ["compactor-beside"]
    text = markdown_text(runs)
    assert "`thread`: compactions ran concurrently with commits and queries, so the CPU of each is" in text
    assert "- **Concurrency:** compaction beside the stream" in text
    assert "| `concurrent` | true |" in text


@pytest.mark.parametrize(("folder", "golden"), [("runs", "report.md"), ("upsert", "upsert.md")])
def test_markdown_of_a_recorded_folder_is_the_golden_one(folder, golden):
    """`runs`: two strategies and two repetitions of six commits with round figures, and one run that failed;
    its records are from before rows of delete files were counted. `upsert`: three strategies, one repetition.
    """
    text = markdown_text(load_runs(GOLDEN / folder))
    if os.environ.get("COMPACTBENCH_GOLDEN") == "rewrite":
        (GOLDEN / golden).write_text(text, encoding="utf-8")
    assert text == (GOLDEN / golden).read_text(encoding="utf-8")
