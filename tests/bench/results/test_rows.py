import json
from dataclasses import replace

import pytest
from records import commit, compaction, end, observed, query, run, truth
from refused import refused
from result_builder import build_results

from bench.results.folders import load_runs
from bench.results.metrics import METRICS
from bench.results.rows import content_of, rows, usable

# What programs that read `show --format json` rely on; never renamed.
KEYS = {
    "scenario", "workload", "format", "mode", "strategy", "variant", "currency", "speed", "runs",
    "failed", "interrupted", "replaced", "timings_invalid",
    "repetitions", "content", "run_values", "probes", "compactions", "noop_compactions",
    "failed_compactions", "vetoed_compactions", "ineffective_compactions", "noop_evaluations",
    "pending_mean_s", "since_compaction_mean_s", "compaction_s", "compaction_cpu_s",
    "compaction_executor_cpu_s", "compaction_jit_cpu_s", "compaction_gc_cpu_s", "jit_share",
    "maintenance_s", "maintenance_cpu_s", "maintenance_freed_bytes", "evaluation_cpu_s", "policy_cpu_s",
    "commit_cpu_s", "compaction_jobs",
    "content_bytes", "data_storage_bytes_end", "metadata_storage_bytes_end", "storage_bytes_end",
    "write_amplification", "compaction_amplification", "read_amplification", "space_amplification",
    "query_mean_s", "query_probed_mean_s", "query_new_session_mean_s",
    "query_p50_s", "query_p95_s", "query_max_s", "query_after_commit_s", "query_before_s",
    "query_after_s", "query_cpu_s", "commit_mean_s", "commit_p95_s", "commit_returned_p95_s", "files_end",
    "deletes_age_mean_s",
    "delete_files_end", "staleness_mean_s", "total_cpu_s", "control_mean_s", "fixed_work_s", "other_cores",
    "delete_files_mean", "delete_rows_end", "delete_rows_mean", "equality_files_end",
    "equality_files_mean", "health_mean", "health_end", "ingested_bytes", "commit_added_bytes",
    "compaction_added_bytes", "compaction_replaced_bytes", "metadata_bytes", "observe_s",
    "overlapped_commits", "duty_cycle", "put_requests", "get_requests", "s3_put_requests",
    "s3_get_requests", "s3_gets_per_query", "compute_money_per_day",
    "query_money_per_day", "storage_money_per_day", "request_money_per_day", "money_per_day",
    "break_even_queries_per_h", "compaction_peak_rss_bytes", "compaction_peak_heap_bytes",
    "commit_since_due_p50_s", "commit_since_due_p95_s", "commit_since_due_p99_s",
    "commit_since_due_max_s", "redone_commits", "lost_compactions", "unfinished_compactions", "wasted_cpu_s",
    "run_delay_s", "run_delay_per_cpu",
    "commit_peak_rss_bytes", "commit_peak_heap_bytes", "query_peak_rss_bytes", "query_peak_heap_bytes",
}  # fmt: skip


def good(strategy="never", repetition=1, wall_s=1.0, compaction_s=None, **changes):
    """A finished run whose content was equal: one probe, and one compaction if it took any time."""
    made = () if compaction_s is None else (compaction(wall_s=compaction_s),)
    return run(
        commit(), query(wall_s), *made, observed(), truth(), end(),
        strategy=strategy, repetition=repetition, **changes,
    )  # fmt: skip


def test_json_has_exactly_the_keys_promised():
    (row,) = rows([good()])
    assert set(row.to_json()) == KEYS
    assert set(row.run_values) == {m.name for m in METRICS}
    assert json.loads(json.dumps(row.to_json()))["runs"] == 1


DELTA = {"label": "delta", "set": {"table.format": "delta"}}


def test_latencies_are_of_the_long_lived_session_where_a_run_has_it():
    def latencies(*queries):
        (row,) = rows([run(commit(), *queries, observed(), truth(), end())])
        return [row.values[name] for name in ("query_mean_s", "query_new_session_mean_s", "query_max_s")]

    assert latencies(query(3.0), query(1.0, session="long-lived")) == [1.0, 3.0, 1.0]
    assert latencies(query(3.0)) == [3.0, 3.0, 3.0]


def test_rows_group_by_scenario_workload_mode_and_strategy():
    runs = [good(), good(repetition=2), good("b"), good(scenario="other"),
            good("never @ delta", format="delta", variant=DELTA), good(mode="simulated"),
            good(workload="upsert")]  # fmt: skip
    places = [(r.scenario, r.workload, r.format, r.mode, r.strategy, r.runs) for r in rows(runs)]
    assert sorted(places) == sorted([
        ("append-small", "append", "iceberg", "real", "never", 2),
        ("append-small", "append", "iceberg", "real", "b", 1),
        ("other", "append", "iceberg", "real", "never", 1),
        ("append-small", "append", "delta", "real", "never @ delta", 1),
        ("append-small", "append", "iceberg", "simulated", "never", 1),
        ("append-small", "upsert", "iceberg", "real", "never", 1),
    ])  # fmt: skip


