import csv
import io
import json
import re
import shutil
from dataclasses import replace

import pytest
from result_builder import build_results

from bench.cli.fail_if import parse_limit
from bench.cli.main import main
from bench.errors import ScenarioError
from bench.results.rows import METRICS
from reports.compare import compare as compare_values

STRATEGIES = {"never": None, "every-10min": 10, "every-2min": 2}


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
    assert lines[0] == "append-small: append on iceberg, real"
    assert lines[1] == "each strategy compared with never"
    assert lines[2] == f"pooled: 9 runs from {results}: never 3, every-10min 3, every-2min 3"
    assert lines[3].startswith("ratio: strategy / never, with its 95 % interval; of ")
    assert lines[4].split() == [
        "strategy", "metric", "figure", "never", "ratio", "95", "%", "interval", "n", "method", "verdict",
    ]  # fmt: skip
    query = next(line for line in lines if line.startswith("every-2min") and "query_mean_s" in line)
    assert re.search(r" 0\.\d+x +0\.\d+ to 0\.\d+ +3 +paired t +less, better$", query.rstrip())
    files = next(line for line in lines if line.startswith("every-10min") and "files_end" in line)
    assert re.search(r"1 +160 +1/160 +\S +3 +exact +less, better$", files.rstrip())  # 1 of 20 x 8 files


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
    assert "each strategy compared with never" in err
    assert "every-2min: files_end <= 1x: holds" in err


def test_markdown_is_a_pipe_table_with_labels_as_code(capsys, results):
    code, out, _ = compare(
        capsys, results, "--baseline", "never", "--format", "markdown", "--fail-if", "files_end>1x"
    )
    assert code == 0
    assert out.startswith("### append-small: append on iceberg, real\n")
    assert "| `every-2min` | query\\_mean\\_s |" in out
    assert "| `every-2min` | files\\_end \\<= 1x | holds |" in out


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
    assert "compaction_money" not in compared  # the scenario gives no price


def test_pairs_are_those_of_one_suite_and_groups_are_compared_where_there_is_none(capsys, tmp_path):
    build_results(tmp_path / "a", {"never": None}, 3, 10)
    build_results(tmp_path / "b", {"every-2min": 2}, 2, 10, suite_id="later")
    (group,) = as_json(capsys, tmp_path / "a", tmp_path / "b", "--baseline", "never")
    query = next(c for c in group["comparisons"] if c["metric"] == "query_mean_s")
    assert (query["method"], query["n"], query["runs"], query["against_runs"]) == (
        "Welch's t on logs",
        2,
        2,
        3,
    )
    _, out, _ = compare(capsys, tmp_path / "a", tmp_path / "b", "--baseline", "never")
    assert re.search(r"query_mean_s.* 2 / 3 +Welch's t", out)


def test_two_folders_are_old_and_new_and_each_strategy_meets_itself(capsys, old_and_new):
    old, new = old_and_new
    (group,) = as_json(capsys, old, new)
    assert group["compared"] == f"new ({new}) compared with old ({old}), each strategy with itself"
    assert group["runs"] == {
        "old": {"never": 3, "every-2min": 3, "gone": 3},
        "new": {"added": 4, "never": 4, "every-2min": 4},
    }
    assert {(c["strategy"], c["against"]) for c in group["comparisons"]} == {
        ("never", "never"), ("every-2min", "every-2min"),
    }  # fmt: skip
    assert group["notes"] == [
        "gone ran in the old results only", "added ran in the new results only",
    ]  # fmt: skip
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
    assert any("are the folders in the right order?" in note for note in group["notes"])


def test_two_folders_with_a_baseline_are_pooled(capsys, old_and_new):
    (group,) = as_json(capsys, *old_and_new, "--baseline", "never")
    assert group["runs"] == {"pooled": {"never": 7, "every-2min": 7, "gone": 3, "added": 4}}
    query = next(
        c for c in group["comparisons"] if (c["strategy"], c["metric"]) == ("every-2min", "query_mean_s")
    )
    assert (query["method"], query["n"]) == ("paired t on log ratios", 7)


@pytest.mark.parametrize(
    ("condition", "code", "outcome"),
    [
        ("files_end>1.1x", 0, "holds"),
        ("files_end<0.5x", 1, "broken"),
        ("query_mean_s>1x", 0, "holds"),
        ("query_mean_s<0.99x", 1, "broken"),
        ("write_amplification>=1x", 1, "broken"),
    ],
)
def test_a_condition_breaks_only_where_it_is_proven(capsys, results, condition, code, outcome):
    arguments = [results, "--baseline", "never", "--only", "every-2min", "--fail-if", condition]
    (group,) = as_json(capsys, *arguments, code=code)
    (tested,) = group["conditions"]
    assert (tested["condition"], tested["outcome"], tested["strategy"]) == (condition, outcome, "every-2min")
    assert as_json(capsys, *arguments, "--strict", code=code)


