import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import commit, compaction, decision, end, maintenance, observed, query, run

from bench.results.arithmetic import mean, percentile, ratio
from bench.results.figures import figures
from bench.results.metrics import METRIC_BY_NAME, METRICS
from bench.results.rows import run_figures

NUMBERS = st.floats(0, 1e9)
# What a run has no figure of without delete files and without evaluations that fired.
OF_CHANGES_AND_LOOKS = {
    "delete_files_mean", "delete_rows_end", "delete_rows_mean", "equality_files_end", "equality_files_mean",
    "health_mean", "health_end", "noop_evaluations", "pending_mean_s", "deletes_age_mean_s",
}  # fmt: skip


def value(name, *records, **changes):
    """A metric of a run with these records."""
    return METRIC_BY_NAME[name].of_run(figures(run(*records, **changes), 100))


COMPACTIONS = (
    compaction(status="ok", wall_s=4.0, cpu_s=8.0, executor_cpu_s=2.0, added_bytes=300, replaced_bytes=400),
    compaction(status="noop", wall_s=1.0, cpu_s=1.5, executor_cpu_s=0.0),
    compaction(status="ok", wall_s=6.0, cpu_s=9.0, executor_cpu_s=3.0, added_bytes=100, replaced_bytes=200),
    compaction(status="failed", wall_s=2.0, cpu_s=2.5, executor_cpu_s=1.0, added_bytes=50, replaced_bytes=60),
    compaction(status="vetoed", wall_s=0.5, cpu_s=0.5, executor_cpu_s=0.0),
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("compactions", 2),
        ("noop_compactions", 1),
        ("failed_compactions", 2),  # failed and vetoed
        ("vetoed_compactions", 1),
        ("compaction_s", 13.5),  # 4 + 1 + 6 + 2 + 0.5: time is spent whatever became of it
        ("compaction_cpu_s", 21.5),  # 8 + 1.5 + 9 + 2.5 + 0.5
        ("compaction_executor_cpu_s", 6.0),  # 2 + 3 + 1
        ("compaction_added_bytes", 450),  # 300 + 100 + 50
        ("compaction_replaced_bytes", 660),  # 400 + 200 + 60
        ("overlapped_commits", 0.1),  # the longest took 6 of 60 s
        ("duty_cycle", 0.0225),  # 13.5 of 600 s
    ],
)
def test_figures_of_compactions(name, expected):
    figure = value(name, *COMPACTIONS, commit_interval_ms=60_000, duration_ms=600_000)
    assert figure == pytest.approx(expected)


@pytest.mark.parametrize(
    ("files", "deletes", "rows", "expected"),
    [
        ((3, 3), (0, 0), (10, 10), 1),
        ((3, 3), (2, 2), (10, 10), 1),
        ((3, 3), (0, 0), (None, None), 1),  # nobody counted
        ((3, 2), (0, 0), (10, 10), 0),
        ((2, 3), (0, 0), (10, 10), 0),  # a large file was split
        ((3, 3), (2, 0), (10, 10), 0),  # two delete files are gone
        ((3, 3), (0, 0), (10, 8), 0),  # two deleted rows are gone, the delete files still needed
        ((0, 0), (4, 4), (10, 10), 0),  # deletes converted, data files left alone
    ],
)
def test_no_progress_is_as_much_out_as_in(files, deletes, rows, expected):
    fields = {
        "files_removed_count": files[0], "files_added_count": files[1],
        "before_rows": rows[0], "after_rows": rows[1],
        "delete_files_removed_count": deletes[0], "delete_files_added_count": deletes[1],
    }  # fmt: skip
    assert value("ineffective_compactions", compaction(**fields)) == expected
    assert value("ineffective_compactions", compaction(**fields, status="failed")) == 0