@pytest.mark.parametrize("strategy", ["never", "b"])
def test_runs_of_two_formats_are_rows_of_one_table_only_as_variants(strategy):
    with refused("mixed-runs", "format"):
        rows([good(), good(strategy, format="delta")])


def test_amplifications_of_all_formats_have_one_denominator():
    runs = [
        run(commit(added_bytes=600), truth(), end(content_bytes=200)),
        run(commit(added_bytes=600), truth(), end(content_bytes=300),
            strategy="never @ delta", format="delta", variant=DELTA),
    ]  # fmt: skip
    assert [row.values["write_amplification"] for row in rows(runs)] == [3.0, 3.0]
    assert [row.values["write_amplification"] for row in rows(runs[1:])] == [2.0]


def test_rows_come_in_the_order_the_strategies_first_ran():
    runs = [good("a", position=2), good("b", position=0), good("c", position=1), good("b", 2, position=3)]
    assert [row.strategy for row in rows(runs)] == ["b", "c", "a"]
    assert [row.strategy for row in rows(runs[::-1])] == ["b", "c", "a"]


def test_rows_come_in_the_order_of_the_scenario_however_they_were_shuffled():
    labels = ["never", "never @ v", "often", "often @ v"]
    variants = [None, {"label": "v", "set": {"table.format_version": 3}}]
    runs = [
        good(label, position=3 - index, strategy_index=index, variant=variants[index % 2])
        for index, label in enumerate(labels)
    ]
    assert [(row.strategy, row.variant) for row in rows(runs)] == [
        ("never", None), ("never @ v", "v"), ("often", None), ("often @ v", "v"),
    ]  # fmt: skip
    assert rows(runs)[1].to_json()["variant"] == "v"


def test_rows_takes_an_iterator():
    assert [row.strategy for row in rows(iter([good("a"), good("b")]))] == ["a", "b"]


@pytest.mark.parametrize("field", ["scenario_hash", "change_log_hash", "strategy_hash"])
def test_runs_of_two_definitions_are_never_pooled(field):
    with refused("mixed-runs", field):
        rows([good(), good(repetition=2, **{field: "other"})])


def test_a_failure_that_was_made_up_for_is_no_longer_counted():
    failed, cut_off = run(end("failed"), run_id="a"), run(repetition=2, run_id="b")
    (row,) = rows([failed, cut_off])
    assert (row.runs, row.failed, row.interrupted) == (0, 1, 1)
    (row,) = rows([failed, cut_off, good(run_id="c"), good(repetition=2, run_id="d")])
    assert (row.runs, row.failed, row.interrupted) == (2, 0, 0)


def test_a_failure_that_was_made_up_for_leaves_no_doubt_about_the_content():
    failed = run(end("failed", timings_invalid=True), run_id="a")
    (row,) = rows([failed, good(run_id="b")])
    assert (row.content, row.timings_invalid) == ("equal", 0)


def test_a_later_suite_comes_later():
    runs = [good("a", suite_id="2", position=0), good("b", suite_id="1", position=9)]
    assert [row.strategy for row in rows(runs)] == ["b", "a"]


def test_values_are_means_over_runs_and_run_values_each_of_them():
    runs = [good(repetition=n, wall_s=wall_s) for n, wall_s in ((3, 3.0), (1, 1.0), (2, 8.0))]
    (row,) = rows(runs)
    assert row.repetitions == (1, 2, 3)
    assert row.run_values["query_mean_s"] == (1.0, 8.0, 3.0)
    assert row.values["query_mean_s"] == 4.0
    assert row.run_values["query_before_s"] == (None, None, None)
    assert row.values["query_before_s"] is None


@pytest.mark.parametrize(
    ("records", "counts", "content"),
    [
        ([end("failed")], (1, 1, 0), "equal"),
        ([], (1, 0, 1), "equal"),  # cut off
        ([truth("differs"), end()], (1, 1, 0), "differs"),
    ],
)
def test_a_run_that_is_not_usable_gives_no_figures_and_is_counted(records, counts, content):
    other = run(query(100.0), *records, repetition=2)
    assert not usable(other)
    (row,) = rows([good(), other])
    assert (row.runs, row.failed, row.interrupted) == counts
    assert (row.content, row.run_values["query_mean_s"]) == (content, (1.0,))


def test_a_difference_found_on_the_way_counts_though_the_last_check_was_equal():
    assert content_of(run(truth("equal"), truth("differs"), truth("equal"), end())) == "differs"
    assert content_of(run(truth("equal"), end())) == "equal"
    assert content_of(run(end())) == "unchecked"


def test_a_row_is_equal_only_when_every_run_was_checked():
    assert rows([good(), good(repetition=2)])[0].content == "equal"
    assert rows([good(), run(end(), repetition=2)])[0].content == "unchecked"
    assert rows([run(repetition=1)])[0].content == "unchecked"
    # A run that was cut off was never checked; it takes nothing from the others.
    assert rows([good(), run(repetition=2)])[0].content == "equal"


def test_a_row_without_a_usable_run_has_no_figures():
    (row,) = rows([run(query(1.0), end("failed"))])
    assert (row.runs, row.failed, row.repetitions) == (0, 1, ())
    assert set(row.values.values()) == {None}
    assert row.probes == {}


