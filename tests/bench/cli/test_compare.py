import json
import re
import shutil

import pytest
from beyond_fit import results_beyond_fit
from result_builder import build_results

from bench.cli.comparison_output import figures
from bench.cli.output import OUT
from bench.results.folders import load_runs
from bench.results.metrics import METRICS

STRATEGIES = {"never": None, "every-10min": 10, "every-2min": 2}
TWO = {"never": None, "every-2min": 2}
LATER = {"suite_id": "later", "started_utc": "2026-01-06T09:00:00Z"}
AGAINST_NEVER = ("--baseline", "never")

pytestmark = pytest.mark.usefixtures("wide")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Three repetitions of three strategies over 20 commits."""
    return build_results(tmp_path_factory.mktemp("results"), STRATEGIES, 3, 20)


@pytest.fixture(scope="module")
def old_and_new(tmp_path_factory):
    """Two strategies of each are also in the other; only the seedless noise differs between them."""
    folder = tmp_path_factory.mktemp("both")
    old = build_results(folder / "old", {**TWO, "gone": 5}, 3, 20)
    return old, build_results(folder / "new", {"added": 5, **TWO}, 4, 20, **LATER)


@pytest.fixture
def compare(compactbench):
    return lambda *words, code=0: compactbench("compare", *words, code=code)


@pytest.fixture
def groups(compare):
    """The groups of the JSON answer."""

    def run(*words):
        printed = compare(*words, "--format", "json")
        assert printed.err == ""
        return printed.json["groups"]

    return run


@pytest.fixture
def refusal(compare):
    """The text of a refusal: exit code 2 and nothing on stdout."""

    def run(*words):
        printed = compare(*words, code=2)
        assert printed.out == ""
        return " ".join(printed.err.split())

    return run


def of(group, strategy, metric):
    """The comparison of one strategy by one metric."""
    (comparison,) = (c for c in group["comparisons"] if (c["strategy"], c["metric"]) == (strategy, metric))
    return comparison


def picked(comparison, *keys):
    return tuple(comparison[key] for key in keys)


def test_the_table_says_first_what_was_compared_and_how_surely(compare, results):
    printed = compare(results, *AGAINST_NEVER)
    assert printed.err == ""
    lines = printed.out.splitlines()
    assert lines[0].startswith("append-small: ")
    assert f"9 runs from {results}: " in lines[2]
    assert lines[3] == "ratio: strategy / never, with its 95 % interval"
    head = lines[lines.index("query_mean_s") + 1]
    assert " ".join(head.split()) == "strategy figure never ratio 95 % interval runs verdict"
    query, files, tail = (
        next(line for line in lines[lines.index(metric) :] if line.startswith(label))
        for label, metric in (
            ("every-2min", "query_mean_s"),
            ("every-10min", "files_end"),
            ("every-2min", "query_p95_s"),
        )
    )
    assert re.search(r" 0\.\d+x +0\.\d+ to 0\.\d+ +3 / 3 ", query)
    assert query.endswith("less, better")
    assert files.split()[1:5] == ["1", "160", "1/160", "exact"]  # 1 of 20 x 8 files
    assert tail.rstrip().endswith("less, better (exploratory)")
    assert lines[-1].startswith("query_mean_s: better under every-10min (0.")


def test_simulated_seconds_without_a_verdict_are_marked(compare, tmp_path):
    folder = results_beyond_fit(tmp_path, {"extrapolated": {"query s_per_file": 4.2}})
    printed = compare(folder, "--baseline", "never", "--metric", "query_mean_s", "--metric", "files_end")
    lines = printed.out.splitlines()
    query, files = (
        next(line for line in lines[lines.index(metric) :] if line.startswith("every-2min"))
        for metric in ("query_mean_s", "files_end")
    )
    assert re.match(r"every-2min +~[\d.]+ m?s +\d", query)  # its own figure, and not that of the baseline
    assert "~" not in files
    assert "~ no verdict on this figure: the cost model does not cover it" in lines
    assert "as were measured" in printed.words
    markdown = compare(folder, "--baseline", "never", "--format", "markdown").out
    assert r"| \~" in markdown  # a bare tilde may begin a deletion


def test_figures_fit_into_eighty_columns(compare, results, monkeypatch):
    monkeypatch.setattr(OUT, "_width", 80)
    lines = compare(results, *AGAINST_NEVER).out.splitlines()
    assert max(map(len, lines)) <= 80
    figures = next(line for line in lines[lines.index("query_mean_s") :] if line.startswith("every-2min"))
    assert re.match(r"every-2min +[\d.]+ ms +[\d.]+ ms +0\.\d+x +0\.\d+ to 0\.\d+ ", figures)


def test_json_has_every_figure_of_every_comparison(groups, results):
    (group,) = groups(results, *AGAINST_NEVER)
    assert picked(group, "scenario", "mode", "differences") == ("append-small", "real", [])
    assert group["runs"] == {"pooled": {"never": 3, "every-10min": 3, "every-2min": 3}}
    query = of(group, "every-2min", "query_mean_s")
    assert query["low"] < query["ratio"] < query["high"] < 1
    assert picked(query, "n", "method", "verdict", "judged") == (
        3, "moderated t", "less", "better",
    )  # fmt: skip
    assert of(group, "every-2min", "write_amplification")["judged"] == "worse"
    assert {c["metric"] for c in group["comparisons"]} == {
        "compaction_cpu_s", "query_mean_s", "query_p95_s", "write_amplification", "read_amplification",
        "space_amplification", "files_end",
    }  # fmt: skip


def test_csv_has_a_line_a_comparison_and_the_words_on_stderr(compare, results):
    printed = compare(results, *AGAINST_NEVER, "--format", "csv", "--fail-if", "files_end>1x")
    lines = printed.csv
    assert {line["strategy"] for line in lines} == {"every-10min", "every-2min"}
    assert {"scenario", "metric", "ratio", "low", "high", "n", "method", "verdict"} <= lines[0].keys()
    assert "compared with never" in printed.err
    assert ": files_end <= 1x: holds" in printed.err


def test_metrics_and_strategies_can_be_chosen(groups, results):
    metrics = ["--metric", "files_end", "--metric", "ingested_bytes"]
    (group,) = groups(results, *AGAINST_NEVER, *metrics, "--only", "every-2min")
    assert [picked(c, "strategy", "metric", "judged") for c in group["comparisons"]] == [
        ("every-2min", "files_end", "better"),
        ("every-2min", "ingested_bytes", ""),  # neither direction is better
    ]
    (group,) = groups(results, "--baseline", "every-10min", "--metric", "all")
    compared = [c["metric"] for c in group["comparisons"] if c["strategy"] == "every-2min"]
    assert compared == [m.name for m in METRICS if m.name in compared]
    assert "commit_p95_s" in compared
    assert "money_per_day" not in compared  # the scenario gives no price


def test_a_side_of_two_runs_has_no_interval(groups, compare, tmp_path):
    build_results(tmp_path / "a", {"never": None}, 3, 10)
    build_results(tmp_path / "b", {"every-2min": 2}, 2, 10, suite_id="later")
    words = [tmp_path / "a", tmp_path / "b", *AGAINST_NEVER]
    query = of(*groups(*words), "every-2min", "query_mean_s")
    assert picked(query, "n", "runs", "against_runs") == (2, 2, 3)
    assert re.search(r"query_mean_s\n.*\n.* 2 / 3 +undecided: ", compare(*words).out)


def test_two_folders_are_old_and_new_and_each_strategy_is_compared_with_itself(groups, old_and_new):
    old, new = old_and_new
    (group,) = groups(old, new)
    assert group["folders"] == {"old": [str(old)], "new": [str(new)]}
    assert group["runs"] == {
        "old": {"never": 3, "every-2min": 3, "gone": 3},
        "new": {"added": 4, "never": 4, "every-2min": 4},
    }
    assert {picked(c, "strategy", "against") for c in group["comparisons"]} == {
        ("never", "never"), ("every-2min", "every-2min"),
    }  # fmt: skip
    assert [note.split()[0] for note in group["notes"][1:]] == ["gone", "added"]
    query = of(group, "never", "query_mean_s")
    assert picked(query, "method", "n", "runs", "against_runs") == ("moderated t", 3, 4, 3)
    assert query["figure"] / query["against_figure"] == pytest.approx(query["ratio"], rel=0.01)
    (group,) = groups(new, old)
    assert any("right order?" in note for note in group["notes"])


def test_the_ratio_is_new_over_old(groups, tmp_path):
    old = build_results(tmp_path / "old", {"every-2min": 2}, 3, 10)
    new = build_results(tmp_path / "new", {"every-2min": 5}, 3, 10, suite_id="later", strategy_hash="other")
    (group,) = groups(old, new, "--metric", "compactions")
    (compactions,) = group["comparisons"]
    assert picked(compactions, "figure", "against_figure", "ratio") == (2, 5, 0.4)
    assert [d["field"] for d in group["differences"]] == ["strategy_hash"]


def test_two_folders_with_a_baseline_are_pooled(groups, old_and_new):
    (group,) = groups(*old_and_new, *AGAINST_NEVER)
    assert group["runs"] == {"pooled": {"never": 7, "every-2min": 7, "gone": 3, "added": 4}}
    query = of(group, "every-2min", "query_mean_s")
    assert picked(query, "method", "n") == ("moderated t", 7)


def test_each_condition_is_tested_on_each_strategy_and_one_broken_is_enough(compare, results):
    limits = ("files_end > 1x", "compaction_added_bytes<1x", "compactions<2x")
    conditions = [word for limit in limits for word in ("--fail-if", limit)]
    lines = compare(results, *AGAINST_NEVER, *conditions, "--metric", "files_end").out.splitlines()
    tested = [line.split() for line in lines if "x " in line and ("<=" in line or ">=" in line)]
    assert [(label, metric, outcome) for label, metric, _, _, outcome, *_ in tested] == [
        (label, metric, "holds")
        for metric in ("files_end", "compaction_added_bytes", "compactions")
        for label in ("every-10min", "every-2min")
    ]
    broken = ["--fail-if", "files_end>1x", "--fail-if", "compactions>1x"]
    compare(results, "--baseline", "every-10min", *broken, code=1)


def test_an_exact_copy_under_another_name_passes_a_limit_of_a_quarter(compare, tmp_path):
    old, new = (build_results(tmp_path / name, TWO, 5, 20, suite_id=name) for name in ("old", "new"))
    compare(old, new, "--fail-if", "compaction_cpu_s>1.25x", "--fail-if", "files_end>1x")


def test_a_plan_says_how_many_repetitions_a_limit_needs(groups, results):
    (loose,), (strict,) = (groups(results, *AGAINST_NEVER, "--plan", ratio) for ratio in ("1.5x", "1.02x"))
    for group, enough in ((loose, "3"), (strict, "7")):
        (note,) = (note for note in group["notes"] if note.startswith("query_mean_s: "))
        assert re.match(rf"query_mean_s: {enough} repetitions prove in four of five cases", note)


def test_a_cost_compared_with_0_is_shown_without_a_ratio(compare, groups, results):
    cost = groups(results, *AGAINST_NEVER)[0]["comparisons"][0]
    assert picked(cost, "metric", "ratio", "verdict") == ("compaction_cpu_s", None, "more")
    for words in ([], ["--all"], ["--metric", "compaction_cpu_s"]):
        row = r"compaction_cpu_s\n(.*\n)+?every-2min +[\d.]+ s +0 s +.* more, worse: "
        assert re.search(row, compare(results, *AGAINST_NEVER, *words).out)


def test_other_figures_compared_with_0_are_left_out_unless_they_are_named(compare, results):
    printed = compare(results, *AGAINST_NEVER, "--metric", "all").out
    assert "\ncompactions\n" not in printed
    assert "(--all shows all)" in printed
    printed = compare(results, *AGAINST_NEVER, "--metric", "compactions").out
    assert re.search(r"\ncompactions\n(.*\n)+?every-2min +10 +0 +\S ", printed)


@pytest.mark.parametrize("metric", ["compactions", "compaction_cpu_s"])
def test_a_rise_from_zero_breaks_any_limit(compare, results, metric):
    printed = compare(results, *AGAINST_NEVER, "--fail-if", f"{metric}>1x", code=1).out
    assert re.search(rf"every-2min +{metric} <= 1x +broken +\d.* vs 0", printed)
    assert "limits: 2 broken" in printed


def test_a_strategy_that_costs_nothing_on_both_sides_breaks_no_limit(groups, old_and_new):
    (group,) = groups(*old_and_new, "--only", "never", "--fail-if", "compaction_cpu_s>1.1x")
    (tested,) = group["conditions"]
    assert picked(tested, "outcome", "verdict", "reason") == ("holds", "equal", "both values are 0")


def test_a_single_run_gives_no_interval(groups, tmp_path):
    (group,) = groups(build_results(tmp_path, STRATEGIES, 1, 10), *AGAINST_NEVER)
    query = of(group, "every-2min", "query_mean_s")
    assert picked(query, "verdict", "n", "low", "p") == ("undecided", 1, None, None)
    assert query["ratio"] is not None
    assert of(group, "every-2min", "files_end")["verdict"] == "less"  # counts need no second run
    written = of(group, "every-2min", "write_amplification")
    assert picked(written, "method", "tolerance") == ("tolerance", 0.02)


def test_simulated_figures_are_modelled_never_exact(groups, compare, tmp_path):
    folder = build_results(tmp_path, STRATEGIES, 1, 10, mode="simulated")
    (group,) = groups(folder, *AGAINST_NEVER)
    assert {c["method"] for c in group["comparisons"]} == {"modelled"}
    tables, _ = compare(folder, "--baseline", "every-10min").out.rsplit("\n\n", 1)
    last = tables.splitlines()[-1].split()
    assert "modelled" in last
    assert not {"exact", "to"} & set(last)


def test_runs_that_are_not_used_are_reported(groups, compare, tmp_path):
    fate = {("never", 1): "failed", ("every-2min", 2): "cut off", ("every-10min", 3): "timings_invalid"}
    folder = build_results(tmp_path, STRATEGIES, 3, 10, fate=fate)
    words = [folder, *AGAINST_NEVER, "--metric", "query_mean_s"]
    compared = compare(*words)
    printed, grave = compared.out, compared.err
    assert "append-small: never (repetition 1) failed: boom: <the disk> is full." in grave
    assert "append-small: every-2min (repetition 2) was interrupted." in grave
    assert "every-10min" not in grave  # its figures are used, but not its timings
    unused = ("never 2 (1 failed)", "(1 without valid timings)", "(1 interrupted)")
    assert all(text in printed for text in unused)
    assert re.search(r"query_mean_s\n.*\nevery-10min .* 2 / 2 +undecided: ", printed)
    (group,) = groups(*words)
    assert [picked(c, "strategy", "runs", "against_runs") for c in group["comparisons"]] == [
        ("every-10min", 2, 2), ("every-2min", 2, 2),
    ]  # fmt: skip


def test_runs_of_two_machines_are_pooled_only_on_request_and_then_reported(compare, refusal, tmp_path):
    build_results(tmp_path / "a", TWO, 2, 5)
    build_results(tmp_path / "b", TWO, 2, 5, suite_id="later", machine={"cpu": "Other", "cores": 2})
    words = [tmp_path / "a", tmp_path / "b", *AGAINST_NEVER]
    error = refusal(*words)
    folders = [f"in {tmp_path}/{name}/append-small/run-iceberg-000" for name in "ab"]
    parts = ("machine.cpu", "'Example CPU'", "'Other'", "--allow-mixed", *folders)
    assert all(part in error for part in parts)
    printed = compare(*words, "--allow-mixed").out
    assert printed.index("differs: machine.cpu") < printed.index("strategy  ")


def test_new_versions_are_reported_and_another_machine_is_refused(compare, groups, refusal, tmp_path):
    old = build_results(tmp_path / "old", TWO, 2, 5)
    commit = {"suite_id": "later", "git": {"commit": "f00", "dirty": False}}
    assert "differs: git.commit" in compare(old, build_results(tmp_path / "new", TWO, 2, 5, **commit)).out
    smaller = build_results(tmp_path / "smaller", TWO, 2, 5, **commit, memory_bytes=10**9)
    assert "memory_bytes: " in refusal(old, smaller)
    (group,) = groups(old, smaller, "--allow-mixed")
    assert [d["field"] for d in group["differences"]] == ["memory_bytes", "git.commit"]


def test_measured_and_simulated_runs_are_never_compared(groups, refusal, tmp_path):
    real = build_results(tmp_path / "real", TWO, 2, 5)
    simulated = build_results(tmp_path / "simulated", TWO, 2, 5, suite_id="later", mode="simulated")
    pooled = groups(real, simulated, *AGAINST_NEVER, "--allow-mixed")
    assert [(g["mode"], g["runs"]["pooled"]["never"]) for g in pooled] == [("real", 2), ("simulated", 2)]
    assert "mode: 'real' in " in refusal(real, simulated, "--allow-mixed")


@pytest.mark.parametrize("field", ["scenario_hash", "change_log_hash"])
@pytest.mark.parametrize("baseline", [(), AGAINST_NEVER])
def test_another_stream_is_never_compared(refusal, tmp_path, field, baseline):
    folder = build_results(tmp_path / "one", TWO, 2, 5)
    other = build_results(tmp_path / "other", TWO, 2, 5, suite_id="later", **{field: "x"})
    assert f"{field}: " in refusal(folder, other, *baseline, "--allow-mixed")


def test_a_copy_of_the_same_runs_is_no_new_result(refusal, tmp_path):
    old = build_results(tmp_path / "old", TWO, 2, 5)
    shutil.copytree(old, tmp_path / "copy")
    for copy in (tmp_path / "copy", old):
        assert "[copied-run]" in refusal(old, copy)


def test_scenarios_are_kept_apart_and_what_cannot_be_compared_is_reported(groups, tmp_path):
    build_results(tmp_path, TWO, 2, 5)
    build_results(tmp_path, {"every-2min": 2}, 2, 5, scenario="other", scenario_hash="o")
    first, second = groups(tmp_path, *AGAINST_NEVER)
    assert (first["scenario"], second["scenario"]) == ("append-small", "other")
    assert (bool(first["comparisons"]), second["comparisons"]) == (True, [])
    (note,) = second["notes"]
    assert note.startswith("never did not run")


def test_a_scenario_of_one_folder_only_is_reported(groups, tmp_path):
    old, new = build_results(tmp_path / "old", TWO, 1, 2), build_results(tmp_path / "new", TWO, 1, 2, **LATER)
    build_results(new, {"never": None}, 1, 2, scenario="other", scenario_hash="o", suite_id="later")
    (group,) = groups(old, new)
    assert any(note.startswith("other: ") for note in group["notes"])


@pytest.mark.parametrize(
    ("words", "texts"),
    [
        (["--baseline", "evry-2min"], ["--baseline: ", '"every-2min"', "[unknown-name]"]),
        (["--only", "every"], ["--only: ", "every-2min", "[unknown-name]"]),
        (["--only", "never"], ["--baseline never: ", "[nothing-to-compare]"]),
        (["--metric", "query_mean"], ["--metric: ", '"query_mean_s"', "[unknown-name]"]),
        (["--sitting-sd", "5"], ["--sitting-sd 5: ", "[invalid]"]),
        (["--sitting-sd", "none.json"], ["--sitting-sd none.json: ", "[unreadable]"]),
        *(
            (["--fail-if", condition], [f"--fail-if {condition!r}: ", text])
            for condition, text in {
                "files_end>1.1": "[not-a-condition]",
                "files_end=1.1x": "[not-a-condition]",
                "files_end>-1x": "[not-a-condition]",
                "files_end>1x or so": "[not-a-condition]",
                "x": "[not-a-condition]",
                "fles_end>1x": 'did you mean "files_end"?',
                "files_end>0x": "above 0",
            }.items()
        ),
    ],
)
def test_an_invalid_option_is_one_clear_error(refusal, results, words, texts):
    error = refusal(results, *words)
    assert all(text in error for text in texts)


def test_folders_without_a_common_strategy_are_an_error(refusal, tmp_path):
    build_results(tmp_path / "a", {"never": None}, 1, 2)
    build_results(tmp_path / "b", {"every-2min": 2}, 1, 2, suite_id="later")
    assert "in both" in refusal(tmp_path / "a", tmp_path / "b")


def test_the_folder_is_results_and_the_baseline_never_unless_told_otherwise(
    groups, refusal, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert "results: no such folder" in refusal()
    build_results(tmp_path / "results", STRATEGIES, 3, 5)
    (group,) = groups()
    assert group["folders"] == {"pooled": ["results"]}
    assert {c["against"] for c in group["comparisons"]} == {"never"}
    only = build_results(tmp_path / "only", {"every-2min": 2, "every-10min": 10}, 3, 5)
    assert "--baseline 'every-2min'" in refusal(only)


@pytest.mark.parametrize(
    ("unit", "both", "expected"),
    [
        ("s", (0.0718, 0.0004), ("71.8 ms", "0.4 ms")),
        ("s", (0.35, 1.2), ("0.35 s", "1.2 s")),
        ("s", (4000.0, None), ("4,000 s", "\N{EN DASH}")),
        ("bytes", (1536, 3 * 2**20), ("0.00146 MiB", "3 MiB")),
        ("count", (1440, 8), ("1,440", "8")),
    ],
)
def test_two_figures_have_one_unit(unit, both, expected):
    assert figures(unit, *both) == expected


def test_the_confirmatory_metrics_come_first_and_of_each_the_decided_comparisons(compare, results):
    printed = compare(results, "--baseline", "every-10min", "--metric", "all", "--all").out
    blocks = [block.splitlines() for block in printed.split("\n\n")[1:-1]]
    assert {blocks[0][0], blocks[1][0]} == {"compaction_cpu_s", "query_mean_s"}
    for _, _, *rows in blocks:
        decided = [bool(re.search(r" (more|less)\b", row)) for row in rows]
        assert decided == sorted(decided, reverse=True)


def sittings(metric="query_mean_s", sd="0.1", count="4"):
    """A file of sitting effects."""
    return f'{{"{metric}": {{"sd": {sd}, "sittings": {count}}}}}'


@pytest.fixture
def measured(tmp_path):
    """Where `make trust` has written the effects of sittings: 5 % for the mean latency."""
    path = tmp_path / "sittings.json"
    path.write_text(sittings(sd="0.05"))
    return path


def test_old_and_new_say_what_they_assume_of_sittings(groups, old_and_new, measured):
    intervals = []
    for words, note in (
        ([], "2 % (1 sd): the default"),
        (["--sitting-sd", "0.05"], "5 % (1 sd)"),
        (["--sitting-sd", measured], "as `trust` measured"),  # with three degrees of freedom, not certainty
    ):
        (group,) = groups(*old_and_new, *words)
        assert note in " ".join(group["notes"])
        intervals.append(picked(of(group, "never", "query_mean_s"), "low", "high"))
    lows, highs = zip(*intervals, strict=True)
    assert lows[2] < lows[1] < lows[0] < highs[0] < highs[1] < highs[2]


def test_timings_that_a_file_of_sitting_effects_does_not_cover_are_named(groups, old_and_new, measured):
    words = ("--metric", "query_mean_s", "--metric", "query_p95_s", "--sitting-sd", measured)
    (group,) = groups(*old_and_new, *words)
    assert any("as `trust` measured" in note for note in group["notes"])
    assert any(" in query_p95_s, " in note for note in group["notes"])
    measured.write_text(sittings("query_p50_s"))
    (group,) = groups(*old_and_new, *words)
    assert not any("as `trust` measured" in note for note in group["notes"])
    assert any(" in query_mean_s, query_p95_s, " in note for note in group["notes"])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("nothing", ["invalid JSON"]),
        ("{}", ["at least 1"]),
        (sittings(sd="2"), ["query_mean_s.sd", "less than 1"]),
        (sittings(sd="NaN"), ["query_mean_s.sd"]),
        (sittings(count="1"), ["query_mean_s.sittings", "2"]),
        (sittings("query_men_s"), ["'query_men_s'", 'did you mean "query_mean_s"?']),
        (sittings("compactions"), ["'compactions'"]),
    ],
)
def test_a_file_that_is_none_of_sitting_effects_is_one_clear_error(
    refusal, old_and_new, measured, content, words
):
    measured.write_text(content)
    error = refusal(*old_and_new, "--sitting-sd", measured)
    assert f"--sitting-sd {measured}: " in error
    assert all(word.lower() in error.lower() for word in words)


def test_several_sittings_a_side_are_compared_by_their_means(groups, tmp_path):
    for side in ("old", "new"):
        for sitting, day in (("one", 5), ("two", 7)):
            stamps = {"suite_id": sitting + side, "started_utc": f"2026-01-0{day}T08:00:00Z"}
            made = build_results(tmp_path / sitting, {"never": None}, 2, 5, seed=day, **stamps)
            for run in load_runs(made):
                manifest = json.loads((run.folder / "manifest.json").read_text())
                (run.folder / "manifest.json").write_text(json.dumps(manifest | {"seed": 42}))
                target = tmp_path / side / f"{sitting}-{run.folder.name}"
                target.parent.mkdir(exist_ok=True)
                run.folder.rename(target)
    (group,) = groups(tmp_path / "old", tmp_path / "new")
    query = of(group, "never", "query_mean_s")
    assert picked(query, "method", "n", "runs", "against_runs") == ("t on means of sittings", 4, 4, 4)
    assert any("means" in note for note in group["notes"])
