import pytest
from records import commit, compaction, decision, maintenance, queries, query, run
from result_builder import manifest

from bench.results.figures import figures
from bench.results.latency import over_probed_ticks
from bench.results.metrics import METRIC_BY_NAME


def value(name, *records, **changes):
    return METRIC_BY_NAME[name].of_run(figures(run(*records, **changes), None))


BOOKED = (
    commit(cpu_s=1.0),
    commit(is_initial=True, cpu_s=100.0),
    compaction(wall_s=4.0, cpu_s=8.0, jit_cpu_s=3.0, gc_cpu_s=0.5),
    compaction(wall_s=2.0, cpu_s=2.0, jit_cpu_s=1.0, gc_cpu_s=0.25, status="failed"),
    compaction(status="vetoed"),  # never executed: it has no split
    maintenance(cpu_s=0.5),
    decision(cpu_s=0.125, state_cpu_s=0.25, status="planned"),
    decision(cpu_s=0.125),
    decision(cpu_s=100.0, state_cpu_s=100.0, planner="never"),
)


@pytest.mark.parametrize(
    ("name", "real", "simulated"),
    [
        ("commit_cpu_s", 1.0, 1.0),
        ("compaction_cpu_s", 10.0, 10.0),
        ("maintenance_cpu_s", 0.5, 0.5),
        ("evaluation_cpu_s", 0.5, None),
        ("policy_cpu_s", 11.0, 10.5),  # what a simulation does not model is left out
        ("total_cpu_s", 12.0, 11.5),
        ("compaction_jit_cpu_s", 4.0, 4.0),
        ("compaction_gc_cpu_s", 0.75, 0.75),
        ("jit_share", 0.4, 0.4),
    ],
)
def test_cpu_is_booked_to_what_caused_it(name, real, simulated):
    assert value(name, *BOOKED) == real
    assert value(name, *BOOKED, mode="simulated") == simulated


@pytest.mark.parametrize("name", ["compaction_jit_cpu_s", "compaction_gc_cpu_s", "jit_share"])
def test_a_split_that_one_compaction_lacks_is_not_known(name):
    assert value(name, *BOOKED, compaction(wall_s=1.0, cpu_s=1.0)) is None
    assert value(name, commit()) is None


PEAKS = {"peak_rss_bytes": 900, "peak_heap_bytes": 500}


def test_a_peak_is_that_of_the_highest_step_of_its_kind():
    records = (
        compaction(wall_s=1.0, **PEAKS),
        compaction(wall_s=1.0, peak_rss_bytes=800, peak_heap_bytes=700),
        compaction(status="vetoed"),
        commit(wall_s=1.0, peak_rss_bytes=300, peak_heap_bytes=200),
        commit(is_initial=True, wall_s=1.0, peak_rss_bytes=5000, peak_heap_bytes=5000),
        query(peak_rss_bytes=400, peak_heap_bytes=100),
        query(when="after_commit", peak_rss_bytes=410, peak_heap_bytes=90),
        query(when="before", peak_rss_bytes=5000, peak_heap_bytes=5000),
        query(primary=False, peak_rss_bytes=5000, peak_heap_bytes=5000),
    )
    figures_of_run = {
        (steps, memory): value(f"{steps}_peak_{memory}_bytes", *records)
        for steps in ("compaction", "commit", "query")
        for memory in ("rss", "heap")
    }
    assert figures_of_run == {
        ("compaction", "rss"): 900, ("compaction", "heap"): 700, ("commit", "rss"): 300,
        ("commit", "heap"): 200, ("query", "rss"): 410, ("query", "heap"): 100,
    }  # fmt: skip


def test_a_peak_that_one_step_lacks_is_not_known():
    assert value("compaction_peak_rss_bytes", compaction(wall_s=1.0, **PEAKS), compaction(wall_s=1.0)) is None


@pytest.mark.parametrize(
    "name",
    [
        "compaction_cpu_s", "compaction_executor_cpu_s", "compaction_jit_cpu_s", "evaluation_cpu_s",
        "policy_cpu_s", "total_cpu_s", "commit_cpu_s",
    ],
)  # fmt: skip
def test_cpu_that_steps_share_is_not_known(name):
    records = (
        commit(cpu_s=1.0, is_shared=True),
        compaction(wall_s=1.0, cpu_s=2.0, jit_cpu_s=1.0, is_shared=True),
    )
    assert value(name, *BOOKED, *records) is None


def test_the_cpu_of_queries_is_not_known_if_one_shares_it():
    own = (query(cpu_s=0.5), query(cpu_s=0.5, at_ms=120_000))
    assert over_probed_ticks(manifest(), queries(*own)).cpu_s == 0.5
    assert over_probed_ticks(manifest(), queries(*own, query(cpu_s=0.5, is_shared=True))).cpu_s is None
