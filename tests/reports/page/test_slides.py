import xml.etree.ElementTree as ET

import pytest
from result_builder import build_group

from reports.charts.registry import CHARTS
from reports.charts.theme import LIGHT
from reports.page.content import page_content
from reports.page.one_line import one_line
from reports.page.render import render
from reports.page.slides import slides, source, title

VERSIONS = {"format": "1.11.0", "compactbench": "0.1.0"}


def test_the_source_says_what_was_run_how_often_on_what_and_when(group, tmp_path):
    assert source(group) == "append-small, Iceberg 1.9.2, n = 3, 2 cores, 2026-01-05"
    named = build_group(tmp_path, {"never": None}, 1, 2, versions=VERSIONS)
    assert source(named) == "append-small, Iceberg 1.11.0, n = 1, 2 cores, 2026-01-05, compactbench 0.1.0"


@pytest.mark.parametrize(
    ("changes", "said", "unsaid"),
    [
        ({"mode": "simulated"}, "simulated", "n = "), ({"cores": None}, "n = 2", "core"),
        ({"fate": {("never", 2): "failed"}}, "n = 1 to 2", "simulated"),
    ],
)  # fmt: skip
def test_the_source_of_other_runs(tmp_path, changes, said, unsaid):
    text = source(build_group(tmp_path, {"never": None, "every-2min": 2}, 2, 4, **changes))
    assert f", {said}, " in text
    assert unsaid not in text


def test_slides_are_the_charts_of_the_answer_and_of_the_open_sections(upsert_group):
    page = page_content([upsert_group])
    made = list(slides(page, LIGHT.of_page(page.labels)))
    assert [stem for stem, *_ in made] == ["pareto", "latency", "files", "deletes"]
    assert all(theme.is_slide for *_, theme in made)


def test_the_title_of_the_first_slide_is_the_answer_in_a_line(group):
    first, *others = page_content([group]).contents[0].pictures
    assert title(first) == str(next(one_line(group)))
    assert title(others[0]) == str(others[0].chart.message(group))


def test_titles_of_simulated_figures_say_so_once(tmp_path):
    simulated = build_group(tmp_path, {"never": None, "every-2min": 2}, 1, 12, mode="simulated")
    pictures = page_content([simulated]).contents[0].pictures
    titles = [title(picture) for picture in pictures if picture.chart.place != "folded"]
    assert len(titles) == 3
    assert all(words.lower().count("as modelled") == 1 for words in titles)


def test_a_report_with_slides_has_two_files_for_each(tmp_path, group, monkeypatch):
    chosen = [chart for chart in CHARTS if chart.id in ("files", "compactions")]  # one of them is folded away
    monkeypatch.setattr("reports.page.content.CHARTS", tuple(chosen))
    folder = render(group.runs, tmp_path / "report", has_slides=True).parent
    assert {path.name for path in (folder / "slides").iterdir()} == {"files.png", "files.svg"}
    ET.parse(folder / "slides" / "files.svg")


def test_many_strategies_have_a_slide_of_the_answer_alone(tmp_path):
    many = build_group(tmp_path, {f"every-{minutes}min": minutes for minutes in range(1, 62)}, 1, 4)
    render(many.runs, tmp_path / "report", has_slides=True)
    assert {path.stem for path in (tmp_path / "report" / "slides").iterdir()} == {"pareto"}
