import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import commit, compaction, decision, end, maintenance, observed, query, run

from bench.results.figures import degradation_rate, figures, mean, percentile, ratio
from bench.results.rows import METRIC_BY_NAME, METRICS, run_figures

GIGABYTE = 10**9
NUMBERS = st.floats(0, 1e9)
# What a run has no figure of without delete files and without evaluations that fired.
OF_CHANGES_AND_LOOKS = {
    "delete_files_mean", "delete_rows_end", "delete_rows_mean", "equality_files_end", "equality_files_mean",
    "health_mean", "health_end", "noop_evaluations", "pending_mean_s",
}  # fmt: skip


def value(name, *records, **changes):
    """A metric of a run with these records."""
    return METRIC_BY_NAME[name].of_run(figures(run(*records, **changes)))


COMPACTIONS = (
    compaction(status="ok", wall_s=4.0, cpu_s=8.0, executor_cpu_s=2.0, added_bytes=300, replaced_bytes=400,
               query_before_s=0.5, query_after_s=0.2),
    compaction(status="noop", wall_s=1.0, cpu_s=1.5, executor_cpu_s=0.0),
    compaction(status="ok", wall_s=6.0, cpu_s=9.0, executor_cpu_s=3.0, added_bytes=100, replaced_bytes=200,
               query_before_s=0.7, query_after_s=0.4),
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
        ("query_before_s", 0.6),  # (0.5 + 0.7) / 2, the effective ones
        ("query_after_s", 0.3),  # (0.2 + 0.4) / 2
        ("overlapped_commits", 0.1),  # the longest took 6 of 60 s
        ("duty_cycle", 0.0225),  # 13.5 of 600 s
        ("gb_hours", 0.0075),  # 2 GB x 13.5 s / 3600
        ("compaction_money", None),
        ("storage_request_model_s", None),
    ],
)
def test_figures_of_compactions(name, expected):
    found = value(
        name, *COMPACTIONS, memory_bytes=2 * GIGABYTE, commit_interval_ms=60_000, duration_ms=600_000
    )
    assert found == (None if expected is None else pytest.approx(expected))


def test_prices_turn_hours_and_requests_into_modelled_figures():
    prices = {"price_per_gb_hour": 0.2, "request_price_s": 0.01, "memory_bytes": 2 * GIGABYTE}
    assert value("compaction_money", compaction(wall_s=1800.0), **prices) == pytest.approx(0.2)  # 1 GB-hour
    records = (
        commit(files_added_count=8, delete_files_added_count=2, metadata_files_count=3),
        query(files_count=5),
    )
    assert value("storage_request_model_s", *records, **prices) == pytest.approx(0.18)  # 18 x 0.01


def test_storage_requests_are_files_opened_and_written():
    records = (
        commit(files_added_count=8, delete_files_added_count=2, metadata_files_count=3),  # 13
        commit(is_initial=True, files_added_count=100),
        compaction(files_removed_count=10, files_added_count=1, metadata_files_count=4),  # 15
        compaction(files_removed_count=1, delete_files_removed_count=20, delete_files_added_count=300),  # 321
        query(files_count=5, delete_files_count=6, metadata_files_count=2),  # 13
        query(files_count=5, when="before"),
        query(files_count=5, primary=False),
        maintenance(metadata_files_count=7),
    )
    assert value("storage_requests", *records) == 13 + 15 + 321 + 13


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
        "rows_before": rows[0], "rows_after": rows[1],
        "delete_files_removed_count": deletes[0], "delete_files_added_count": deletes[1],
    }  # fmt: skip
    assert value("ineffective_compactions", compaction(**fields)) == expected
    assert value("ineffective_compactions", compaction(**fields, status="failed")) == 0


def test_noop_evaluations_fired_and_found_nothing_to_do():
    evaluations = [
        decision(status=status) for status in ("not_due", "nothing_to_do", "planned", "nothing_to_do")
    ]
    assert value("noop_evaluations", *evaluations) == 2
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


def test_health_is_what_planners_report_where_a_trigger_fired():
    records = (
        decision(status="planned", figures={"health_score": 60.0, "other": 1.0}),
        decision(status="nothing_to_do", figures={"health_score": 90.0}),
        decision(status="nothing_to_do", figures={"other": 1.0}),
        decision(status="not_due"),
    )
    assert value("health_mean", *records) == 75.0
    assert value("health_end", *records) == 90.0
    assert value("health_mean", *records[2:]) is None
    assert value("health_end", *records[2:]) is None