def test_undecided_passes_unless_strict(capsys, old_and_new):
    (group,) = as_json(capsys, *old_and_new, "--only", "never", "--metric", "query_mean_s")
    (found,) = group["comparisons"]
    condition = f"query_mean_s>{(found['low'] + found['ratio']) / 2:.6f}x"
    arguments = [*old_and_new, "--only", "never", "--fail-if", condition]
    code, out, _ = compare(capsys, *arguments)
    assert code == 0
    assert re.search(
        r"never +query_mean_s <= \S+ +undecided +.* vs .*: .*x, 95 % interval .* to .*, n = 4 / 3", out
    )
    assert compare(capsys, *arguments, "--strict")[0] == 1


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
    assert [" ".join(t[:5]) for t in tested] == [
        "every-10min files_end <= 1x holds", "every-2min files_end <= 1x holds",
        "every-10min compaction_added_bytes >= 1x undecided",
        "every-2min compaction_added_bytes >= 1x undecided",
        "every-10min compactions >= 2x holds", "every-2min compactions >= 2x holds",
    ]  # fmt: skip
    assert code == 0
    broken = ["--fail-if", "files_end>1x", "--fail-if", "compactions>1x"]
    assert compare(capsys, results, "--baseline", "every-10min", *broken)[0] == 1


def test_results_without_a_usable_run_are_an_error_not_a_pass(capsys, tmp_path):
    folder = build_results(
        tmp_path, {"never": None, "b": 2}, 1, 2, fate={("never", 1): "failed", ("b", 1): "failed"}
    )
    error = refusal(capsys, folder, "--baseline", "never", "--format", "csv", "--fail-if", "files_end>1x")
    assert "no other strategy has a usable run" in error


def test_a_figure_of_zero_has_no_ratio_and_says_so(capsys, results):
    (group,) = as_json(capsys, results, "--baseline", "never", "--fail-if", "compaction_cpu_s>1x")
    cost = group["comparisons"][0]
    assert (cost["metric"], cost["ratio"], cost["verdict"]) == ("compaction_cpu_s", None, "undecided")
    assert {(t["outcome"], t["reason"]) for t in group["conditions"]} == {
        ("undecided", "values of zero or below have no ratio")
    }


def test_an_exact_rise_from_zero_breaks_any_limit(capsys, results):
    code, out, _ = compare(capsys, results, "--baseline", "never", "--fail-if", "compactions>1x")
    assert re.search(r"every-2min +compactions <= 1x +broken +10 vs 0: the value it is compared with", out)
    assert "limits: 2 broken" in out
    assert code == 1


def test_a_strategy_that_costs_nothing_on_both_sides_breaks_no_limit(capsys, old_and_new):
    arguments = [*old_and_new, "--only", "never", "--fail-if", "compaction_cpu_s>1.1x", "--strict"]
    (group,) = as_json(capsys, *arguments)
    (tested,) = group["conditions"]
    assert (tested["outcome"], tested["verdict"], tested["reason"]) == (
        "holds",
        "equal",
        "both values are 0",
    )


def test_a_single_run_gives_no_estimate_of_noise(capsys, tmp_path):
    folder = build_results(tmp_path, STRATEGIES, 1, 10)
    (group,) = as_json(capsys, folder, "--baseline", "never", "--fail-if", "query_mean_s>1.1x")
    by_metric = {c["metric"]: c for c in group["comparisons"] if c["strategy"] == "every-2min"}
    query = by_metric["query_mean_s"]
    assert (query["verdict"], query["reason"]) == ("undecided", "one pair of runs gives no estimate of noise")
    assert query["ratio"] is not None
    assert by_metric["files_end"]["verdict"] == "less"  # exact figures need no second run
    assert {t["outcome"] for t in group["conditions"]} == {"undecided"}


def test_simulated_figures_have_no_interval_and_times_are_modelled(capsys, tmp_path):
    folder = build_results(tmp_path, STRATEGIES, 1, 10, mode="simulated")
    (group,) = as_json(capsys, folder, "--baseline", "never")
    assert {c["method"] for c in group["comparisons"] if c["against_figure"]} == {"exact"}
    _, out, _ = compare(capsys, folder, "--baseline", "every-10min")
    assert "all figures are exact, modelled or undecided" in out


