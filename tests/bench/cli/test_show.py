import csv
import io
import json
from dataclasses import replace

import pytest
from refused import printed_codes
from result_builder import UPSERT, build_results

from bench.cli.commands.show import FIGURES, print_rows
from bench.cli.main import main
from bench.cli.output import OUT, print_json
from bench.cli.record_tables import COMPACTION_FIELDS, DECISION_FIELDS
from bench.results.folders import load_runs
from bench.results.metrics import METRICS
from bench.results.rows import rows

COMPACTION_COLUMNS = ("run", *(field.name for field in COMPACTION_FIELDS))
DECISION_COLUMNS = ("run", *(field.name for field in DECISION_FIELDS))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Two repetitions of `never` and of `every-10min` over 20 commits; one repetition failed."""
    folder = tmp_path_factory.mktemp("results")
    strategies = {"never": None, "every-10min": 10}
    return build_results(folder, strategies, 2, 20, fate={("every-10min", 2): "failed"})


def show(capsys, *arguments):
    """Exit code, stdout and stderr of `compactbench show`."""
    code = main(["show", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_json_has_a_row_a_strategy_and_nothing_else_on_stdout(capsys, results):
    code, out, _ = show(capsys, results, "--format", "json")
    assert code == 0
    rows = json.loads(out)["rows"]
    assert [(r["strategy"], r["runs"], r["failed"], r["content"]) for r in rows] == [
        ("never", 2, 0, "equal"),
        ("every-10min", 1, 1, "equal"),  # of the run whose figures are used
    ]
    assert {m.name for m in METRICS} <= rows[0].keys()
    assert rows[1]["compactions"] == 2
    assert rows[1]["break_even_queries_per_h"] > 0
    assert rows[0]["break_even_queries_per_h"] is None
    assert set(rows[0]["probes"]) == {"first-order", "revenue-by-day"}


def test_a_label_is_no_formula_in_a_spreadsheet(capsys, tmp_path):
    results = build_results(tmp_path, {"=1+1": None}, 1, 2)
    _, out, _ = show(capsys, results, "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(out))
    assert row["strategy"] == "'=1+1"


def test_nan_and_infinities_are_null_in_json(capsys):
    print_json({"ratios": [1.5, float("nan")], "highest": float("inf")})
    assert json.loads(capsys.readouterr().out) == {"ratios": [1.5, None], "highest": None}


def test_csv_has_the_flat_figures(capsys, results):
    code, out, _ = show(capsys, results, "--format", "csv")
    assert code == 0
    never, compacted = csv.DictReader(io.StringIO(out))
    assert (never["strategy"], compacted["strategy"]) == ("never", "every-10min")
    assert compacted["compactions"] == "2.0"
    assert never["break_even_queries_per_h"] == ""
    assert not {"run_values", "probes", "repetitions"} & never.keys()
    assert {m.name for m in METRICS} <= never.keys()


def test_the_table_is_for_people_and_gaps_go_to_stderr(capsys, results):
    code, out, err = show(capsys, results)
    assert code == 0
    assert "append-small" in out
    heading, *lines = out.splitlines()
    assert heading.startswith("append-small: append on iceberg, ")
    assert [line.split()[:2] for line in lines[-2:]] == [["never", "2"], ["every-10min", "1"]]  # runs differ
    assert err == "append-small, every-10min: 1 failed\n"


def test_decisions_are_all_evaluations_of_all_rules(capsys, results):
    code, out, _ = show(capsys, results, "--decisions", "--format", "json")
    assert code == 0
    rows = json.loads(out)["rows"]
    assert set(rows[0]) == set(DECISION_COLUMNS)
    # 20 evaluations in the run that finished, 10 in the one that failed half way; `never` has no rules here.
    assert len(rows) == 30
    assert [r["tick"] for r in rows if r["verdict"] == "planned"] == [10, 20, 10]


def test_compactions_are_listed_with_what_they_did(capsys, results):
    code, out, _ = show(capsys, results, "--compactions", "--format", "csv")
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out)))
    assert tuple(rows[0]) == COMPACTION_COLUMNS
    assert [(r["tick"], r["files_before"], r["files_after"]) for r in rows[:2]] == [
        ("10", "80", "1"),
        ("20", "81", "1"),  # 1 + 10 x 8
    ]
    code, out, _ = show(capsys, results, "--compactions")
    assert code == 0
    assert out.startswith("append-small every-10min #1\n")
    assert "small_files" in out
    assert "error" not in out  # there is none


@pytest.mark.parametrize("what", ["--decisions", "--compactions"])
@pytest.mark.parametrize("output", ["table", "json", "csv"])
def test_a_baseline_without_decisions_is_no_error(capsys, tmp_path, what, output):
    folder = build_results(tmp_path, {"never": None}, 1, 2)
    code, out, err = show(capsys, folder, what, "--format", output)
    assert (code, err) == (0, "")
    if output == "json":
        assert json.loads(out) == {"rows": []}


@pytest.fixture(scope="module")
def upserts(tmp_path_factory):
    """A stream of changes over 20 commits: `never`, and `amoro`, which reports a health score."""
    folder = tmp_path_factory.mktemp("upserts")
    return build_results(folder, {"never": None, "amoro": 5}, 1, 20, deletes=True, **UPSERT)


def test_deletes_and_health_are_shown_where_there_are_any(capsys, upserts, results, monkeypatch):
    monkeypatch.setattr(OUT, "_width", 250)
    _, out, _ = show(capsys, upserts)
    never, amoro = (line.split() for line in out.splitlines()[-2:])
    # 3 delete files a commit: 3 to 60, mean 31.5, 50 rows each.
    assert never[-4:] == ["31.5", "1,575", "\N{EN DASH}", "160"]
    # It compacts at 5, 10, 15 and 20, which leaves 1, 0, 1 and 0 of 15, 16, 15 and 16 delete files.
    assert amoro[-2] == "84.5"
    assert "health" in out
    _, out, _ = show(capsys, results)
    assert not {"delete", "health"} & set(out.split())


def test_decisions_have_the_figures_that_the_planner_reports(capsys, upserts, results):
    _, out, _ = show(capsys, upserts, "--decisions", "--format", "json")
    fired = [row for row in json.loads(out)["rows"] if row["verdict"] == "planned"]
    assert fired[0]["figures"] == {"health_score": 85.0}
    _, out, _ = show(capsys, upserts, "--decisions", "--format", "csv")
    assert "health_score=85" in out
    _, out, _ = show(capsys, upserts, "--decisions")
    assert "health_score=85" in out
    _, out, _ = show(capsys, results, "--decisions")
    assert "figures" not in out
    assert "trigger" not in out  # there is one


def test_compactions_have_kinds_and_deletes_where_there_are_any(capsys, upserts, results, monkeypatch):
    monkeypatch.setattr(OUT, "_width", 250)
    _, out, _ = show(capsys, upserts, "--compactions", "--format", "csv")
    first, second, *_ = csv.DictReader(io.StringIO(out))
    names = ("kind", "deletes_before", "deletes_after", "delete_rows_after")
    assert [first[name] for name in names] == ["minor", "15", "1", "50"]
    assert [second[name] for name in names] == ["major", "16", "0", "0"]
    for folder, are_shown in ((upserts, True), (results, False)):
        _, out, _ = show(capsys, folder, "--compactions")
        assert [word in out for word in ("kind", "delete", "deleted")] == [are_shown] * 3


def test_compactions_that_failed_are_reported_below_the_table(capsys, results):
    row, *others = rows(load_runs(results))
    for count, words in ((1.0, "1 compaction per"), (2.0, "2 compactions per")):
        print_rows([replace(row, values={**row.values, "failed_compactions": count}), *others])
        assert f"append-small, never: {words}" in capsys.readouterr().err


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("what", [[], ["--compactions"], ["--decisions"]])
def test_no_figure_is_broken_at_any_width(capsys, monkeypatch, upserts, what, width):
    monkeypatch.setattr(OUT, "width", 1000)
    _, out, _ = show(capsys, upserts, *what)
    figures = {word for word in out.split() if word[0].isdigit()}
    monkeypatch.setattr(OUT, "width", width)
    _, narrow, err = show(capsys, upserts, *what)
    assert {word for word in narrow.split() if word[0].isdigit()} <= figures
    assert all(len(line) <= width for line in narrow.splitlines())
    assert ("left out" in err) is (len(narrow.split()) < len(out.split()))


def test_the_table_fits_80_columns_with_the_figures_that_decide(capsys, monkeypatch, results):
    monkeypatch.setattr(OUT, "width", 80)
    _, out, _ = show(capsys, results)
    heading = " ".join(out.splitlines()[1:-2]).split()
    assert {"compactions", "CPU", "query", "mean", "written", "space", "files"} <= set(heading)


def test_queries_share_one_unit(capsys, results):
    _, out, _ = show(capsys, results)
    (units,) = (line.split() for line in out.splitlines() if set(line.split()) <= {"s", "ms", "µs", "%"})
    shown = [f for f in FIGURES if f.name.startswith("query_")]
    assert len(set(units[-len(shown) :])) == 1


def test_a_scenario_with_prices_shows_what_each_strategy_costs_a_day(capsys, tmp_path, results):
    prices = {"price_per_core_hour": 0.05, "currency": "EUR"}
    _, out, _ = show(capsys, build_results(tmp_path, {"never": None, "every-1min": 1}, 1, 4, **prices))
    assert "EUR" in out
    never, compacting = (line.split() for line in out.splitlines()[-2:])
    assert 0 < float(never[3]) < float(compacting[3])
    _, out, _ = show(capsys, results)
    assert "USD" not in out


def test_what_all_rows_share_is_in_the_heading(capsys, tmp_path):
    folder = build_results(tmp_path, {"never": None, "every-1min": 1}, 3, 2, fate={("never", 1): "unchecked"})
    _, out, _ = show(capsys, folder)
    assert "3 runs each" in out.splitlines()[0]
    assert [line.split()[-1] for line in out.splitlines()[-2:]] == ["unchecked", "equal"]


def test_several_folders_are_one_answer(capsys, tmp_path):
    build_results(tmp_path / "a", {"never": None}, 1, 2)
    build_results(tmp_path / "b", {"never": None}, 1, 2, scenario="other")
    code, out, _ = show(capsys, tmp_path / "a", tmp_path / "b", "--format", "json")
    assert code == 0
    assert [row["scenario"] for row in json.loads(out)["rows"]] == ["append-small", "other"]


@pytest.mark.parametrize(
    ("prepare", "code"),
    [
        (lambda folder: None, "no-such-folder"),
        (lambda folder: folder.mkdir(), "no-runs"),
        (lambda folder: folder.write_text(""), "no-such-folder"),
    ],
)
def test_a_folder_without_results_exits_2(capsys, tmp_path, prepare, code):
    prepare(tmp_path / "results")
    exit_code, out, err = show(capsys, tmp_path / "results")
    assert (exit_code, out, printed_codes(err)) == (2, "", [code])


def test_a_damaged_run_exits_2_and_names_file_and_line(capsys, tmp_path):
    folder = build_results(tmp_path, {"never": None}, 1, 2)
    (events,) = folder.rglob("events.jsonl")
    events.write_text("garbage\n" + events.read_text())
    code, _, err = show(capsys, folder)
    assert code == 2
    assert f"{events}, line 1: " in err


@pytest.mark.parametrize("command", ["show", "report", "export"])
def test_undamaged_runs_are_used(capsys, tmp_path, command):
    folder = build_results(tmp_path, {"never": None, "every-1min": 1}, 1, 2)
    damaged, _ = sorted(folder.rglob("events.jsonl"))
    damaged.write_text("garbage\n" + damaged.read_text())
    assert main([command, str(folder)]) == 2
    out, err = capsys.readouterr()
    expected = {"show": "every-1min", "report": "report/index.html", "export": "tables/runs.parquet"}
    assert expected[command] in out
    assert f"error: left out: {damaged}, line 1: " in " ".join(err.split())


def test_missing_figures_are_a_gap(capsys, tmp_path):
    folder = build_results(tmp_path, {"never": None}, 1, 2, fate={("never", 1): "cut off"})
    code, out, err = show(capsys, folder)
    assert code == 0
    assert "append-small, never: 1 interrupted" in err
    assert "unchecked" in out
