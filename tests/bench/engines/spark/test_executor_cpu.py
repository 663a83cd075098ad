"""What executors report of their CPU; no Java here, but lines as Spark's GraphiteSink writes them."""

import socket
import threading
import time
from contextlib import closing

import pytest
from refused import refused

from bench.engines.spark import executor_cpu
from bench.engines.spark.executor_cpu import ExecutorCpu


@pytest.fixture
def executors():
    """Executors that listen to nobody yet, and a function that sends them a line."""
    with closing(ExecutorCpu()) as executors:
        conf = executors.listen("127.0.0.1", "driver.example")
        prefix = "spark.metrics.conf.executor.sink.compactbench."
        assert conf[f"{prefix}host"] == "driver.example"

        known = conf[f"{prefix}prefix"].encode() + b"."

        def send(*lines, own=known):
            with socket.create_connection(("127.0.0.1", int(conf[f"{prefix}port"]))) as connection:
                connection.sendall(b"".join(own + line + b"\n" for line in lines))

        yield executors, send


def gauge(executor, cpu_s, application=b"app-20260101000000-0000"):
    return b"%s.%s.JVMCPU.jvmCpuTime %d 1767225600" % (application, executor, cpu_s * 1e9)


def wait_until(holds):
    until_s = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < until_s
        time.sleep(0.01)


def test_the_latest_report_of_each_executor_counts(executors):
    executors, send = executors
    assert executors.latest_s() == 0.0
    send(gauge(b"0", 1.5), gauge(b"1", 2.0), gauge(b"0", 1.75))
    wait_until(lambda: executors.latest_s() == 3.75)
    send(gauge(b"12", 1.0, b"my.name.space"))
    wait_until(lambda: executors.latest_s() == 4.75)


def test_lines_of_others_are_skipped(executors):
    executors, send = executors
    send(gauge(b"0", 7.0), own=b"")
    send(gauge(b"0", 7.0), own=b"0123456789abcdef.")
    send(b"x" * 5000 + gauge(b"0", 7.0), gauge(b"0", 2.0))
    wait_until(lambda: executors.latest_s() > 0)
    assert executors.latest_s() == 2.0


def test_a_step_ends_with_reports_that_are_newer_than_it(executors):
    executors, send = executors
    send(gauge(b"0", 1.0), gauge(b"1", 1.0))
    wait_until(lambda: executors.latest_s() == 2.0)
    answers, has_asked = [], threading.Event()

    def living():
        has_asked.set()
        return ["0", "1"]

    asking = threading.Thread(target=lambda: answers.append(executors.fresh_s(living)))
    asking.start()
    has_asked.wait()
    send(gauge(b"0", 1.5))
    time.sleep(0.05)
    assert not answers  # the other one has not reported
    send(gauge(b"1", 1.25))
    asking.join(60)
    assert answers == [2.75]


def test_executors_that_have_ended_are_counted_but_not_waited_for(executors):
    executors, send = executors
    send(gauge(b"0", 1.0))
    wait_until(lambda: executors.latest_s() == 1.0)
    assert executors.fresh_s(lambda: []) == 1.0


def test_a_silent_executor_is_an_error_that_says_what_to_do(executors, monkeypatch):
    executors, _ = executors
    monkeypatch.setattr(executor_cpu, "SILENCE_MAX_S", 0.1)
    monkeypatch.setattr(executor_cpu, "PERIOD_S", 0.05)
    with refused("no-executor-cpu"):
        executors.fresh_s(lambda: ["7"])


def test_an_address_that_is_not_of_this_machine_is_an_error():
    with closing(ExecutorCpu()) as executors, refused("not-listening"):
        executors.listen("192.0.2.1", "192.0.2.1")