def test_noop_evaluations_fired_and_found_nothing_to_do():
    statuses = ("not_due", "nothing_to_do", "planned", "nothing_to_do")
    assert value("noop_evaluations", *(decision(status=status) for status in statuses)) == 2
    assert value("noop_evaluations", decision(status="planned")) == 0
    # The baseline is asked at every commit and never plans; that tells nothing.
    assert value("noop_evaluations", decision(planner="never", status="nothing_to_do")) is None
    assert value("noop_evaluations", decision()) is None


def test_pending_time_is_from_the_decision_to_the_commit():
    ends = ((60_000, 60_000, "ok"), (120_000, 300_000, "ok"), (0, 900_000, "failed"))
    records = [compaction(scheduled_at_ms=start, at_ms=end, status=status) for start, end, status in ends]
    assert value("pending_mean_s", *records) == 90.0  # (0 + 180) / 2
    assert value("pending_mean_s", records[-1]) is None


def test_time_since_a_compaction_is_taken_at_each_commit():
    commits = [commit(at_ms=60_000 * tick) for tick in (1, 2, 3, 4)]
    others = [commit(at_ms=0, is_initial=True), compaction(at_ms=180_000, status="noop")]
    # 60 and 120 s since the start; the compaction at 120 s comes after that commit; then 60 and 120 again.
    assert value("since_compaction_mean_s", *commits, *others, compaction(at_ms=120_000)) == 90.0
    assert value("since_compaction_mean_s", *commits) == 150.0  # (60 + 120 + 180 + 240) / 4
    assert value("since_compaction_mean_s") is None


def test_staleness_grows_from_each_commit_to_the_next():
    together = [commit(at_ms=60_000 * tick, rows=0 if tick % 5 else 500) for tick in range(1, 11)]
    ten_min = {"duration_ms": 600_000}
    assert value("staleness_mean_s", *together, **ten_min) == 150.0  # from 0 to 5 minutes, twice
    each = [commit(at_ms=60_000 * tick) for tick in range(1, 11)]
    assert value("staleness_mean_s", *each, **ten_min) == 30.0
    # 0 to 8 minutes in 8 of the 10 minutes, and 0 to 2 in the others.
    late = commit(at_ms=480_000)
    assert value("staleness_mean_s", late, **ten_min) == pytest.approx((8 * 8 + 2 * 2) / 2 / 10 * 60)
    assert value("staleness_mean_s", *together[:4], **ten_min) is None


def test_health_is_what_planners_report_where_a_trigger_fired():
    records = (
        decision(status="planned", figures={"health_score": 60.0, "other": 1.0}),
        decision(status="nothing_to_do", figures={"health_score": 90.0}),
        decision(status="nothing_to_do", figures={"other": 1.0}),
        decision(status="not_due"),
    )
    assert [value(name, *records) for name in ("health_mean", "health_end")] == [75.0, 90.0]
    assert [value(name, *records[2:]) for name in ("health_mean", "health_end")] == [None, None]


LOOKS = (
    observed(tick=0, after="initial"),
    observed(tick=1, delete_files_count=5, delete_rows=50, equality_files_count=3),
    observed(tick=1, after="compaction", delete_files_count=4, delete_rows=40, equality_files_count=2),
    observed(tick=2, delete_files_count=2, delete_rows=10, equality_files_count=1),
    observed(tick=2, after="compaction", delete_files_count=1, delete_rows=5, equality_files_count=0),
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("delete_files_end", 1),
        ("delete_files_mean", 2.5),  # (4 + 1) / 2: as the ticks leave the table
        ("delete_rows_end", 5),
        ("delete_rows_mean", 22.5),
        ("equality_files_end", 0),
        ("equality_files_mean", 1.0),
    ],
)
def test_deletes_left_behind(name, expected):
    assert value(name, *LOOKS) == expected
    if name != "delete_files_end":
        assert value(name, observed()) is None  # an append-only stream has none
    # A stream of changes that leaves none behind, as copy-on-write does, has 0.
    changes = {"options": {"upsert_mode": "copy-on-write"}}
    assert value(name, observed(delete_rows=0, equality_files_count=0), **changes) == 0
    assert value(name, **changes) is None


