"""Python has the frames, figures, comparisons and errors of the command line."""

import html
import io
import json
import re
from dataclasses import FrozenInstanceError

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from refused import refused
from result_builder import build_results

import compactbench
from bench.cli.main import main
from bench.results.folders import load_runs
from bench.results.metrics import METRICS
from bench.results.records import EVENTS
from compactbench import results as results_of_compactbench
from reports.data.group import run_groups
from reports.page.sections.summary import summary
from reports.verdicts.page_verdicts import page_verdicts

BOTH = {"never": None, "every-2min": 2}
LATER = {"suite_id": "later", "started_utc": "2026-01-06T09:00:00Z"}
OTHER_SPARK = {"python": "3.11.9", "java": "17.0.12", "spark": "3.5.9", "format": "1.9.2"}


@pytest.fixture(scope="module")
def old(tmp_path_factory):
    """Three repetitions of two strategies, one of which failed once."""
    folder = tmp_path_factory.mktemp("old")
    return build_results(folder, BOTH, 3, 6, {("every-2min", 3): "failed"})


@pytest.fixture(scope="module")
def new(tmp_path_factory):
    return build_results(tmp_path_factory.mktemp("new"), BOTH, 4, 6, versions=OTHER_SPARK, **LATER)


@pytest.fixture
def printed(capsys):
    """The CSV that a command prints."""

    def read(*words):
        assert main([*map(str, words), "--format", "csv"]) == 0
        return pd.read_csv(io.StringIO(capsys.readouterr().out), float_precision="round_trip")

    return read


def assert_same_figures(frame, csv, words):
    """Equal in these columns of words and in every column of numbers."""
    assert list(frame) == list(csv)
    numbers = [name for name in frame if pd.api.types.is_float_dtype(frame[name])]
    assert_frame_equal(frame[[*words, *numbers]], csv[[*words, *numbers]], check_dtype=False)


def test_frames_are_the_tables_of_export(old, tmp_path):
    assert main(["export", str(old), "-o", str(tmp_path / "tables")]) == 0
    results = compactbench.load(old)
    for name in ("runs", "metrics", "compactions", "commits", "queries", "decisions"):
        frame = getattr(results, name)
        assert len(frame), name
        assert_frame_equal(frame, pd.read_parquet(tmp_path / "tables" / f"{name}.parquet"))


def test_a_frame_is_the_callers_own_and_results_cannot_be_changed(old):
    results = compactbench.load(old)
    commits = results.commits
    commits["wall_s"] = 0.0
    assert (results.commits["wall_s"] > 0).all()
    with pytest.raises(FrozenInstanceError):
        results.folders = ()


def test_the_summary_has_the_figures_of_show(old, printed):
    frame = compactbench.load(old).summary()
    assert_same_figures(frame, printed("show", old), ["strategy", "runs", "failed", "content"])
    assert {metric.name for metric in METRICS} <= {*frame}
    assert frame["strategy"].tolist() == [*BOTH]


@pytest.mark.parametrize("metrics", [(), "all", ["files_end", "query_mean_s"]])
def test_a_comparison_with_a_baseline_is_that_of_the_command(old, printed, metrics):
    frame = compactbench.load(old).compare(baseline="every-2min", metrics=metrics)
    named = [metrics] if isinstance(metrics, str) else metrics
    words = [word for name in named for word in ("--metric", name)]
    csv = printed("compare", old, "--baseline", "every-2min", *words)
    assert_same_figures(frame, csv, ["strategy", "against", "metric", "method", "verdict"])
    assert frame["strategy"].unique().tolist() == ["never"]


def test_a_comparison_with_old_results_is_that_of_the_command(old, new, printed):
    frame = compactbench.load(new).compare(compactbench.load(old))
    assert_same_figures(frame, printed("compare", old, new), ["strategy", "metric", "method", "verdict"])
    notes = frame.attrs["notes"]
    assert "differs: versions.spark ('3.5.8' and '3.5.9')" in notes
    assert any("widened for sittings" in note for note in notes)


def test_runs_of_two_machines_are_compared_only_on_request(old, tmp_path):
    machine = {"cpu": "Another CPU", "cores": 2, "ram_bytes": 8 * 2**30}
    other = compactbench.load(build_results(tmp_path, BOTH, 3, 6, machine=machine, **LATER))
    with refused("mixed-runs", "machine.cpu"):
        other.compare(compactbench.load(old))
    assert len(other.compare(compactbench.load(old), allow_mixed=True))


def test_old_results_and_a_baseline_exclude_each_other(old, new):
    with refused("exclusive"):
        compactbench.load(new).compare(compactbench.load(old), baseline="never")


