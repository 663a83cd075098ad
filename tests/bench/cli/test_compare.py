import csv
import io
import json
import re
import shutil

import pytest
from result_builder import build_results

from bench.cli import output
from bench.cli.comparison_output import figures
from bench.cli.main import main
from bench.results.metrics import METRICS
from bench.text import human_ratio

STRATEGIES = {"never": None, "every-10min": 10, "every-2min": 2}


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    """A terminal in which every row of a table is one line."""
    monkeypatch.setattr(output.OUT, "_width", 250)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Three repetitions of three strategies over 20 commits."""
    return build_results(tmp_path_factory.mktemp("results"), STRATEGIES, 3, 20)


@pytest.fixture(scope="module")
def old_and_new(tmp_path_factory):
    """Two strategies of each are also in the other; only the seedless noise differs between them."""
    folder = tmp_path_factory.mktemp("both")
    old = build_results(folder / "old", {"never": None, "every-2min": 2, "gone": 5}, 3, 20)
    new = build_results(
        folder / "new", {"added": 5, "never": None, "every-2min": 2}, 4, 20,
        suite_id="later", started_utc="2026-01-06T09:00:00Z",
    )  # fmt: skip
    return old, new


def compare(capsys, *arguments):
    """Exit code, stdout and stderr of `compactbench compare`."""
    code = main(["compare", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def as_json(capsys, *arguments, code=0):
    """The groups of the JSON answer."""
    found, out, err = compare(capsys, *arguments, "--format", "json")
    assert (found, err) == (code, "")
    return json.loads(out)["groups"]


def refusal(capsys, *arguments):
    """The text of a refusal: exit code 2 and nothing on stdout."""
    code, out, err = compare(capsys, *arguments)
    assert (code, out) == (2, "")
    return re.sub(r"\s+", " ", err)


def manifests(folder, change):
    """Rewrite every manifest below `folder`."""
    for path in folder.rglob("manifest.json"):
        path.write_text(json.dumps({**json.loads(path.read_text()), **change}))


def test_the_table_says_first_what_was_compared_and_how_surely(capsys, results):
    code, out, err = compare(capsys, results, "--baseline", "never")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("append-small: ")
    assert f"9 runs from {results}: " in lines[2]
    assert lines[3] == "ratio: strategy / never, with its 95 % interval"
    assert lines[4].split() == [
        "strategy", "metric", "figure", "never", "ratio", "95", "%", "interval", "runs", "verdict",
    ]  # fmt: skip
    query = next(line for line in lines if line.startswith("every-2min") and "query_mean_s" in line)
    assert re.search(r" 0\.\d+x +0\.\d+ to 0\.\d+ +3 ", query)
    assert query.endswith("less, better")
    files = next(line for line in lines if line.startswith("every-10min") and "files_end" in line)
    assert files.split()[2:6] == ["1", "160", "1/160", "exact"]  # 1 of 20 x 8 files
    tail = next(line for line in lines if line.startswith("every-2min") and "query_p95_s" in line)
    assert tail.rstrip().endswith("less, better (exploratory)")


def test_json_has_every_figure_of_every_comparison(capsys, results):
    (group,) = as_json(capsys, results, "--baseline", "never")
    assert (group["scenario"], group["mode"], group["differences"]) == ("append-small", "real", [])
    assert group["runs"] == {"pooled": {"never": 3, "every-10min": 3, "every-2min": 3}}
    found = {(c["strategy"], c["metric"]): c for c in group["comparisons"]}
    query = found["every-2min", "query_mean_s"]
    assert query["low"] < query["ratio"] < query["high"] < 1
    assert (query["n"], query["method"], query["verdict"], query["judged"]) == (
        3, "paired t on log ratios", "less", "better",
    )  # fmt: skip
    assert found["every-2min", "write_amplification"]["judged"] == "worse"
    assert {metric for _, metric in found} == {
        "compaction_cpu_s", "query_mean_s", "query_p95_s", "write_amplification", "read_amplification",
        "space_amplification", "files_end",
    }  # fmt: skip


def test_csv_has_a_line_a_comparison_and_the_words_on_stderr(capsys, results):
    code, out, err = compare(
        capsys, results, "--baseline", "never", "--format", "csv", "--fail-if", "files_end>1x"
    )
    assert code == 0
    lines = list(csv.DictReader(io.StringIO(out)))
    assert {line["strategy"] for line in lines} == {"every-10min", "every-2min"}
    assert {"scenario", "metric", "ratio", "low", "high", "n", "method", "verdict"} <= lines[0].keys()
    assert "compared with never" in err
    assert ": files_end <= 1x: holds" in err


def test_markdown_is_a_pipe_table_with_labels_as_code(capsys, results):
    code, out, _ = compare(
        capsys, results, "--baseline", "never", "--format", "markdown", "--fail-if", "files_end>1x"
    )
    assert code == 0
    assert out.startswith("### append-small: ")
    assert "`every-2min` | query\\_mean\\_s |" in out
    assert "files\\_end \\<= 1x | holds |" in out


def test_metrics_and_strategies_can_be_chosen(capsys, results):
    (group,) = as_json(
        capsys, results, "--baseline", "never", "--metric", "files_end", "--metric", "ingested_bytes",
        "--only", "every-2min",
    )  # fmt: skip
    assert [(c["strategy"], c["metric"], c["judged"]) for c in group["comparisons"]] == [
        ("every-2min", "files_end", "better"),
        ("every-2min", "ingested_bytes", ""),  # neither direction is better
    ]
    (group,) = as_json(capsys, results, "--baseline", "every-10min", "--metric", "all")
    compared = [c["metric"] for c in group["comparisons"] if c["strategy"] == "every-2min"]
    assert compared == [m.name for m in METRICS if m.name in compared]
    assert "commit_p95_s" in compared
    assert "money_per_day" not in compared  # the scenario gives no price


def test_pairs_are_those_of_one_suite_and_groups_are_compared_where_there_is_none(capsys, tmp_path):
    build_results(tmp_path / "a", {"never": None}, 3, 10)
    build_results(tmp_path / "b", {"every-2min": 2}, 2, 10, suite_id="later")
    (group,) = as_json(capsys, tmp_path / "a", tmp_path / "b", "--baseline", "never")
    query = next(c for c in group["comparisons"] if c["metric"] == "query_mean_s")
    assert (query["paired"], query["n"], query["runs"], query["against_runs"]) == (False, 2, 2, 3)
    _, out, _ = compare(capsys, tmp_path / "a", tmp_path / "b", "--baseline", "never")
    assert re.search(r"query_mean_s.* 2 / 3 +undecided: ", out)


def test_two_folders_are_old_and_new_and_each_strategy_meets_itself(capsys, old_and_new):
    old, new = old_and_new
    (group,) = as_json(capsys, old, new)
    assert group["folders"] == {"old": [str(old)], "new": [str(new)]}
    assert group["runs"] == {
        "old": {"never": 3, "every-2min": 3, "gone": 3},
        "new": {"added": 4, "never": 4, "every-2min": 4},
    }
    assert {(c["strategy"], c["against"]) for c in group["comparisons"]} == {
        ("never", "never"), ("every-2min", "every-2min"),
    }  # fmt: skip
    assert [note.split()[0] for note in group["notes"][1:]] == ["gone", "added"]
    query = next(c for c in group["comparisons"] if c["metric"] == "query_mean_s")
    assert (query["method"], query["n"], query["runs"], query["against_runs"]) == (
        "Welch's t on logs",
        3,
        4,
        3,
    )
    assert query["figure"] / query["against_figure"] == pytest.approx(query["ratio"], rel=0.01)


def test_the_ratio_is_new_over_old(capsys, tmp_path):
    old = build_results(tmp_path / "old", {"every-2min": 2}, 3, 10)
    new = build_results(tmp_path / "new", {"every-2min": 5}, 3, 10, suite_id="later", strategy_hash="other")
    (group,) = as_json(capsys, old, new, "--metric", "compactions")
    (found,) = group["comparisons"]
    assert (found["figure"], found["against_figure"], found["ratio"]) == (2, 5, 0.4)
    assert [d["field"] for d in group["differences"]] == ["strategy_hash"]


def test_swapped_folders_are_suspected(capsys, old_and_new):
    (group,) = as_json(capsys, *reversed(old_and_new))
    assert any("right order?" in note for note in group["notes"])


def test_two_folders_with_a_baseline_are_pooled(capsys, old_and_new):
    (group,) = as_json(capsys, *old_and_new, "--baseline", "never")
    assert group["runs"] == {"pooled": {"never": 7, "every-2min": 7, "gone": 3, "added": 4}}
    query = next(
        c for c in group["comparisons"] if (c["strategy"], c["metric"]) == ("every-2min", "query_mean_s")
    )
    assert (query["method"], query["n"]) == ("paired t on log ratios", 7)


def test_each_condition_is_tested_on_each_strategy_and_one_broken_is_enough(capsys, results):
    conditions = [
        "--fail-if",
        "files_end > 1x",
        "--fail-if",
        "compaction_added_bytes<1x",
        "--fail-if",
        "compactions<2x",
    ]
    code, out, _ = compare(capsys, results, "--baseline", "never", *conditions, "--metric", "files_end")
    tested = [line.split() for line in out.splitlines() if "x " in line and ("<=" in line or ">=" in line)]
    assert [(label, metric, outcome) for label, metric, _, _, outcome, *_ in tested] == [
        (label, metric, "holds")
        for metric in ("files_end", "compaction_added_bytes", "compactions")
        for label in ("every-10min", "every-2min")
    ]
    assert code == 0
    broken = ["--fail-if", "files_end>1x", "--fail-if", "compactions>1x"]
    assert compare(capsys, results, "--baseline", "every-10min", *broken)[0] == 1


def test_a_cost_beside_none_is_shown_without_a_ratio(capsys, results):
    (group,) = as_json(capsys, results, "--baseline", "never")
    cost = group["comparisons"][0]
    assert (cost["metric"], cost["ratio"], cost["verdict"]) == ("compaction_cpu_s", None, "more")
    for named in ([], ["--all"], ["--metric", "compaction_cpu_s"]):
        _, out, _ = compare(capsys, results, "--baseline", "never", *named)
        row = r"every-2min +compaction_cpu_s +[\d.]+ s +0 s +.* more, worse: "
        assert re.search(row, out)


def test_other_figures_beside_none_are_left_out_unless_they_are_named(capsys, results):
    _, out, _ = compare(capsys, results, "--baseline", "never", "--metric", "all")
    assert " compactions " not in out
    assert "(--all shows all)" in out
    _, out, _ = compare(capsys, results, "--baseline", "never", "--metric", "compactions")
    assert re.search(r"every-2min +compactions +10 +0 +\S ", out)


@pytest.mark.parametrize("metric", ["compactions", "compaction_cpu_s"])
def test_a_rise_from_zero_breaks_any_limit(capsys, results, metric):
    code, out, _ = compare(capsys, results, "--baseline", "never", "--fail-if", f"{metric}>1x")
    assert re.search(rf"every-2min +{metric} <= 1x +broken +\d.* vs 0", out)
    assert "limits: 2 broken" in out
    assert code == 1


def test_a_strategy_that_costs_nothing_on_both_sides_breaks_no_limit(capsys, old_and_new):
    arguments = [*old_and_new, "--only", "never", "--fail-if", "compaction_cpu_s>1.1x"]
    (group,) = as_json(capsys, *arguments)
    (tested,) = group["conditions"]
    assert (tested["outcome"], tested["verdict"], tested["reason"]) == ("holds", "equal", "both values are 0")


def test_a_single_run_gives_no_interval(capsys, tmp_path):
    folder = build_results(tmp_path, STRATEGIES, 1, 10)
    (group,) = as_json(capsys, folder, "--baseline", "never")
    by_metric = {c["metric"]: c for c in group["comparisons"] if c["strategy"] == "every-2min"}
    query = by_metric["query_mean_s"]
    assert (query["verdict"], query["n"]) == ("undecided", 1)
    assert (query["low"], query["p"]) == (None, None)
    assert query["ratio"] is not None
    assert by_metric["files_end"]["verdict"] == "less"  # counts need no second run
    assert (by_metric["write_amplification"]["method"], by_metric["write_amplification"]["tolerance"]) == (
        "tolerance", 0.02,
    )  # fmt: skip


def test_simulated_figures_are_modelled_never_exact(capsys, tmp_path):
    folder = build_results(tmp_path, STRATEGIES, 1, 10, mode="simulated")
    (group,) = as_json(capsys, folder, "--baseline", "never")
    assert {c["method"] for c in group["comparisons"]} == {"modelled"}
    _, out, _ = compare(capsys, folder, "--baseline", "every-10min")
    assert not {"exact", "to"} & set(out.splitlines()[-1].split())


def test_runs_that_are_not_used_are_reported(capsys, tmp_path):
    fate = {("never", 1): "failed", ("every-2min", 2): "cut off", ("every-10min", 3): "timings_invalid"}
    folder = build_results(tmp_path, STRATEGIES, 3, 10, fate=fate)
    _, out, _ = compare(capsys, folder, "--baseline", "never")
    assert all(text in out for text in ("never 2 (1 failed)", "(1 without valid timings)", "(1 interrupted)"))
    (group,) = as_json(capsys, folder, "--baseline", "never", "--metric", "query_mean_s")
    # Only the second repetition has a partner of every-10min with valid timings, so all runs count as groups.
    assert [(c["strategy"], c["paired"], c["runs"], c["against_runs"]) for c in group["comparisons"]] == [
        ("every-10min", False, 2, 2), ("every-2min", False, 2, 2),
    ]  # fmt: skip
    _, out, _ = compare(capsys, folder, "--baseline", "never", "--metric", "query_mean_s")
    assert re.search(r"every-10min +query_mean_s .* 2 / 2 +undecided: ", out)


def test_runs_of_two_machines_are_pooled_only_on_request_and_then_reported(capsys, tmp_path):
    build_results(tmp_path / "a", STRATEGIES, 2, 5)
    build_results(tmp_path / "b", STRATEGIES, 2, 5, suite_id="later", machine={"cpu": "Other", "cores": 2})
    arguments = [tmp_path / "a", tmp_path / "b", "--baseline", "never"]
    error = refusal(capsys, *arguments)
    folders = [f"in {tmp_path}/{name}/append-small/run-iceberg-000" for name in "ab"]
    assert all(
        text in error for text in ("machine.cpu", "'Example CPU'", "'Other'", "--allow-mixed", *folders)
    )
    code, out, _ = compare(capsys, *arguments, "--allow-mixed")
    assert code == 0
    assert out.index("differs: machine.cpu") < out.index("strategy  ")


def test_new_versions_are_reported_and_another_machine_is_refused(capsys, tmp_path):
    old = build_results(tmp_path / "old", STRATEGIES, 2, 5)
    new = build_results(
        tmp_path / "new", STRATEGIES, 2, 5, suite_id="later", git={"commit": "f00", "dirty": False}
    )
    code, out, _ = compare(capsys, old, new)
    assert code == 0
    assert "differs: git.commit" in out
    manifests(new, {"memory_bytes": 10**9})
    assert "memory_bytes: " in refusal(capsys, old, new)
    (group,) = as_json(capsys, old, new, "--allow-mixed")
    assert [d["field"] for d in group["differences"]] == ["memory_bytes", "git.commit"]


@pytest.mark.parametrize("baseline", [(), ("--baseline", "never")])
def test_measured_and_simulated_runs_never_meet(capsys, tmp_path, baseline):
    real = build_results(tmp_path / "real", STRATEGIES, 2, 5)
    simulated = build_results(tmp_path / "simulated", STRATEGIES, 2, 5, suite_id="later", mode="simulated")
    if baseline:
        groups = as_json(capsys, real, simulated, *baseline, "--allow-mixed")
        assert [(g["mode"], g["runs"]["pooled"]["never"]) for g in groups] == [("real", 2), ("simulated", 2)]
    else:
        error = refusal(capsys, real, simulated, "--allow-mixed")
        assert "mode: 'real' in " in error


@pytest.mark.parametrize("field", ["scenario_hash", "change_log_hash"])
@pytest.mark.parametrize("baseline", [(), ("--baseline", "never")])
def test_another_stream_is_never_compared(capsys, tmp_path, field, baseline):
    one = build_results(tmp_path / "one", {"never": None, "b": 2}, 2, 5)
    other = build_results(tmp_path / "other", {"never": None, "b": 2}, 2, 5, suite_id="later", **{field: "x"})
    assert f"{field}: " in refusal(capsys, one, other, *baseline, "--allow-mixed")


def test_a_copy_of_the_same_runs_is_no_new_result(capsys, tmp_path):
    old = build_results(tmp_path / "old", STRATEGIES, 2, 5)
    shutil.copytree(old, tmp_path / "copy")
    for copy in (tmp_path / "copy", old):
        assert "[copied-run]" in refusal(capsys, old, copy)


def test_scenarios_are_kept_apart_and_what_cannot_be_compared_is_reported(capsys, tmp_path):
    build_results(tmp_path, {"never": None, "every-2min": 2}, 2, 5)
    build_results(tmp_path, {"every-2min": 2}, 2, 5, scenario="other", scenario_hash="o")
    first, second = as_json(capsys, tmp_path, "--baseline", "never")
    assert (first["scenario"], second["scenario"]) == ("append-small", "other")
    assert (bool(first["comparisons"]), second["comparisons"]) == (True, [])
    (note,) = second["notes"]
    assert note.startswith("never did not run")


def test_a_scenario_of_one_folder_only_is_reported(capsys, tmp_path, old_and_new):
    old, new = tmp_path / "old", tmp_path / "new"
    for source, target in zip(old_and_new, (old, new), strict=True):
        shutil.copytree(source, target)
    build_results(new, {"never": None}, 1, 2, scenario="other", scenario_hash="o", suite_id="later")
    (group,) = as_json(capsys, old, new)
    assert any(note.startswith("other: ") for note in group["notes"])


@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        (["--baseline", "evry-2min"], ["--baseline: ", '"every-2min"', "[unknown-name]"]),
        (["--only", "every"], ["--only: ", "every-2min", "[unknown-name]"]),
        (["--only", "never"], ["--baseline never: ", "[nothing-to-compare]"]),
        (["--metric", "query_mean"], ["--metric: ", '"query_mean_s"', "[unknown-name]"]),
        (["--sitting-sd", "5"], ["--sitting-sd 5: ", "[invalid]"]),
        (["--sitting-sd", "none.json"], ["--sitting-sd none.json: ", "[unreadable]"]),
    ],
)
def test_what_cannot_be_meant_is_one_clear_error(capsys, results, arguments, texts):
    error = refusal(capsys, results, *arguments)
    assert all(text in error for text in texts)


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        ("files_end>1.1", "[not-a-condition]"),
        ("files_end=1.1x", "[not-a-condition]"),
        ("files_end>-1x", "[not-a-condition]"),
        ("files_end>1x or so", "[not-a-condition]"),
        ("x", "[not-a-condition]"),
        ("fles_end>1x", 'did you mean "files_end"?'),
        ("files_end>0x", "above 0"),
    ],
)
def test_an_invalid_condition_is_an_error_with_its_text(capsys, results, condition, text):
    error = refusal(capsys, results, "--baseline", "never", "--fail-if", condition)
    assert f"--fail-if {condition!r}: " in error
    assert text in error


def test_folders_without_a_common_strategy_are_an_error(capsys, tmp_path):
    build_results(tmp_path / "a", {"never": None}, 1, 2)
    build_results(tmp_path / "b", {"every-2min": 2}, 1, 2, suite_id="later")
    assert "in both" in refusal(capsys, tmp_path / "a", tmp_path / "b")


def test_the_folder_is_results_and_the_baseline_never_unless_told_otherwise(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "results: no such folder" in refusal(capsys)
    build_results(tmp_path / "results", STRATEGIES, 3, 5)
    (group,) = as_json(capsys)
    assert group["folders"] == {"pooled": ["results"]}
    assert {c["against"] for c in group["comparisons"]} == {"never"}
    only = build_results(tmp_path / "only", {"every-2min": 2, "every-10min": 10}, 3, 5)
    assert "--baseline 'every-2min'" in refusal(capsys, only)


def test_two_figures_have_one_unit():
    assert figures("s", 0.0718, 0.0004) == ("71.8 ms", "0.4 ms")
    assert figures("s", 0.35, 1.2) == ("0.35 s", "1.2 s")
    assert figures("s", 4000.0, None) == ("4,000 s", "\N{EN DASH}")
    assert figures("bytes", 1536, 3 * 2**20) == ("0.00146 MiB", "3 MiB")
    assert figures("count", 1440, 8) == ("1,440", "8")


def test_decided_comparisons_come_first_and_the_confirmatory_ones_of_them(capsys, results):
    _, out, _ = compare(capsys, results, "--baseline", "every-10min", "--metric", "all", "--all")
    table = [line for line in out.splitlines() if line.startswith(("never ", "every-2min "))]
    decided = [bool(re.search(r" (more|less)\b", line)) for line in table]
    assert decided == sorted(decided, reverse=True)
    assert 0 < sum(decided) < len(decided)
    assert table[0].split()[1] in ("compaction_cpu_s", "query_mean_s")


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_no_number_is_broken_at_any_width(capsys, results, monkeypatch, width):
    monkeypatch.setattr(output.OUT, "_width", width)
    (group,) = as_json(capsys, results, "--baseline", "never", "--metric", "all")
    _, out, _ = compare(capsys, results, "--baseline", "never", "--metric", "all", "--all")
    table = out[re.search(r"^strategy  ?", out, re.M).start() :]  # of the titles, or of the first block
    assert max(map(len, table.splitlines())) <= max(width, 60)
    words = table.split()
    assert all(c["strategy"] in words and c["metric"] in words for c in group["comparisons"])
    ratios = [
        human_ratio(c["ratio"]) for c in group["comparisons"] if c["method"] == "paired t on log ratios"
    ]
    assert all(ratio in words for ratio in ratios)


def test_old_and_new_say_what_they_assume_of_sittings(capsys, old_and_new, tmp_path):
    (group,) = as_json(capsys, *old_and_new)
    assert any("--sitting-sd" in note for note in group["notes"])
    query = interval(group, "never")
    (group,) = as_json(capsys, *old_and_new, "--sitting-sd", "0.05")
    assert "5 % (1 sd)" in " ".join(group["notes"])
    widened = interval(group, "never")
    assert widened[0] < query[0] < query[1] < widened[1]
    measured = tmp_path / "sittings.json"
    measured.write_text(sittings(sd="0.05"))
    (group,) = as_json(capsys, *old_and_new, "--sitting-sd", measured)
    assert any("as `trust` measured" in note for note in group["notes"])
    wider = interval(group, "never")  # three degrees of freedom instead of certainty
    assert wider[0] < widened[0] < widened[1] < wider[1]


def test_timings_that_a_file_of_sitting_effects_does_not_cover_are_named(capsys, old_and_new, tmp_path):
    measured = tmp_path / "sittings.json"
    measured.write_text(sittings(sd="0.05"))
    chosen = ("--metric", "query_mean_s", "--metric", "query_p95_s", "--sitting-sd", measured)
    (group,) = as_json(capsys, *old_and_new, *chosen)
    assert any("as `trust` measured" in note for note in group["notes"])
    assert any(" in query_p95_s, " in note for note in group["notes"])
    measured.write_text(sittings("query_p50_s"))
    (group,) = as_json(capsys, *old_and_new, *chosen)
    assert not any("are widened" in note for note in group["notes"])
    assert any(" in query_mean_s, query_p95_s, " in note for note in group["notes"])


def interval(group, strategy):
    """The ends of the interval of the mean latency of a strategy."""
    return next(
        (c["low"], c["high"])
        for c in group["comparisons"]
        if (c["strategy"], c["metric"]) == (strategy, "query_mean_s")
    )


def sittings(metric="query_mean_s", sd="0.1", sittings="4"):
    """A file of sitting effects."""
    return f'{{"{metric}": {{"sd": {sd}, "sittings": {sittings}}}}}'


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("nothing", ["invalid JSON"]),
        ("{}", ["at least 1"]),
        (sittings(sd="2"), ["query_mean_s.sd", "less than 1"]),
        (sittings(sd="NaN"), ["query_mean_s.sd"]),
        (sittings(sittings="1"), ["query_mean_s.sittings", "2"]),
        (sittings("query_men_s"), ["'query_men_s'", 'did you mean "query_mean_s"?']),
        (sittings("compactions"), ["'compactions'"]),
    ],
)
def test_a_file_that_is_none_of_sitting_effects_is_one_clear_error(
    capsys, old_and_new, tmp_path, content, words
):
    path = tmp_path / "sittings.json"
    path.write_text(content)
    error = refusal(capsys, *old_and_new, "--sitting-sd", path)
    assert f"--sitting-sd {path}: " in error
    assert all(word.lower() in error.lower() for word in words)


def test_several_sittings_a_side_are_compared_by_their_means(capsys, tmp_path):
    for side in ("old", "new"):
        for sitting, day in (("one", 5), ("two", 7)):
            made = build_results(
                tmp_path / side / sitting,
                {"never": None},
                2,
                5,
                suite_id=sitting + side,
                started_utc=f"2026-01-0{day}T08:00:00Z",
                seed=ord(sitting[0]),
            )
            for run in (made / "append-small").iterdir():
                run.rename(folder_of(tmp_path / side / "append-small") / f"{sitting}-{run.name}")
        manifests(tmp_path / side, {"seed": 42})
    (group,) = as_json(capsys, tmp_path / "old", tmp_path / "new")
    query = next(c for c in group["comparisons"] if c["metric"] == "query_mean_s")
    assert (query["method"], query["n"], query["runs"], query["against_runs"]) == (
        "t on means of sittings", 4, 4, 4,
    )  # fmt: skip
    assert any("means" in note for note in group["notes"])


def folder_of(path):
    path.mkdir(exist_ok=True)
    return path