LOOKS = (
    observed(after="initial"),
    observed(delete_files_count=4, delete_rows=40, equality_files_count=2),
    observed(after="compaction"),
    observed(delete_files_count=2, delete_rows=10, equality_files_count=1),
    observed(after="compaction", delete_files_count=1, delete_rows=5, equality_files_count=0),
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("delete_files_end", 1),
        ("delete_files_mean", 3.0),  # (4 + 2) / 2: after commits
        ("delete_rows_end", 5),
        ("delete_rows_mean", 25.0),
        ("equality_files_end", 0),
        ("equality_files_mean", 1.5),
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


def test_what_was_not_counted_is_no_figure():
    observations = (observed(delete_files_count=4, delete_rows=8), observed(delete_files_count=2))
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
        ("write_amplification", 2.375),  # (500 + 450) / 400
        ("compaction_amplification", 0.9),  # 450 / 500
        ("metadata_bytes", 47),  # 10 + 20 by commits, 5 by compaction, 12 by maintenance
    ],
)
def test_figures_of_the_stream(name, expected):
    others = (compaction(added_bytes=450, metadata_bytes=5), maintenance(metadata_bytes=12))
    assert value(name, *COMMITS, *others) == pytest.approx(expected)


def test_commit_latency_is_of_commits_that_wrote_something():
    records = (commit(rows=10, wall_s=2.0), commit(rows=0, wall_s=0.0), commit(rows=10, wall_s=4.0))
    assert value("commit_mean_s", *records) == 3.0


QUERIES = (
    *(query(wall_s, opened_bytes=b, live_bytes=100) for wall_s, b in ((1.0, 100), (2.0, 200), (4.0, 150))),
    query(9.0, when="before", opened_bytes=999, live_bytes=1),
    query(9.0, when="after", opened_bytes=999, live_bytes=1),
    query(9.0, primary=False, opened_bytes=999, live_bytes=1),
    query(9.0, status="failed", opened_bytes=999, live_bytes=1),
    query(3.0, opened_bytes=0, live_bytes=0),  # of an empty table: no amplification, but a latency
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("query_mean_s", 2.5),  # (1 + 2 + 4 + 3) / 4: neither around compactions, nor another probe
        ("query_p50_s", 2.5),  # between 2 and 3
        ("query_p95_s", 3.85),  # rank 0.95 x 3 = 2.85: 3 + 0.85 x (4 - 3)
        ("query_max_s", 4.0),
        ("read_amplification", 1.5),  # (1 + 2 + 1.5) / 3
        ("degradation_rate", None),
    ],
)
def test_figures_of_the_primary_probe(name, expected):
    assert value(name, *QUERIES) == (None if expected is None else pytest.approx(expected))


def test_figures_of_the_end_are_those_last_observed():
    records = (
        observed(data_files_count=80, storage_bytes=10, live_bytes=10, wall_s=0.25),
        observed(data_files_count=9, delete_files_count=3, storage_bytes=500, live_bytes=200, wall_s=0.5),
        maintenance(wall_s=2.0),
        maintenance(wall_s=3.0),
    )
    assert value("files_end", *records) == 9
    assert value("delete_files_end", *records) == 3
    assert value("space_amplification", *records) == 2.5  # 500 / 200
    assert value("observe_s", *records) == 0.75
    assert value("maintenance_s", *records) == 5.0


def test_a_run_without_records_has_no_figure_that_needs_one():
    found = run_figures(run(end()))
    unknown = {name for name, figure in found.items() if figure is None}
    assert unknown == {
        "write_amplification", "compaction_amplification", "read_amplification", "space_amplification",
        "query_mean_s", "query_p50_s", "query_p95_s", "query_max_s", "query_before_s", "query_after_s",
        "commit_mean_s", "commit_p95_s", "files_end", "delete_files_end", "payback_queries",
        "degradation_rate", "storage_request_model_s", "compaction_money", *OF_CHANGES_AND_LOOKS,
        "since_compaction_mean_s",
    }  # fmt: skip
    assert all(figure == 0 for name, figure in found.items() if name not in unknown)


def test_a_perturbed_run_has_exact_figures_only():
    found = run_figures(run(*COMMITS, *COMPACTIONS, *QUERIES, observed(), end(timings_invalid=True)))
    timings = {m.name for m in METRICS if not m.exact}
    assert timings >= {"compaction_s", "query_mean_s", "commit_mean_s", "gb_hours", "degradation_rate"}
    without = {"storage_request_model_s", *OF_CHANGES_AND_LOOKS} - {"pending_mean_s"}
    assert {name for name in found if found[name] is None} == timings | without
    assert found["compaction_added_bytes"] == 450


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        ([], None),
        ([1.0] * 19, None),  # one whole block
        ([1.0] * 20, 0.0),
        ([1.0] * 10 + [2.0] * 10, 1.0),  # (2 - 1) / 1
        ([1.0] * 10 + [2.0] * 10 + [1.0] * 10, 0.25),  # (1 - 0.5) / 2
        ([1.0] * 10 + [2.0] * 10 + [9.0] * 9, 1.0),  # the last block is not whole
        ([4.0] * 10 + [1.0] * 10, -0.75),
        ([1.0] * 9 + [99.0] + [1.1] * 10, 0.1),  # medians: one slow probe moves none
        ([0.0] * 10 + [1.0] * 10, None),  # no change relative to nothing
    ],
)
def test_degradation_rate_of_known_series(series, expected):
    assert degradation_rate(series) == (None if expected is None else pytest.approx(expected))


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