def test_the_age_of_deletes_is_that_of_the_oldest():
    third = {"tick": 3, "at_ms": 180_000}
    looks = (
        observed(tick=1, at_ms=60_000, delete_files_count=0),
        observed(tick=2, at_ms=120_000, delete_files_count=1, oldest_delete_at_ms=0),
        observed(**third, delete_files_count=3, oldest_delete_at_ms=60_000),
        observed(**third, after="compaction", delete_files_count=2, oldest_delete_at_ms=120_000),
    )
    mean_s = (0 + (120 + 30) + (60 + 30)) / 3  # each grows by a minute until the next commit
    assert value("deletes_age_mean_s", *looks, commit_interval_ms=60_000) == mean_s
    assert value("deletes_age_mean_s", observed(delete_files_count=1)) is None  # of an older version
    assert value("deletes_age_mean_s", observed()) is None


def test_a_commit_returns_after_the_compactions_that_it_ran():
    commits = [commit(wall_s=1.0), commit(wall_s=1.0, waited_s=3.0)]
    assert value("commit_p95_s", *commits) == 1.0
    assert value("commit_returned_p95_s", *commits) == pytest.approx(3.85)  # 1 + 0.95 x 3


def test_what_was_not_counted_is_no_figure():
    observations = (
        observed(tick=1, delete_files_count=4, delete_rows=8),
        observed(tick=2, delete_files_count=2, delete_rows=None),
    )
    assert value("delete_files_mean", *observations) == 3
    assert value("delete_rows_mean", *observations) is None
    assert value("delete_rows_end", *observations) is None
    assert value("equality_files_mean", *observations) is None


COMMITS = (
    commit(is_initial=True, wall_s=60.0, ingested_bytes=9000, added_bytes=9999, metadata_bytes=900),
    commit(wall_s=1.0, ingested_bytes=100, added_bytes=150, metadata_bytes=10),
    commit(wall_s=3.0, ingested_bytes=300, added_bytes=350, metadata_bytes=20),
    commit(status="failed", wall_s=70.0, ingested_bytes=7, added_bytes=7),
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ingested_bytes", 400),  # 100 + 300: neither the initial load nor what failed
        ("commit_added_bytes", 500),
        ("commit_mean_s", 2.0),
        ("commit_p95_s", 2.9),  # 1 + 0.95 x (3 - 1)
        ("content_bytes", 100),
        ("write_amplification", 109.61),  # (9,999 + 500 + 450 + 12) / 100: with the initial load
        ("compaction_amplification", 4.5),  # 450 / 100
        ("metadata_bytes", 47),  # 10 + 20 by commits, 5 by compaction, 12 by maintenance
    ],
)
def test_figures_of_the_stream(name, expected):
    others = (compaction(added_bytes=450, metadata_bytes=5), maintenance(metadata_bytes=12, added_bytes=12))
    assert value(name, *COMMITS, *others) == pytest.approx(expected)


def test_commit_latency_is_of_commits_that_wrote_something():
    records = (commit(rows=10, wall_s=2.0), commit(rows=0, wall_s=0.0), commit(rows=10, wall_s=4.0))
    assert value("commit_mean_s", *records) == 3.0


QUERIES = (
    query(1.0, tick=1, opened_bytes=100),
    query(2.0, tick=1, opened_bytes=200),
    query(4.0, tick=2, opened_bytes=150),
    query(8.0, tick=1, when="after_commit", opened_bytes=999),
    query(6.0, tick=2, when="after_commit", opened_bytes=999),
    query(9.0, when="before", opened_bytes=999),
    query(9.0, when="after", opened_bytes=999),
    query(9.0, primary=False, opened_bytes=999),
    query(9.0, status="failed", opened_bytes=999),
    query(9.0, tick=0, opened_bytes=0),  # of an empty table
    query(9.0, tick=0, when="after_commit", opened_bytes=0),
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("query_mean_s", 7 / 3),  # (1 + 2 + 4) / 3: neither around compactions, nor another probe
        ("query_p50_s", 2.0),
        ("query_p95_s", 3.8),  # rank 0.95 x 2 = 1.9: 2 + 0.9 x (4 - 2)
        ("query_max_s", 4.0),
        ("query_after_commit_s", 7.0),  # (8 + 6) / 2
        ("query_cpu_s", 0.0),
        ("read_amplification", 2.5),  # (100 / 50 + 200 / 50 + 150 / 100) / 3: half of the rows at tick 1
    ],
)
def test_figures_of_the_primary_probe(name, expected):
    assert value(name, commit(rows=5), commit(tick=2, rows=5), *QUERIES) == pytest.approx(expected)


