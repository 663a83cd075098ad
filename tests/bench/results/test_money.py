from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import commit, compaction, decision, end, maintenance, observed, query, run, truth

from bench.results.figures import figures
from bench.results.metrics import METRIC_BY_NAME
from bench.results.money import break_even_queries_per_h
from bench.results.rows import rows

GB = 10**9
HOUR_MS = 3_600_000
COMPUTE = {"price_per_core_hour": 3.6, "cores": 4}  # 0.001 for a CPU second
PARTS = ("compute", "query", "storage", "request")


def value(name, *records, **changes):
    return METRIC_BY_NAME[name].of_run(figures(run(*records, duration_ms=HOUR_MS, **changes), None))


STEPS = (
    commit(wall_s=1.0, cpu_s=2.0, files_added_count=8, delete_files_added_count=2, metadata_files_count=3),
    commit(is_initial=True, wall_s=50.0, cpu_s=60.0, files_added_count=100),
    compaction(
        wall_s=4.0, cpu_s=8.0, files_removed_count=10, files_added_count=1, delete_files_removed_count=5,
        metadata_files_count=4,
    ),
    maintenance(wall_s=0.5, cpu_s=0.5, metadata_files_count=7),
    decision(wall_s=0.25, cpu_s=0.25, state_wall_s=0.25, state_cpu_s=0.25, status="planned"),
    query(1.0, cpu_s=2.0, files_count=5, delete_files_count=6, metadata_files_count=2),
    query(9.0, cpu_s=9.0, files_count=50, when="after_commit"),
    query(9.0, cpu_s=9.0, files_count=50, primary=False),
    observed(storage_bytes=30 * GB),
)  # fmt: skip


def test_a_request_is_a_file_written_or_opened_where_requests_are_not_counted():
    assert [value(name, *STEPS) for name in ("put_requests", "get_requests")] == [13 + 5 + 7, 15 + 13]
    assert value("get_requests", *STEPS, query(opened_bytes=None, files_count=None)) is None


def test_compute_is_cpu_and_memory_of_everything_but_queries_and_job_starts():
    cpu_s = 2 + 8 + 0.5 + 0.5
    assert value("compute_money_per_day", *STEPS, **COMPUTE) == pytest.approx(24 * 0.001 * cpu_s)
    started = value("compute_money_per_day", *STEPS, **COMPUTE, job_start_s=30.0)
    assert started == pytest.approx(24 * 0.001 * (cpu_s + 4 * 30))
    wall_s = 1 + 4 + 0.5 + 0.5
    memory = value("compute_money_per_day", *STEPS, price_per_gb_hour=0.36, memory_bytes=2 * GB)
    assert memory == pytest.approx(24 * 0.0001 * 2 * wall_s)
    assert value("compute_money_per_day", *STEPS) is None
    of_unknown_size = COMPUTE | {"cores": None}
    assert value("compute_money_per_day", *STEPS, **of_unknown_size, job_start_s=30.0) is None
    assert value("compute_money_per_day", *STEPS, **of_unknown_size) == pytest.approx(24 * 0.001 * cpu_s)


def test_the_memory_of_executors_is_paid_for_and_has_no_price_where_it_is_not_known():
    priced = {"price_per_gb_hour": 0.36, "memory_bytes": 2 * GB}
    wall_s = 1 + 4 + 0.5 + 0.5
    memory = value("compute_money_per_day", *STEPS, end(executors_memory_bytes=3 * GB), **priced)
    assert memory == pytest.approx(24 * 0.0001 * 5 * wall_s)
    cluster = {"notes": {"cpu": "processes of a cluster"}}
    assert value("compute_money_per_day", *STEPS, end(), **priced, **cluster) is None


