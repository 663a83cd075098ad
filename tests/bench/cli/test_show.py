import json
import re
from dataclasses import replace

import pytest
from beyond_fit import results_beyond_fit
from live_runs import live_runs
from records import compaction, decision, end
from result_builder import UPSERT, build_results, manifest, write_run

from bench.cli.commands.show import FIGURES, print_rows
from bench.cli.output import OUT, print_json
from bench.cli.record_tables import COMPACTION_FIELDS, DECISION_FIELDS, decision_line, decision_table
from bench.results.folders import load_runs
from bench.results.metrics import METRICS
from bench.results.records import DELETE_WORDS
from reports.data.group import run_groups

NAMES = {metric.name for metric in METRICS}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Two repetitions of `never` and of `every-10min` over 20 commits; one repetition failed."""
    folder = tmp_path_factory.mktemp("results")
    strategies = {"never": None, "every-10min": 10}
    return build_results(folder, strategies, 2, 20, fate={("every-10min", 2): "failed"})


@pytest.fixture(scope="module")
def upserts(tmp_path_factory):
    """A stream of changes over 20 commits: `never`, and `amoro`, which reports a health score."""
    folder = tmp_path_factory.mktemp("upserts")
    return build_results(folder, {"never": None, "amoro": 5}, 1, 20, deletes=True, **UPSERT)


@pytest.fixture
def show(compactbench):
    return lambda *words, code=0: compactbench("show", *words, code=code)


def table_of(printed):
    """The lines of the table, without the answer below it."""
    return printed.out.split("\n\n")[0].splitlines()


def test_json_has_a_row_a_strategy_and_nothing_else_on_stdout(show, results):
    never, compacted = show(results, "--format", "json").json["rows"]
    assert [(r["strategy"], r["runs"], r["failed"], r["content"]) for r in (never, compacted)] == [
        ("never", 2, 0, "equal"),
        ("every-10min", 1, 1, "equal"),  # of the run whose figures are used
    ]
    assert never.keys() >= NAMES
    assert compacted["compactions"] == 2
    assert compacted["break_even_queries_per_h"] > 0
    assert never["break_even_queries_per_h"] is None
    assert set(never["probes"]) == {"first-order", "revenue-by-day"}


def test_csv_has_the_flat_figures(show, results):
    never, compacted = show(results, "--format", "csv").csv
    assert (never["strategy"], compacted["strategy"]) == ("never", "every-10min")
    assert compacted["compactions"] == "2.0"
    assert never["break_even_queries_per_h"] == ""
    assert not {"run_values", "probes", "repetitions"} & never.keys()
    assert never.keys() >= NAMES


def test_a_label_is_no_formula_in_a_spreadsheet(show, tmp_path):
    (row,) = show(build_results(tmp_path, {"=1+1": None}, 1, 2), "--format", "csv").csv
    assert row["strategy"] == "'=1+1"


def test_nan_and_infinities_are_null_in_json(capsys):
    print_json({"ratios": [1.5, float("nan")], "highest": float("inf")})
    assert json.loads(capsys.readouterr().out) == {"ratios": [1.5, None], "highest": None}


def test_the_table_is_for_people_and_gaps_go_to_stderr(show, results):
    printed = show(results)
    heading, *lines = table_of(printed)
    assert heading.startswith("append-small: append on iceberg, ")
    assert [line.split()[:2] for line in lines[-2:]] == [["never", "2"], ["every-10min", "1"]]  # runs differ
    short, why = printed.err.splitlines()
    assert short == "append-small, every-10min: 1 failed"
    assert why.startswith("append-small: every-10min (repetition 2) failed: ")
    (units,) = (line.split() for line in lines if set(line.split()) <= {"s", "ms", "µs", "%"})
    latencies = [figure for figure in FIGURES if figure.name.startswith("query_")]
    assert len(set(units[-len(latencies) :])) == 1
    assert not {"delete", "health", "USD"} & set(" ".join(lines).split())  # there are none


def test_decisions_are_all_evaluations_of_all_rules(show, results):
    records = show(results, "--decisions", "--format", "json").json["rows"]
    assert list(records[0]) == ["run", *(field.name for field in DECISION_FIELDS)]
    # 20 evaluations in the run that finished, 10 in the one that failed half way; `never` has no rules here.
    assert len(records) == 30
    assert [r["tick"] for r in records if r["verdict"] == "planned"] == [10, 20, 10]
    printed = show(results, "--decisions").out
    assert "figures" not in printed
    assert "trigger" not in printed  # there is one


def test_ticks_that_follow_each_other_and_decided_alike_share_a_row(show, results):
    lines = show(results, "--decisions").out.partition("every-10min #1\n")[2].splitlines()
    assert [re.split("  +", line.strip())[0] for line in lines[1:5]] == ["1 to 9", "10", "11 to 19", "20"]
    of_two_rules = [decision_line(decision(tick=tick, rule=rule)) for tick in (1, 2) for rule in (0, 1)]
    with_a_gap = [decision_line(decision(tick=tick)) for tick in (1, 2, 4)]
    for decided, ticks in ((of_two_rules, ["1", "1", "2", "2"]), (with_a_gap, ["1 to 2", "4"])):
        assert [row[0] for row in decision_table(decided, DELETE_WORDS)[1]] == ticks


def test_decisions_have_the_figures_that_the_planner_reports(show, upserts):
    records = show(upserts, "--decisions", "--format", "json").json["rows"]
    fired = [record for record in records if record["verdict"] == "planned"]
    assert fired[0]["figures"] == {"health_score": 85.0}
    for output in ("csv", "table"):
        assert "health_score=85" in show(upserts, "--decisions", "--format", output).out


def test_compactions_are_listed_with_what_they_did(show, results):
    first, second, *_ = show(results, "--compactions", "--format", "csv").csv
    assert list(first) == ["run", *(field.name for field in COMPACTION_FIELDS)]
    assert [(r["tick"], r["files_before"], r["files_after"]) for r in (first, second)] == [
        ("10", "80", "1"),
        ("20", "81", "1"),  # 1 + 10 x 8
    ]
    printed = show(results, "--compactions").out
    assert printed.startswith("append-small every-10min #1\n")
    assert "small_files" in printed
    assert not any(word in printed for word in ("error", "kind", "delete"))  # there is none


def test_compactions_have_kinds_and_deletes_where_there_are_any(show, upserts, wide):
    first, second, *_ = show(upserts, "--compactions", "--format", "csv").csv
    names = ("kind", "deletes_before", "deletes_after", "delete_rows_after")
    assert [first[name] for name in names] == ["minor", "15", "1", "50"]
    assert [second[name] for name in names] == ["major", "16", "0", "0"]
    printed = show(upserts, "--compactions").out
    assert all(word in printed for word in ("kind", "delete", "deleted"))


def test_compactions_name_their_executor_unless_it_is_the_engine(show, results, wide, tmp_path):
    assert "executor" not in show(results, "--compactions").out
    done = [compaction(tick=1, executor="delta-rs"), compaction(tick=2)]
    write_run(tmp_path / "demo" / "run", manifest("optimize"), [*done, end(tick=2)])
    first, second = show(tmp_path, "--compactions", "--format", "csv").csv
    assert (first["executor"], second["executor"]) == ("delta-rs", "")
    assert "delta-rs" in show(tmp_path, "--compactions").out


@pytest.mark.parametrize("what", ["--decisions", "--compactions"])
@pytest.mark.parametrize("output", ["table", "json", "csv"])
def test_a_baseline_without_decisions_is_no_error(show, tmp_path, what, output):
    printed = show(build_results(tmp_path, {"never": None}, 1, 2), what, "--format", output)
    assert printed.err == ""
    if output == "json":
        assert printed.json == {"rows": []}


def test_deletes_and_health_are_shown_where_there_are_any(show, upserts, wide):
    lines = table_of(show(upserts))
    never, amoro = (line.split() for line in lines[-2:])
    # 3 delete files a commit: 3 to 60, mean 31.5, 50 rows each.
    assert never[-4:] == ["31.5", "1,575", "\N{EN DASH}", "160"]
    # It compacts at 5, 10, 15 and 20, which leaves 1, 0, 1 and 0 of 15, 16, 15 and 16 delete files.
    assert amoro[-2] == "84.5"
    assert "health" in " ".join(lines)


def test_compactions_that_failed_are_reported_below_the_table(capsys, results):
    (group,) = run_groups(load_runs(results))
    row, *others = group.rows
    for count, words in ((1.0, "1 compaction per"), (2.0, "2 compactions per")):
        failing = replace(row, values={**row.values, "failed_compactions": count})
        print_rows([replace(group, rows=(failing, *others))])
        assert f"append-small, never: {words}" in capsys.readouterr().err


def test_one_table_at_a_time(show, results):
    printed = show(results, "--compactions", "--decisions", code=2)
    assert (printed.out, printed.codes) == ("", ["exclusive"])


@pytest.mark.parametrize("what", [[], ["--compactions"], ["--decisions"]])
def test_columns_that_a_narrow_terminal_leaves_out_are_named(show, monkeypatch, upserts, what):
    monkeypatch.setattr(OUT, "width", 1000)
    whole = show(upserts, *what).out
    monkeypatch.setattr(OUT, "width", 80)
    narrow = show(upserts, *what)
    assert ("left out" in narrow.err) is (len(narrow.out.split()) < len(whole.split()))


def test_the_table_fits_80_columns_with_the_figures_that_decide(show, monkeypatch, results):
    monkeypatch.setattr(OUT, "width", 80)
    printed = show(results)
    assert max(map(len, printed.out.splitlines())) <= 80
    heading = " ".join(table_of(printed)[1:-2]).split()
    assert {"compactions", "CPU", "query", "mean", "written", "space", "files"} <= set(heading)


def test_a_scenario_with_prices_shows_what_each_strategy_costs_a_day(show, tmp_path):
    prices = {"price_per_core_hour": 0.05, "currency": "EUR"}
    lines = table_of(show(build_results(tmp_path, {"never": None, "every-1min": 1}, 1, 4, **prices)))
    assert "EUR" in " ".join(lines).split()
    never, compacting = (line.split() for line in lines[-2:])
    assert 0 < float(never[3]) < float(compacting[3])


def test_what_all_rows_share_is_in_the_heading(show, tmp_path):
    folder = build_results(tmp_path, {"never": None, "every-1min": 1}, 3, 2, fate={("never", 1): "unchecked"})
    heading, *_, never, compacting = table_of(show(folder))
    assert "3 runs each" in heading
    assert [line.split()[-1] for line in (never, compacting)] == ["unchecked", "equal"]


def test_the_heading_says_how_fast_scenario_time_passed_where_roles_worked_at_once(monkeypatch, capsys):
    monkeypatch.setattr(OUT, "width", 1000)
    print_rows(run_groups(live_runs()))
    print_rows(run_groups(live_runs(notes={})))
    at_once, in_turns = (line for line in capsys.readouterr().out.splitlines() if "append" in line)
    assert "scenario time = 12 x real time" in at_once
    assert "real time" not in in_turns


def test_simulated_seconds_without_a_verdict_are_marked(show, tmp_path):
    folder = results_beyond_fit(tmp_path, {"extrapolated": {"query s_per_file": 4.2}})
    *_, never, compacting, words = table_of(show(folder))
    assert words == "~ no verdict on this figure: the cost model does not cover it"
    marked = [cell for cell in compacting.split() if cell.startswith("~")]
    assert 2 <= len(marked) <= sum(figure.name.startswith("query_") for figure in FIGURES)
    assert "~" not in never
    reason = "4.2 times as many files in a query as were measured"
    rows = show(folder, "--format", "json").json["rows"]
    assert [row["without_verdict"].get("query_mean_s") for row in rows] == [None, reason]
    assert "files_end" not in rows[1]["without_verdict"]
    lines = show(folder, "--format", "csv").csv
    assert [("query_mean_s" in line["without_verdict"].split()) for line in lines] == [False, True]


@pytest.mark.parametrize("width", [50, 250])
def test_the_mark_is_explained_once_where_a_figure_has_no_verdict(show, monkeypatch, tmp_path, width):
    monkeypatch.setattr(OUT, "width", width)
    beyond = {"extrapolated": {"commit s_per_mib": 9.0}}  # in columns that a narrow table leaves out
    lines = table_of(show(results_beyond_fit(tmp_path, beyond)))
    assert sum(line.startswith("~ no verdict") for line in lines) == 1


def test_figures_that_have_a_verdict_are_not_marked(show, results, tmp_path):
    for folder in (results, results_beyond_fit(tmp_path, {})):
        assert "~" not in show(folder).out


def test_several_folders_are_one_answer(show, tmp_path):
    build_results(tmp_path / "a", {"never": None}, 1, 2)
    build_results(tmp_path / "b", {"never": None}, 1, 2, scenario="other")
    shown = show(tmp_path / "a", tmp_path / "b", "--format", "json").json["rows"]
    assert [row["scenario"] for row in shown] == ["append-small", "other"]


@pytest.mark.parametrize(
    ("prepare", "code"),
    [
        (lambda folder: None, "no-such-folder"),
        (lambda folder: folder.mkdir(), "no-runs"),
        (lambda folder: folder.write_text(""), "no-such-folder"),
    ],
)
def test_a_folder_without_results_exits_2(show, tmp_path, prepare, code):
    prepare(tmp_path / "results")
    printed = show(tmp_path / "results", code=2)
    assert (printed.out, printed.codes) == ("", [code])


@pytest.mark.parametrize(
    ("command", "expected"),
    [("show", "every-1min"), ("report", "report/index.html"), ("export", "tables/runs.parquet")],
)
def test_a_damaged_run_exits_2_with_file_and_line_and_the_others_are_used(
    compactbench, tmp_path, command, expected
):
    folder = build_results(tmp_path, {"never": None, "every-1min": 1}, 1, 2)
    damaged, _ = sorted(folder.rglob("events.jsonl"))
    damaged.write_text("garbage\n" + damaged.read_text())
    printed = compactbench(command, folder, code=2)
    assert expected in printed.out
    assert f"error: left out: {damaged}, line 1: " in " ".join(printed.err.split())


def test_missing_figures_are_a_gap(show, tmp_path):
    printed = show(build_results(tmp_path, {"never": None}, 1, 2, fate={("never", 1): "cut off"}))
    assert "append-small, never: 1 interrupted" in printed.err
    assert "unchecked" in printed.out


def test_runs_beside_other_processes_are_named(show, tmp_path):
    printed = show(build_results(tmp_path, {"never": None}, 2, 3, fate={("never", 2): "disturbed"}))
    assert "never: other processes used up to 1.7 cores during 1 run, so" in " ".join(printed.err.split())


def test_the_last_lines_are_the_answer(show, results):
    last = show(results).out.rstrip().rsplit("\n\n", 1)[-1]
    assert " ".join(last.split()).startswith("every-10min: mean query ")


def test_answers_on_real_and_simulated_runs_of_a_scenario_are_told_apart(show, tmp_path):
    real = build_results(tmp_path / "real", None, 1, 10)
    simulated = build_results(tmp_path / "simulated", None, 1, 10, mode="simulated")
    other = build_results(tmp_path / "other", None, 1, 10, scenario="other", mode="simulated")
    headings = {"append-small", "append-small, real", "append-small, simulated", "other"}
    lines = show(real, simulated, other).out.splitlines()
    assert [line for line in lines if line in headings] == [
        "append-small, real", "append-small, simulated", "other",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "command",
    [
        ("show",), ("show", "--format", "csv"), ("show", "--compactions"), ("compare",), ("export",),
        ("compare", "--format", "json"), ("report",), ("recommend", "--objective", "compaction_cpu_s"),
    ],
)  # fmt: skip
def test_results_folders_that_were_not_read_are_named(compactbench, nested, command):
    name, *options = command
    told = f"not read: {nested / 'mine'}, results folders in {nested}; name one to read it"
    assert " ".join(compactbench(name, nested, *options).err.split()).count(told) == 1


def test_json_tells_folders_not_read_from_runs_that_are_gone(compactbench, nested):
    document = compactbench("show", nested, "--format", "json").json
    assert document["absent"] == []
    assert [told.partition(",")[0] for told in document["not_read"]] == [f"not read: {nested / 'mine'}"]


@pytest.fixture
def nested(tmp_path):
    build_results(tmp_path, {"never": None, "every-1min": 1}, 1, 2)
    build_results(tmp_path / "mine", {"never": None}, 1, 2)
    return tmp_path