def test_figures_of_the_end_are_those_last_observed():
    files, storage = {"data_files_count": 9, "delete_files_count": 3}, {"metadata_storage_bytes": 150}
    records = (
        observed(data_files_count=80, storage_bytes=10, wall_s=0.25),
        observed(**files, **storage, storage_bytes=500, wall_s=0.5),
        maintenance(wall_s=2.0, freed_bytes=700),
        maintenance(wall_s=3.0, freed_bytes=-20),  # it found nothing to delete, and its own commits stay
    )
    ends = {
        "files_end": 9,
        "delete_files_end": 3,
        "storage_bytes_end": 500,
        "metadata_storage_bytes_end": 150,
    }
    sums = {"observe_s": 0.75, "maintenance_s": 5.0, "maintenance_freed_bytes": 680}
    expected = {**ends, **sums, "data_storage_bytes_end": 350, "space_amplification": 5}  # 500 / 100
    assert {name: value(name, *records) for name in expected} == expected


REQUESTS = {"s3_put_requests", "s3_get_requests", "s3_gets_per_query"}
MONEY = {
    "compute_money_per_day", "query_money_per_day", "storage_money_per_day", "request_money_per_day",
    "money_per_day", "break_even_queries_per_h",
}  # fmt: skip
PEAKS = [f"{steps}_peak_{of}_bytes" for steps in ("compaction", "commit", "query") for of in ("rss", "heap")]
SPLITS = {"compaction_jit_cpu_s", "compaction_gc_cpu_s", "jit_share", *PEAKS}


OF_REAL_CLOCK = {
    "commit_since_due_p50_s", "commit_since_due_p95_s", "commit_since_due_p99_s", "commit_since_due_max_s",
    "redone_commits", "lost_compactions", "unfinished_compactions", "wasted_cpu_s", "run_delay_s",
    "run_delay_per_cpu",
}  # fmt: skip
REAL_CLOCK = {"notes": {"clock": "real"}, "speed": 12.0}  # five seconds for a minute


def test_with_a_real_clock_latencies_count_from_when_a_step_was_due():
    records = (
        commit(tick=1, at_ms=60_000, started_s=5.5, ended_s=7.0, conflicts=[], wasted_cpu_s=0.0),
        commit(tick=2, at_ms=120_000, started_s=12.0, ended_s=14.0, conflicts=["a", "b"], wasted_cpu_s=3.0),
        query(2.0, when="due", waited_s=1.0),
        query(4.0, when="due", waited_s=0.0),
    )
    names = ("commit_since_due_p50_s", "commit_since_due_max_s", "redone_commits", "wasted_cpu_s")
    assert [value(name, *records, **REAL_CLOCK) for name in names] == [3.0, 4.0, 2, 3.0]
    assert value("commit_since_due_p99_s", *records, **REAL_CLOCK) == pytest.approx(2 + 0.99 * 2)
    assert value("commit_cpu_s", *records, **REAL_CLOCK) == value("commit_cpu_s", *records) == 3.0
    assert [value(f"query_{name}_s", *records, **REAL_CLOCK) for name in ("mean", "max")] == [3.5, 4.0]
    assert value("query_after_commit_s", *records, **REAL_CLOCK) is None
    assert [value(name, *records) for name in names] == [None] * 4