def missing(old, folder):
    return [folder / "missing"]


def empty(old, folder):
    return [folder]


def damaged(old, folder):
    """The second run has a line that is no record."""
    build_results(folder, BOTH, 1, 6)
    (folder / "append-small" / "run-iceberg-001" / EVENTS).write_text("nonsense\n{}\n")
    return [folder]


def without_manifest(old, folder):
    build_results(folder, BOTH, 1, 6)
    (folder / "append-small" / "run-iceberg-000" / "manifest.json").unlink()
    return [folder]


def of_two_definitions(old, folder):
    return [old, build_results(folder, BOTH, 1, 6, scenario_hash="other", **LATER)]


def twice(old, folder):
    copied = build_results(folder / "a", BOTH, 1, 6)
    return [copied, build_results(folder / "b", BOTH, 1, 6)]


@pytest.mark.parametrize(
    ("make", "options"),
    [(missing, {}), (empty, {}), (damaged, {}), (without_manifest, {}), (of_two_definitions, {}), (twice, {}),
     (lambda old, _: [old], {"baseline": "nevr"}), (lambda old, _: [old], {"metric": "query_men_s"})],
    ids=["missing", "empty", "damaged", "no manifest", "mixed", "copied", "baseline", "metric"],
)  # fmt: skip
def test_errors_are_those_of_the_command(old, tmp_path, capsys, make, options):
    folders = make(old, tmp_path)
    given = {"baseline": "never"} | options
    words = [word for name, value in given.items() for word in (f"--{name}", value)]
    assert main(["compare", *map(str, folders), *words]) == 2
    said = capsys.readouterr().err
    with pytest.raises(compactbench.CompactbenchError) as caught:
        compactbench.load(*folders).compare(
            baseline=options.get("baseline"), metrics=options.get("metric", ())
        )
    assert said == f"error: {caught.value} [{caught.value.code}]\n"


def test_results_are_read_from_where_run_writes_by_default(monkeypatch, tmp_path):
    build_results(tmp_path / "results", {"never": None}, 1, 2)
    monkeypatch.chdir(tmp_path)
    assert compactbench.load().runs["strategy"].tolist() == ["never"]
    assert repr(compactbench.load()) == repr(compactbench.load("results"))
    assert len(repr(compactbench.load())) < 80


def test_the_overview_is_the_summary_of_the_page(old):
    (group,) = run_groups(load_runs(old))
    table = summary(group, *page_verdicts([group]))
    cells = re.findall("<td>(.*?)</td>", compactbench.load(old)._repr_html_())
    texts = [html.unescape(re.sub("<[^>]+>", "", cell)) for cell in cells]
    assert texts == [f"{cell.text}{cell.note}" for row in table.rows for cell in row]


def test_the_overview_escapes_labels_and_warns_of_what_is_simulated(tmp_path):
    strategies = {"never": None, "<script>alert(1)</script>": 2}
    build_results(tmp_path, strategies, 1, 4, mode="simulated", notes={"times": "modelled"})
    shown = compactbench.load(tmp_path)._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert "<b>Warning:</b>" in shown


def test_a_report_is_written_of_all_runs(old, monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(results_of_compactbench, "render", lambda runs, folder: asked.append((runs, folder)))
    compactbench.load(old).report(str(tmp_path / "review"))
    ((runs, folder),) = asked
    assert [run.folder for run in runs] == [run.folder for run in load_runs(old)]
    assert folder == tmp_path / "review"


def test_a_report_that_cannot_be_written_has_the_error_of_the_command(old, tmp_path, capsys):
    (tmp_path / "mine.txt").touch()
    assert main(["report", str(old), "-o", str(tmp_path)]) == 2
    with refused("not-writable", tmp_path) as caught:
        compactbench.load(old).report(tmp_path)
    assert capsys.readouterr().err == f"error: {caught.value} [not-writable]\n"
    with refused("not-writable"):
        compactbench.load(old).report(tmp_path / "mine.txt" / "report")


def test_old_results_may_be_given_by_their_folder(old, new):
    later = compactbench.load(new)
    assert_frame_equal(later.compare(str(old)), later.compare(compactbench.load(old)))
    with pytest.raises(compactbench.ResultSchemaError):
        later.compare(old / "missing")


@pytest.mark.parametrize("given", [["a", "b"], None, 5])
def test_results_are_read_from_folders_alone(given):
    with pytest.raises(TypeError, match="each as an argument"):
        compactbench.load(given)


def test_nested_values_are_json(old):
    options = compactbench.load(old).runs["options"].map(json.loads)
    assert all(of_run["table"] == {"format-version": "2"} for of_run in options)