@pytest.mark.parametrize(
    ("fields", "jobs"),
    [
        ({}, 1),
        ({"status": "failed"}, 1),
        ({"status": "vetoed"}, 0),
        ({"is_inline": True}, 0),
        ({"executor": "single-node"}, 0),
    ],
)
def test_a_job_is_started_for_each_compaction_that_spark_runs_by_itself(fields, jobs):
    assert value("compaction_jobs", compaction(**fields)) == jobs
    money = value("compute_money_per_day", compaction(**fields), **COMPUTE, job_start_s=10.0)
    assert money == pytest.approx(24 * 0.001 * 4 * 10 * jobs)


def test_queries_cost_at_the_stated_rate():
    money = value("query_money_per_day", *STEPS, **COMPUTE, queries_per_h=100.0)
    assert money == pytest.approx(24 * 100 * 2 * 0.001)
    assert value("query_money_per_day", *STEPS, **COMPUTE) is None
    assert value("query_money_per_day", *STEPS, queries_per_h=100.0) is None


def test_storage_costs_what_is_there_at_the_end():
    assert value("storage_money_per_day", *STEPS, price_per_storage_gb_month=0.02) == pytest.approx(0.02)
    assert value("storage_money_per_day", *STEPS) is None
    assert value("storage_money_per_day", price_per_storage_gb_month=0.02) is None


REQUESTS = {"price_per_1000_puts": 5.0, "price_per_1000_gets": 0.5}


def test_requests_cost_by_kind_and_those_of_queries_at_the_stated_rate():
    own = 24 * (25 * 0.005 + 15 * 0.0005)
    assert value("request_money_per_day", *STEPS, **REQUESTS) == pytest.approx(own)
    asked = value("request_money_per_day", *STEPS, **REQUESTS, queries_per_h=100.0)
    assert asked == pytest.approx(own + 24 * 100 * 13 * 0.0005)
    assert value("request_money_per_day", *STEPS, price_per_1000_puts=5.0) is None
    unknown = query(files_count=None)
    assert value("request_money_per_day", *STEPS, unknown, **REQUESTS, queries_per_h=100.0) is None


COUNTED = ("s3_put_requests", "s3_get_requests", "s3_gets_per_query")


def test_requests_that_were_counted_are_what_is_paid_for():
    steps = (
        commit(requests={"PUT": 4, "HEAD": 2, "GET": 6}),
        commit(is_initial=True, requests={"PUT": 1000}),
        compaction(requests={"PUT": 3, "POST": 2, "LIST": 1, "GET": 40, "DELETE": 9}),
        maintenance(requests={"DELETE": 5}),
        query(1.0, requests={"GET": 20, "HEAD": 1}),
        query(1.0, requests={"GET": 900}, when="after_commit"),
    )
    assert [value(name, *steps) for name in COUNTED] == [10, 48, 21]
    own = 24 * (10 * 0.005 + 48 * 0.0005)
    assert value("request_money_per_day", *steps, **REQUESTS) == pytest.approx(own)
    asked = value("request_money_per_day", *steps, **REQUESTS, queries_per_h=100.0)
    assert asked == pytest.approx(own + 24 * 100 * 21 * 0.0005)


@pytest.mark.parametrize("step", [commit(), compaction(requests={"PUT": 1}, is_shared=True)])
def test_requests_are_not_known_unless_each_step_counted_its_own(step):
    for name in ("s3_put_requests", "s3_get_requests"):
        assert value(name, commit(requests={"PUT": 4}), step) is None


def test_requests_that_are_known_of_some_steps_only_have_no_price():
    assert value("request_money_per_day", commit(), commit(requests={"PUT": 4}), **REQUESTS) is None


def test_requests_are_not_known_where_no_step_sent_one():
    steps = (commit(requests={}), compaction(requests={}), query(requests={}))
    assert [value(name, *steps) for name in COUNTED] == [None] * 3


EVERY_PRICE = {
    **COMPUTE, **REQUESTS, "price_per_gb_hour": 0.1, "queries_per_h": 10.0,
    "price_per_storage_gb_month": 0.02, "job_start_s": 20.0,
}  # fmt: skip


