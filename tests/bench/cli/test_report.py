import pytest
from result_builder import build_results

from reports.page import render as rendering


@pytest.fixture
def rendered(monkeypatch):
    """Replaces the rendering; collects the strategies of each report."""
    strategies = []

    def render(runs, folder, has_slides):
        strategies.append(sorted({run.manifest.strategy for run in runs}))
        return folder / "index.html"

    monkeypatch.setattr(rendering, "render", render)
    return strategies


@pytest.fixture
def results(tmp_path):
    return build_results(tmp_path / "results", {"never": None, "every-1min": 1, "every-2min": 2}, 1, 2)


def test_the_report_is_written_into_the_results_by_default(compactbench, results, rendered, tmp_path):
    assert compactbench("report", results).out == f"{results / 'report' / 'index.html'}\n"
    for option in ("-o", "--out"):
        printed = compactbench("report", results, option, tmp_path / "review").out
        assert printed == f"{tmp_path / 'review' / 'index.html'}\n"


def test_a_report_on_several_folders_is_not_written_over_that_of_one(compactbench, rendered, tmp_path):
    first, second = (
        build_results(tmp_path / "results" / name, {"never": None}, 1, 2, suite_id=name)
        for name in ("first", "second")
    )
    assert compactbench("report", first, second).out == f"{tmp_path / 'results' / 'report' / 'index.html'}\n"


def test_an_earlier_report_is_replaced_and_other_files_are_left_alone(compactbench, tmp_path):
    results = build_results(tmp_path / "results", {"never": None}, 1, 2)
    for _ in range(2):
        compactbench("report", results)
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "report.md").write_text("written by hand")
    for folder in (mine, results):  # results are no report
        assert compactbench("report", results, "-o", folder, code=2).codes == ["not-writable"]
    assert (mine / "report.md").read_text() == "written by hand"


def test_only_reports_on_these_strategies(compactbench, results, rendered):
    compactbench("report", results, "--only", "never", "--only", "every-2min")
    assert rendered == [["every-2min", "never"]]
    printed = compactbench("report", results, "--only", "nevr", code=2)
    assert printed.codes == ["unknown-name"]
    assert '"never"' in printed.err


def test_slides_are_written_on_demand(compactbench, tmp_path):
    results = build_results(tmp_path / "results", {"never": None, "every-2min": 2}, 1, 4)
    slides = results / "report" / "slides"
    compactbench("report", results)
    assert not slides.exists()
    compactbench("report", results, "--charts", "slides")
    assert {path.name for path in slides.iterdir()} == {
        f"{name}.{kind}" for name in ("pareto", "latency", "files") for kind in ("png", "svg")
    }
    assert "page" in compactbench("report", results, "--charts", "poster", code=2).err


def test_open_opens_the_page(compactbench, results, rendered, monkeypatch):
    opened = []
    monkeypatch.setattr("typer.launch", opened.append)
    compactbench("report", results)
    assert opened == []
    compactbench("report", results, "--open")
    assert opened == [(results / "report" / "index.html").absolute().as_uri()]


@pytest.mark.parametrize(
    "strategies", [{"every-2min": 2}, {"every-2min": 2, "every-3min": 3}, {"never": None}]
)
@pytest.mark.parametrize("fate", ["finished", "failed", "differs"])
def test_a_scenario_without_the_baseline_or_without_figures_is_reported(
    compactbench, tmp_path, strategies, fate
):
    build_results(tmp_path, {"never": None, "every-2min": 2}, 1, 3)
    fates = {(label, 1): fate for label in strategies}
    build_results(tmp_path, strategies, 1, 3, fates, scenario="other", scenario_hash="o")
    compactbench("report", tmp_path)
    text = (tmp_path / "report" / "report.md").read_text()
    assert all(f"| `{label}` " in text for label in strategies)
    assert "other" in compactbench("show", tmp_path).out
    compactbench("compare", tmp_path)


def test_history_needs_two_sittings_and_names_what_has_one(compactbench, tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr(rendering, "render_history", lambda of, folder: told.extend(of) or folder)
    later = {"suite_id": "later", "started_utc": "2026-01-06T09:00:00Z"}
    first, second, once = (tmp_path / name for name in ("first", "second", "once"))
    build_results(first, {"never": None}, 1, 2)
    printed = compactbench("report", "--history", first, code=2)
    assert printed.codes == ["one-sitting"]
    assert "compactbench run SCENARIO --out" in printed.err
    build_results(second, {"never": None}, 1, 2, **later)
    build_results(once, {"never": None}, 1, 2, scenario="other", scenario_hash="o")
    review = tmp_path / "review"  # an earlier report, which "results/*" names too
    review.mkdir()
    (review / "index.html").write_text('<meta name="generator" content="compactbench">')
    printed = compactbench("report", "--history", review, first, second, once)
    assert printed.out == f"{tmp_path / 'history'}\n"
    assert printed.err.startswith("other, real: it ran in one sitting only")
    (history,) = told
    assert [point.started_utc[:10] for point in history.points] == ["2026-01-05", "2026-01-06"]