def test_runs_that_are_not_used_are_reported(capsys, tmp_path):
    fate = {("never", 1): "failed", ("every-2min", 2): "cut off", ("every-10min", 3): "timings_invalid"}
    folder = build_results(tmp_path, STRATEGIES, 3, 10, fate=fate)
    _, out, _ = compare(capsys, folder, "--baseline", "never")
    assert "never 2 (1 failed), every-10min 3 (1 without valid timings), every-2min 2 (1 interrupted)" in out
    (group,) = as_json(capsys, folder, "--baseline", "never", "--metric", "query_mean_s")
    # The invalid timings of the third repetition do not count, nor has the first one a counterpart.
    assert [(c["strategy"], c["n"]) for c in group["comparisons"]] == [("every-10min", 1), ("every-2min", 1)]
    _, out, _ = compare(capsys, folder, "--baseline", "never", "--metric", "query_mean_s")
    assert re.search(
        r"every-10min +query_mean_s .* 1 +\S +undecided: one pair", out
    )  # n are pairs, not 2 / 2


def test_a_side_without_a_usable_run_is_undecided_not_passed_over(capsys, tmp_path):
    old = build_results(tmp_path / "old", {"never": None}, 2, 10)
    fate = {("never", 1): "failed", ("never", 2): "differs"}
    new = build_results(tmp_path / "new", {"never": None}, 2, 10, fate=fate, suite_id="later")
    arguments = [old, new, "--fail-if", "query_mean_s>1.1x"]
    (group,) = as_json(capsys, *arguments)
    (tested,) = group["conditions"]
    assert (tested["outcome"], tested["reason"]) == ("undecided", "one side has no value")
    assert compare(capsys, *arguments, "--strict")[0] == 1


def test_runs_of_two_machines_are_pooled_only_on_request_and_then_reported(capsys, tmp_path):
    build_results(tmp_path / "a", STRATEGIES, 2, 5)
    build_results(tmp_path / "b", STRATEGIES, 2, 5, suite_id="later", machine={"cpu": "Other", "cores": 2})
    arguments = [tmp_path / "a", tmp_path / "b", "--baseline", "never"]
    error = refusal(capsys, *arguments)
    assert f"{tmp_path}/a/append-small/run-iceberg-000 and {tmp_path}/b/append-small/run-iceberg-000" in error
    assert "differ in machine.cpu ('Example CPU' and 'Other')" in error
    assert "--allow-mixed" in error
    code, out, _ = compare(capsys, *arguments, "--allow-mixed")
    assert code == 0
    assert out.index("differs: machine.cpu ('Example CPU' and 'Other')") < out.index("strategy  ")


def test_new_versions_are_reported_and_another_machine_is_refused(capsys, tmp_path):
    old = build_results(tmp_path / "old", STRATEGIES, 2, 5)
    new = build_results(
        tmp_path / "new", STRATEGIES, 2, 5, suite_id="later", git={"commit": "f00", "dirty": False}
    )
    code, out, _ = compare(capsys, old, new)
    assert code == 0
    assert "differs: git.commit ('0123456789abcdef' and 'f00')" in out
    manifests(new, {"memory_bytes": 10**9})
    assert "differ in memory_bytes (2000000000 and 1000000000)" in refusal(capsys, old, new)
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
        assert "differ in mode ('real' and 'simulated')" in error


@pytest.mark.parametrize("field", ["scenario_hash", "change_log_hash"])
@pytest.mark.parametrize("baseline", [(), ("--baseline", "never")])
def test_another_stream_is_never_compared(capsys, tmp_path, field, baseline):
    one = build_results(tmp_path / "one", {"never": None, "b": 2}, 2, 5)
    other = build_results(tmp_path / "other", {"never": None, "b": 2}, 2, 5, suite_id="later", **{field: "x"})
    assert f"differ in {field} (" in refusal(capsys, one, other, *baseline, "--allow-mixed")


def test_a_copy_of_the_same_runs_is_no_new_result(capsys, tmp_path):
    old = build_results(tmp_path / "old", STRATEGIES, 2, 5)
    shutil.copytree(old, tmp_path / "copy")
    assert "the same run is on both sides" in refusal(capsys, old, tmp_path / "copy")
    assert "the same run is on both sides" in refusal(capsys, old, old)