def test_the_money_is_the_sum_of_the_parts_that_have_a_price():
    parts = [value(f"{part}_money_per_day", *STEPS, **EVERY_PRICE) for part in PARTS]
    assert value("money_per_day", *STEPS, **EVERY_PRICE) == pytest.approx(sum(parts))
    assert value("money_per_day", *STEPS, **COMPUTE) == value("compute_money_per_day", *STEPS, **COMPUTE)
    compute = {"price_per_core_hour": None, "price_per_gb_hour": None}
    assert value("money_per_day", *STEPS, **EVERY_PRICE | compute) is None
    unknown = query(files_count=None)  # priced and not known: it is not left out
    assert value("money_per_day", *STEPS, unknown, **EVERY_PRICE) is None


@given(
    st.lists(st.builds(compaction, wall_s=st.floats(0, 1e4), cpu_s=st.floats(0, 1e4)), max_size=5),
    st.floats(0, 100),
    st.floats(0, 100),
)
def test_more_compaction_never_costs_less(compactions, core_hour, gb_hour):
    prices = {"price_per_core_hour": core_hour, "price_per_gb_hour": gb_hour, "job_start_s": 1.0}
    firsts = [compactions[:count] for count in range(len(compactions) + 1)]
    costs = [value("compute_money_per_day", *first, **prices) for first in firsts]
    assert costs[0] == 0
    assert all(less <= more for less, more in pairwise(costs))


def test_the_break_even_is_where_cpu_saved_is_cpu_spent():
    # In two hours 36 CPU seconds more; each query saves 2 - 0.5: 12 queries an hour.
    assert break_even_queries_per_h(36.0, 0.5, 2.0, 2 * HOUR_MS) == pytest.approx(12.0)
    assert break_even_queries_per_h(-1.0, 0.5, 2.0, HOUR_MS) == 0
    assert break_even_queries_per_h(36.0, 2.0, 2.0, HOUR_MS) is None
    assert break_even_queries_per_h(36.0, None, 2.0, HOUR_MS) is None


def measured(strategy, query_cpu_s, *steps, repetition=1, **changes):
    records = (*steps, query(cpu_s=query_cpu_s), observed(), truth(), end())
    return run(*records, strategy=strategy, repetition=repetition, duration_ms=HOUR_MS, **changes)


def test_commits_and_maintenance_that_a_policy_makes_dearer_are_its_cost():
    never = measured("never", 4.0, commit(cpu_s=1.0), maintenance(cpu_s=1.0))
    steps = (commit(cpu_s=1.5), maintenance(cpu_s=2.0), compaction(cpu_s=10.0), decision(cpu_s=0.5))
    once, again = measured("b", 2.0, *steps), measured("b", 3.0, *steps, repetition=2)
    idle, policy = rows([never, once, again])
    # 0.5 + 1 + 10 + 0.5 = 12 s more, for 2 s and 1 s less per query.
    assert policy.run_values["break_even_queries_per_h"] == (6.0, 12.0)
    assert policy.values["break_even_queries_per_h"] == 8.0  # of the means: 12 / 1.5
    assert idle.values["break_even_queries_per_h"] is None


@pytest.mark.parametrize(
    ("others", "why"),
    [
        ([], "without a `never` to compare with"),
        ([measured("never", 2.0)], "where queries are no cheaper"),
        ([measured("never", 9.0, scenario="other")], "with another scenario's `never`"),
    ],
)
def test_there_is_no_break_even(others, why):
    policy = measured("b", 2.0, compaction(cpu_s=10.0))
    (row,) = (r for r in rows([policy, *others]) if r.strategy == "b")
    assert row.values["break_even_queries_per_h"] is None, why


def test_there_is_no_break_even_without_a_compaction():
    _, idle = rows([measured("never", 4.0), measured("idle", 2.0)])
    assert idle.values["break_even_queries_per_h"] is None
