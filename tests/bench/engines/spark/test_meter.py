"""What a step costs, in parts, on a real JVM."""

import hashlib
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from bench.engines.contract import SparkSettings
from bench.engines.spark.jvm_threads import TICKS_PER_S, _parsed
from bench.engines.spark.meter import ProcessMeter
from bench.results.values import NO_SPARK_WORK

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells CPU by thread"),
]

WORK = "SELECT count(*), sum(id % 7), max(sqrt(id)) FROM range(3000000)"


@pytest.fixture
def meter(spark):
    return ProcessMeter(spark, SparkSettings())


def jvm_of(spark):
    return spark.sparkContext._gateway.proc.pid


def ticks_of(pid):
    """By thread: all that the process has spent, as the sum of its parts. Threads may end meanwhile."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):
            _, started, ticks = _parsed((task / "stat").read_text())
            found[task.name, started] = ticks
    return found


def test_the_threads_of_a_process_add_up_to_its_cpu(spark):
    """Within two ticks for each thread, one where its reading was cut off and one where the sum was."""
    pid = jvm_of(spark)
    process = psutil.Process(pid)
    for _ in range(5):  # until no thread has ended meanwhile
        before, cpu_before = ticks_of(pid), process.cpu_times()
        for _ in range(5):  # a warm JVM needs less than 0.1 s for it once
            spark.sql(WORK).collect()
        cpu_after, after = process.cpu_times(), ticks_of(pid)
        if not before.keys() - after.keys():
            break
    else:
        pytest.fail("threads kept ending")
    parts_s = (sum(after.values()) - sum(before.values())) / TICKS_PER_S
    whole_s = cpu_after.user + cpu_after.system - cpu_before.user - cpu_before.system
    assert whole_s > 0.1
    assert parts_s == pytest.approx(whole_s, abs=2 * len(after) / TICKS_PER_S)


def test_the_parts_of_a_step_are_within_its_whole(spark, meter):
    """New code is compiled and runs in tasks; each figure is good to some ticks."""
    with meter.step() as measured:
        spark.sql(
            f"SELECT avg(x), stddev(x) FROM ({WORK.replace('count(*)', 'id % 11 AS x, count(*)')} GROUP BY 1)"
        ).collect()
    cost = measured.cost
    assert cost.jit_cpu_s > 0
    assert cost.gc_cpu_s >= 0
    assert cost.executor_cpu_s > 0
    parts_s = cost.jit_cpu_s + cost.gc_cpu_s + cost.executor_cpu_s
    assert parts_s < cost.cpu_s + 10 / TICKS_PER_S


def test_the_work_of_a_step_is_what_spark_ran_for_it(spark, meter, tmp_path):
    spark.range(0, 1000, 1, 4).write.parquet(str(tmp_path / "numbers"))
    numbers = spark.read.parquet(str(tmp_path / "numbers"))
    with meter.step() as measured:
        numbers.repartition(3).count()
    work = measured.cost.spark
    assert work.jobs_count >= 1
    assert work.tasks_count > work.stages_count >= 2
    assert work.read_rows == 1000
    assert work.read_bytes > 0
    assert work.shuffled_bytes > 0
    assert work.spilled_bytes == 0


def test_a_step_without_a_job_has_no_work(meter):
    with meter.step() as measured:
        pass
    assert measured.cost.spark == NO_SPARK_WORK


def test_work_outside_java_counts_by_all_threads_that_do_it(meter):
    """As that of a compaction in native code of this process, which Spark knows nothing of."""

    def work():
        began_s = time.thread_time()
        while time.thread_time() - began_s < 0.2:
            hashlib.sha256(b"x" * 2**20)

    threads = [threading.Thread(target=work) for _ in range(2)]
    with meter.step() as measured:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert measured.cost.cpu_s >= 0.4
    assert measured.cost.executor_cpu_s == 0


def test_collections_are_told_apart(spark, meter):
    with meter.step() as measured:
        spark._jvm.java.lang.System.gc()
    cost = measured.cost  # earlier tests may have left code to compile
    assert cost.gc_cpu_s > 0.5 * (cost.cpu_s - cost.jit_cpu_s) - 2 / TICKS_PER_S


def test_a_step_knows_the_memory_it_had(spark, meter):
    with meter.step() as measured:
        spark.sql(WORK).collect()
    cost = measured.cost
    assert 0 < cost.peak_heap_bytes < cost.peak_rss_bytes
    jvm_bytes = psutil.Process(jvm_of(spark)).memory_info().rss
    assert cost.peak_rss_bytes > 0.8 * jvm_bytes


def test_measuring_takes_little_and_no_wall_time_of_the_step(meter):
    """Some 3 ms around a step; the bound is wide, for a busy machine."""
    began_s = time.perf_counter()
    walls_s = []
    for _ in range(50):
        with meter.step() as measured:
            pass
        walls_s.append(measured.cost.wall_s)
    around_s = (time.perf_counter() - began_s) / 50
    assert around_s < 0.05
    assert sorted(walls_s)[25] < 0.001