def test_scenarios_are_kept_apart_and_what_cannot_be_compared_is_reported(capsys, tmp_path):
    build_results(tmp_path, {"never": None, "every-2min": 2}, 2, 5)
    build_results(tmp_path, {"every-2min": 2}, 2, 5, scenario="other", scenario_hash="o")
    first, second = as_json(capsys, tmp_path, "--baseline", "never")
    assert (first["scenario"], second["scenario"]) == ("append-small", "other")
    assert (bool(first["comparisons"]), second["comparisons"]) == (True, [])
    assert second["notes"] == ["never did not run here: nothing to compare with"]


def test_a_scenario_of_one_folder_only_is_reported(capsys, tmp_path, old_and_new):
    old, new = tmp_path / "old", tmp_path / "new"
    for source, target in zip(old_and_new, (old, new), strict=True):
        shutil.copytree(source, target)
    build_results(new, {"never": None}, 1, 2, scenario="other", scenario_hash="o", suite_id="later")
    (group,) = as_json(capsys, old, new)
    assert "other: append on iceberg, real is in one folder only" in group["notes"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ["--baseline", "evry-2min"],
            "--baseline 'evry-2min': no such strategy here; did you mean \"every-2min\"?",
        ),
        (["--baseline", "never", "--only", "every"], "--only 'every': no such strategy here"),
        (["--baseline", "never", "--only", "never"], "or --only excludes all of them"),
        (
            ["--baseline", "never", "--metric", "query_mean"],
            "--metric 'query_mean': no such metric; did you mean",
        ),
        (
            ["--baseline", "never", "--strict"],
            "--strict: there is no limit to be strict about; add --fail-if",
        ),
        ([], "1 folder without --baseline: name the strategy"),
    ],
)
def test_what_cannot_be_meant_is_one_clear_error(capsys, results, arguments, text):
    assert text in refusal(capsys, results, *arguments)


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        ("files_end>1.1", "not a condition; write a metric"),
        ("files_end=1.1x", "not a condition"),
        ("files_end>-1x", "not a condition"),
        ("files_end>1x or so", "not a condition"),
        ("", "not a condition"),
        ("fles_end>1x", "unknown metric 'fles_end'; did you mean \"files_end\"?"),
        ("files_end>0x", "the ratio must be above 0"),
    ],
)
def test_an_invalid_condition_is_an_error_with_its_text(capsys, results, condition, text):
    error = refusal(capsys, results, "--baseline", "never", "--fail-if", condition)
    assert f"--fail-if {condition!r}: " in error
    assert text in error


def test_folders_without_a_common_strategy_are_an_error_not_a_pass(capsys, tmp_path):
    build_results(tmp_path / "a", {"never": None}, 1, 2)
    build_results(tmp_path / "b", {"every-2min": 2}, 1, 2, suite_id="later")
    assert "no strategy has a usable run in both" in refusal(
        capsys, tmp_path / "a", tmp_path / "b", "--fail-if", "files_end>1x"
    )


@pytest.mark.parametrize(
    ("sign", "outcomes"),  # of intervals below, ending at, around, beginning at and above 1.1
    [
        (">", ["holds", "holds", "undecided", "undecided", "broken"]),
        (">=", ["holds", "undecided", "undecided", "broken", "broken"]),
        ("<", ["broken", "undecided", "undecided", "holds", "holds"]),
        ("<=", ["broken", "broken", "undecided", "undecided", "holds"]),
    ],
)
def test_a_limit_is_broken_where_the_whole_interval_lies_beyond(sign, outcomes):
    template = compare_values([1.1, 1.2], [1.0, 1.0])
    intervals = [(1.0, 1.05), (1.0, 1.1), (1.05, 1.15), (1.1, 1.2), (1.15, 1.2)]
    limit = parse_limit(f"files_end {sign} 1.1x")
    assert [limit.outcome(replace(template, low=low, high=high)) for low, high in intervals] == outcomes


@pytest.mark.parametrize(
    ("sign", "outcome"), [(">", "holds"), (">=", "broken"), ("<", "holds"), ("<=", "broken")]
)
def test_an_exact_ratio_at_the_limit_is_decided(sign, outcome):
    assert parse_limit(f"files_end{sign}2x").outcome(compare_values([4], [2], exact=True)) == outcome


def test_a_limit_is_printed_as_what_must_be_so():
    limit = parse_limit(" files_end >=1.10 x ")
    assert (limit.condition, limit.kept) == ("files_end>=1.1x", "files_end < 1.1x")
    with pytest.raises(ScenarioError):
        parse_limit("files_end>1e3x")
