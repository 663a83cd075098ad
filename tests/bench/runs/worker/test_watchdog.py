import subprocess
import sys
import textwrap
import threading
import time

import pytest

from bench.runs.worker.watchdog import Watchdog


def watched(ask, silence_max_s=0.3):
    """A watchdog that has begun, and an event that is set when it ends what it watches."""
    ended = threading.Event()
    dog = Watchdog(ask, ended.set, silence_max_s, ping_every_s=0.05)
    dog.start()
    return dog, ended


def test_what_does_not_answer_is_ended(capsys):
    release = threading.Event()
    dog, ended = watched(release.wait)
    assert ended.wait(60)
    assert dog.verdict == "Java did not answer for 0.3 s and was ended"
    assert capsys.readouterr().out == f"{dog.verdict}\n"
    release.set()


def test_what_answers_or_fails_is_left_alone():
    def fail():
        raise ConnectionError

    asks = (lambda: None, fail, lambda: time.sleep(0.1))
    dogs, ended = zip(*(watched(ask, silence_max_s=1.0) for ask in asks), strict=True)
    time.sleep(2.5)
    assert [event.is_set() for event in ended] == [False] * len(asks)
    assert [dog.verdict for dog in dogs] == [None] * len(asks)


@pytest.mark.spark
@pytest.mark.processes
def test_a_jvm_that_is_stopped_is_ended_and_the_call_to_it_fails(tmp_path):
    script = """
        import os, signal, sys
        from pathlib import Path

        from py4j.protocol import Py4JError
        from pyspark import SparkContext

        from bench.engines import runtime
        from bench.engines.contract import SparkSettings
        from bench.engines.spark.session import start_session
        from bench.runs.worker.watchdog import Watchdog, _ping_jvm, _end_jvm

        runtime.use_java()
        dog = Watchdog(_ping_jvm, _end_jvm, silence_max_s=2, ping_every_s=0.2)
        dog.start()
        spark = start_session(SparkSettings("local[1]", 2**29), (), {}, Path(sys.argv[1]))
        os.kill(SparkContext._gateway.proc.pid, signal.SIGSTOP)
        try:
            spark.sql("SELECT 1").collect()
        except (Py4JError, ConnectionError):
            print("failed")
    """
    done = subprocess.run(
        [sys.executable, "-", str(tmp_path)], input=textwrap.dedent(script), capture_output=True, text=True
    )
    lines = sorted(done.stdout.splitlines())  # of two threads
    assert lines == ["Java did not answer for 2 s and was ended", "failed"], done.stderr