def test_perturbed_runs_are_counted_and_time_nothing():
    timings_invalid = run(commit(), query(50.0), truth(), end(timings_invalid=True), repetition=2)
    (row,) = rows([good(), timings_invalid])
    assert (row.runs, row.timings_invalid) == (2, 1)
    assert row.run_values["query_mean_s"] == (1.0, None)
    assert row.values["query_mean_s"] == 1.0
    assert row.probes["first-order"]["query_max_s"] == 1.0


def test_each_probe_has_figures_of_its_own():
    lookup = {"probe": "key", "primary": False}
    records = (
        commit(rows=5),
        query(1.0, planning_s=0.25, execution_s=0.75, files_count=4, opened_bytes=300, version="1"),
        query(3.0, planning_s=0.75, execution_s=2.25, files_count=8, opened_bytes=100, version="1"),
        query(9.0, when="after"),
        query(8.0, when="after_commit"),
        query(0.5, **lookup, delete_files_count=2, opened_bytes=None),
        query(7.0, **lookup, status="failed"),
        observed(live_bytes=100, version="1"),
    )
    (row,) = rows([run(*records, end())])
    assert list(row.probes) == ["first-order", "key"]
    assert row.probes["first-order"] == {
        "query_mean_s": 2.0, "query_probed_mean_s": None, "query_p50_s": 2.0, "query_p95_s": 2.9,
        "query_max_s": 3.0,
        "query_after_commit_s": 8.0, "planning_mean_s": 0.5, "execution_mean_s": 1.5, "files_mean": 6.0,
        "delete_files_mean": 0.0, "opened_bytes_mean": 200.0, "opened_share": 2.0, "read_amplification": 2.0,
    }  # fmt: skip
    unknown = dict.fromkeys(("query_after_commit_s", "opened_share", "read_amplification"))
    expected = {"query_mean_s": 0.5, "delete_files_mean": 2.0, **unknown}
    assert expected.items() <= row.probes["key"].items()


@pytest.mark.parametrize(
    ("at_the_end", "changes", "status"),
    [
        ({"rows": 7}, {}, "unchecked"),
        ({"rows": 3}, {}, "differs"),
        ({"rows": 9}, {}, "differs"),
        ({"rows": 3}, {"options": {"upsert_mode": "merge-on-read"}}, "unchecked"),  # of deleted rows
        ({"rows": 3, "delete_files_count": 1}, {}, "unchecked"),  # a log file of Hudi may hold rows
        ({"rows": None}, {}, "unchecked"),
    ],
)
def test_a_run_whose_table_has_other_rows_than_were_appended_has_lost_some(at_the_end, changes, status):
    commits = (commit(rows=4), commit(rows=3), commit(rows=9, status="failed"))
    records = (*commits, observed(rows=1), observed(**at_the_end))
    assert content_of(run(*records, end(), **changes)) == status
    assert content_of(run(*records, **changes)) == "unchecked"  # interrupted


def test_a_replaced_run_is_counted_and_has_no_figures():
    again = run(commit(), query(3.0), truth(), end())
    first = run(commit(), query(9.0), truth(), end(), run_id="first")
    replaced = replace(first, replaced="a backup ran")
    (row,) = rows([replaced, again])
    assert (row.runs, row.failed, row.interrupted, row.replaced) == (1, 0, 0, ("a backup ran",))
    assert row.values["query_mean_s"] == 3.0
    (alone,) = rows([replaced])
    assert (alone.runs, alone.failed, alone.replaced) == (0, 0, ("a backup ran",))


def test_a_replaced_run_that_lost_rows_is_not_forgotten():
    lost = replace(run(truth("differs"), end(), run_id="first"), replaced="lost rows")
    (row,) = rows([lost, run(truth(), end())])
    assert (row.runs, row.content) == (1, "differs")


def test_rows_of_a_suite_have_each_fate_in_its_place(tmp_path):
    fate = {("never", 1): "failed", ("every-1min", 2): "cut off", ("every-10min", 1): "differs"}
    runs = load_runs(build_results(tmp_path, repetitions=2, ticks=20, fate=fate))
    by_label = {row.strategy: row for row in rows(runs)}
    counts = {label: (r.runs, r.failed, r.interrupted, r.repetitions) for label, r in by_label.items()}
    assert counts == {
        "never": (1, 1, 0, (2,)),
        "every-1min": (1, 0, 1, (1,)),
        "every-10min": (1, 1, 0, (2,)),
        "every-60min": (2, 0, 0, (1, 2)),
    }
    assert by_label["every-10min"].values["compactions"] == 2  # of 20 commits a minute, two tens


def test_rows_of_one_mode_stay_together(tmp_path):
    places = [(mode, label) for mode in ("real", "simulated") for label in ("never", "a", "b")]
    runs = [
        good(label, strategy_index=n % 3, mode=mode, suite_id=mode) for n, (mode, label) in enumerate(places)
    ]
    assert [(row.mode, row.strategy) for row in rows(runs)] == places