def test_how_long_threads_waited_for_cores_is_told_for_each_cpu_second():
    records = (
        commit(cpu_s=4.0, run_delay_s=1.0),
        query(when="due", cpu_s=1.0, run_delay_s=4.0),
        compaction(status="unfinished", cpu_s=7.0),  # nobody could read its threads
    )
    names = ("run_delay_s", "run_delay_per_cpu")
    assert [value(name, *records, **REAL_CLOCK) for name in names] == [5.0, 1.0]
    assert [value(name, compaction(cpu_s=7.0), **REAL_CLOCK) for name in names] == [None, None]
    assert [value(name, *records) for name in names] == [None, None]


def test_what_conflicts_have_cost_is_wasted():
    records = (
        compaction(status="ok", cpu_s=8.0),
        compaction(status="conflict", cpu_s=5.0),
        compaction(status="unfinished", cpu_s=2.0),
        compaction(status="failed", cpu_s=1.0),
    )
    assert value("wasted_cpu_s", *records, **REAL_CLOCK) == 7.0
    assert value("lost_compactions", *records, **REAL_CLOCK) == 2
    assert value("unfinished_compactions", *records, **REAL_CLOCK) == 1
    assert value("unfinished_compactions", *records) is None
    assert value("failed_compactions", *records, **REAL_CLOCK) == 1
    shared = compaction(status="conflict", cpu_s=5.0, is_shared=True)
    assert value("wasted_cpu_s", shared, **REAL_CLOCK) is None


def test_a_run_without_records_has_no_figure_that_needs_one():
    values = run_figures(run(end()))
    unknown = {name for name, figure in values.items() if figure is None}
    assert unknown == {
        "content_bytes", "data_storage_bytes_end", "metadata_storage_bytes_end", "storage_bytes_end",
        "write_amplification", "compaction_amplification", "read_amplification", "space_amplification",
        "staleness_mean_s", "control_mean_s", "fixed_work_s", "other_cores",
        "query_mean_s", "query_probed_mean_s", "query_new_session_mean_s", "query_p50_s", "query_p95_s",
        "query_max_s", "query_after_commit_s", "query_before_s",
        "query_after_s", "query_cpu_s", "commit_mean_s", "commit_p95_s",
        "commit_returned_p95_s", *OF_REAL_CLOCK, "files_end", "delete_files_end", *MONEY, *REQUESTS, *SPLITS,
        *OF_CHANGES_AND_LOOKS, "since_compaction_mean_s",
    }  # fmt: skip
    assert all(figure == 0 for name, figure in values.items() if name not in unknown)


def test_a_perturbed_run_has_exact_figures_only():
    values = run_figures(run(*COMMITS, *COMPACTIONS, *QUERIES, observed(), end(timings_invalid=True)))
    timings = {m.name for m in METRICS if not m.exact}
    assert timings >= {"compaction_s", "query_mean_s", "commit_mean_s", "policy_cpu_s", "money_per_day"}
    without = {"storage_money_per_day", *OF_CHANGES_AND_LOOKS} - {"pending_mean_s"}
    assert {name for name in values if values[name] is None} == timings | without
    assert values["compaction_added_bytes"] == 450


def test_mean_percentile_and_ratio_of_nothing_are_none():
    assert (mean([]), percentile([], 95), ratio(1, 0)) == (None, None, None)
    assert (mean([1, 2]), ratio(1, 4)) == (1.5, 0.25)


@given(st.lists(NUMBERS, min_size=1), st.floats(0, 100))
def test_a_percentile_lies_within_the_values(values, percent):
    assert min(values) <= percentile(values, percent) <= max(values)


@given(st.permutations([3.0, 1.0, 4.0, 1.5]))
def test_a_percentile_does_not_depend_on_the_order(values):
    # Sorted 1, 1.5, 3, 4: the 50th is 2.25, the 25th at rank 0.75 is 1 + 0.75 x 0.5.
    assert (percentile(values, 50), percentile(values, 25)) == (2.25, 1.375)
