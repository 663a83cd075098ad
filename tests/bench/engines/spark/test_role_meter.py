"""What a step costs a role that shares its JVM with others."""

import threading
import time

import pytest
from py4j.protocol import Py4JJavaError

from bench.engines.spark.role_meter import RoleMeter
from bench.engines.spark.session import role_session
from bench.results.values import NO_SPARK_WORK

pytestmark = pytest.mark.spark

WORK = "SELECT sum(id % 7), max(sqrt(id)) FROM range(3000000)"
ENDLESS = "SELECT count(*) FROM range(1000000000000) WHERE sqrt(id) < 0"


def as_role(role, do):
    """A thread that does `do(session, meter)`, with its result as `result()`."""
    results = []

    def run():
        session = role_session(role)
        try:
            results.append(do(session, RoleMeter(session, role)))
        except Exception as error:
            results.append(error)

    thread = threading.Thread(target=run, name=role)
    thread.start()

    def result():
        thread.join(timeout=120)
        assert not isinstance(results[0], Exception), results[0]
        return results[0]

    return result


def test_each_role_pays_for_what_is_its_own(spark):
    begun, ended = threading.Event(), threading.Event()

    def work(session, meter):
        begun.wait(60)
        with meter.step() as measured:
            for _ in range(3):
                session.sql(WORK).collect()
        ended.set()
        return measured.cost

    def wait(session, meter):
        with meter.step() as measured:
            begun.set()
            ended.wait(60)
        return measured.cost

    working, waiting = as_role("working", work), as_role("waiting", wait)
    worked, waited = working(), waiting()
    assert worked.spark.jobs_count >= 3
    assert worked.spark.tasks_count >= 6
    assert 0 < worked.executor_cpu_s < worked.cpu_s
    assert waited.wall_s >= worked.wall_s
    assert waited.spark == NO_SPARK_WORK
    assert waited.cpu_s < worked.cpu_s / 2
    unknown = ("jit_cpu_s", "gc_cpu_s", "peak_rss_bytes", "peak_heap_bytes", "run_delay_s")
    assert {getattr(worked, name) for name in unknown} == {None}


def test_the_cpu_of_a_thread_in_python_and_of_the_one_that_serves_it_in_java_count(spark):
    def compute(session, meter):
        with meter.step() as in_python:
            until_s = time.thread_time() + 0.3
            while time.thread_time() < until_s:
                pass
        with meter.step() as in_java:
            plans = [session.sql(WORK)._jdf.queryExecution().executedPlan() for _ in range(50)]
        return in_python.cost, in_java.cost, len(plans)

    in_python, in_java, _ = as_role("computing", compute)()
    assert 0.3 <= in_python.cpu_s < 0.6
    assert in_java.cpu_s > 0
    assert in_java.executor_cpu_s == 0


def test_what_a_role_executes_can_be_cancelled_and_its_cost_is_measured(spark):
    began = threading.Event()

    def run(session, meter):
        endless = session.sql(ENDLESS)
        try:
            with meter.step() as measured:
                began.set()
                endless.collect()
        except Py4JJavaError as error:
            return measured.cost, str(error)
        raise AssertionError("nothing was cancelled")

    def go_on(session, meter):
        return session.sql(WORK).collect()

    cancelled = as_role("cancelled", run)
    began.wait(60)
    other = as_role("other", go_on)
    for _ in range(600):
        spark.sparkContext.cancelJobGroup("cancelled")
        if not any(thread.name == "cancelled" for thread in threading.enumerate()):
            break
        time.sleep(0.1)
    cost, error = cancelled()
    assert "cancelled" in error
    assert cost.wall_s > 0
    assert len(other()) == 1
