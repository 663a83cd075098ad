import pytest
from refused import printed_codes
from result_builder import build_results

from bench.cli.commands import report
from bench.cli.main import main


@pytest.fixture
def rendered(monkeypatch):
    """Replaces the rendering; collects the strategies of each report."""
    strategies = []

    def render(runs, folder):
        strategies.append(sorted({run.manifest.strategy for run in runs}))
        return folder / "index.html"

    monkeypatch.setattr(report, "render", render)
    return strategies


@pytest.fixture
def results(tmp_path):
    return build_results(tmp_path / "results", {"never": None, "every-1min": 1, "every-2min": 2}, 1, 2)


def test_the_report_is_written_into_the_results_by_default(capsys, results, rendered, tmp_path):
    assert main(["report", str(results)]) == 0
    assert capsys.readouterr().out == f"{results / 'report' / 'index.html'}\n"
    for option in ("-o", "--out"):
        assert main(["report", str(results), option, str(tmp_path / "review")]) == 0
        assert capsys.readouterr().out == f"{tmp_path / 'review' / 'index.html'}\n"


def test_a_folder_with_other_files_is_left_alone(capsys, tmp_path):
    results = build_results(tmp_path / "results", {"never": None}, 1, 2)
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "report.md").write_text("written by hand")
    assert main(["report", str(results), "-o", str(mine)]) == 2
    assert printed_codes(capsys.readouterr().err) == ["not-writable"]
    assert (mine / "report.md").read_text() == "written by hand"


def test_an_earlier_report_is_replaced(capsys, tmp_path):
    results = build_results(tmp_path / "results", {"never": None}, 1, 2)
    assert [main(["report", str(results)]) for _ in range(2)] == [0, 0]
    assert main(["report", str(results), "-o", str(results)]) == 2  # results are no report


def test_only_reports_on_these_strategies(capsys, results, rendered):
    assert main(["report", str(results), "--only", "never", "--only", "every-2min"]) == 0
    assert rendered == [["every-2min", "never"]]
    assert main(["report", str(results), "--only", "nevr"]) == 2
    error = capsys.readouterr().err
    assert printed_codes(error) == ["unknown-name"]
    assert '"never"' in error


def test_open_opens_the_page(results, rendered, monkeypatch):
    opened = []
    monkeypatch.setattr("typer.launch", opened.append)
    assert main(["report", str(results)]) == 0
    assert opened == []
    assert main(["report", str(results), "--open"]) == 0
    assert opened == [(results / "report" / "index.html").absolute().as_uri()]
