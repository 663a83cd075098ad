"""Runs on Spark clusters: as on a local master, with the CPU of executors counted."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from bench.results.folders import load_runs
from bench.results.records import CommitRecord, ContentRecord

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

PROGRAM = Path(sys.executable).parent / "compactbench"
LOCAL_CLUSTER = "local-cluster[2,1,1024]"

MEASURED = """
    import json, sys
    from pathlib import Path

    import psutil

    from bench.engines import runtime
    from bench.engines.contract import EngineSettings, SparkSettings, TableSpec
    from bench.engines.spark.measured_session import measured_session

    def kernel_cpu_s():
        # Executors are children of workers, and those of a local cluster of the driver.
        times = [
            one.cpu_times()
            for one in psutil.process_iter(["cmdline"])
            if "CoarseGrainedExecutorBackend" in " ".join(one.info["cmdline"] or ())
            and app in one.info["cmdline"]
        ]
        return len(times), sum(one.user + one.system for one in times)

    runtime.use_java()
    settings = EngineSettings(Path(sys.argv[1]), TableSpec(2**20), SparkSettings(sys.argv[2], 2**29))
    with measured_session(settings, (), {}) as (spark, meter):
        app = spark.sparkContext.applicationId
        work = "SELECT count(*), sum(id % 7), max(sqrt(id)) FROM range(0, 60000000, 1, 4)"
        with meter.step():
            spark.sql(work).collect()
        executors, before_s = kernel_cpu_s()
        first, costs = meter.reading(), []
        for _ in range(6):
            with meter.step() as measured:
                spark.sql(work).collect()
            costs.append(measured.cost)
        _, after_s = kernel_cpu_s()
        last = meter.reading()
        print(json.dumps({
            "executors": executors, "kernel_s": after_s - before_s,
            "told_s": last.executor_processes_cpu_s - first.executor_processes_cpu_s,
            "tasks_s": sum(cost.executor_cpu_s for cost in costs), "cpu_s": sum(cost.cpu_s for cost in costs),
            "memory_bytes": meter.executors_memory_bytes(),
        }))
"""


@pytest.fixture(params=["standalone", "local-cluster"])
def master(request):
    return request.getfixturevalue("standalone") if request.param == "standalone" else LOCAL_CLUSTER


def test_the_cpu_of_executors_is_what_the_kernel_counts(master, tmp_path):
    done = subprocess.run(
        [sys.executable, "-", str(tmp_path), master],
        input=textwrap.dedent(MEASURED), capture_output=True, text=True, check=True,
    )  # fmt: skip
    told = json.loads(done.stdout.splitlines()[-1])
    print(told)
    assert told["executors"] == 2
    assert told["memory_bytes"] == 2 * 2**30
    assert told["told_s"] == pytest.approx(told["kernel_s"], rel=0.1)
    assert told["tasks_s"] < told["told_s"] < told["cpu_s"]


# Each step waits a second for the reports of executors, so suites are kept short: no figure is read here.
QUICKSTART = ("quickstart",)
UPSERTS = ("upsert-quick", "--only", "strategy=never", "--only", "strategy=spark-4min-deletes", "--only",
           "strategy=amoro")  # fmt: skip


@pytest.mark.parametrize("asked", [QUICKSTART, UPSERTS], ids=lambda asked: asked[0])
def test_a_suite_ends_with_the_content_of_the_stream(master, asked, tmp_path):
    few = ("--set", "warm_up_rounds=1", "--repetitions", "1")
    arguments = ["run", *asked, "--set", f'spark.master="{master}"', *few]
    subprocess.run(
        [PROGRAM, *arguments, "--out", tmp_path / "results"],
        env={**os.environ, "TZ": "UTC"}, check=True, capture_output=True, text=True,
    )  # fmt: skip
    runs = load_runs(tmp_path / "results")
    assert runs
    for run in runs:
        assert run.finished
        assert [content.status for content in run.of(ContentRecord)] == ["equal"]
        assert run.manifest.notes["cpu"] == "processes of a cluster"
        assert run.end.executors_memory_bytes == 2 * 2**30
        for step in run.of(CommitRecord):
            assert step.cost.cpu_s > step.cost.executor_cpu_s > 0
