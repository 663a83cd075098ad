"""The scenario lines of docs/where-to-run.md, with the addresses of components that are started here."""

import json
import os
import re
import socket
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path
from urllib.request import urlopen

import pytest
from shared_lake import SCENARIO

from bench.results.folders import load_runs
from bench.results.records import (
    CommitRecord,
    CompactionRecord,
    ContentRecord,
    ObserveRecord,
    QueryRecord,
)
from bench.runs.suite.dropping import left_by

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

PROGRAM = Path(sys.executable).parent / "compactbench"
PAGE = Path(__file__).parents[2] / "docs" / "where-to-run.md"
CONVERSION = """
[[strategies]]
label = "convert"
[[strategies.rules]]
trigger = { type = "every", interval = "2min" }
[strategies.rules.planner]
type = "amoro"
options = { "self-optimizing.minor.trigger.file-count" = 2, "self-optimizing.target-size" = "256KiB" }
"""
APPENDING = SCENARIO.replace('type = "upsert"\ninitial_rows = 2_000\ninitial_files = 2', 'type = "append"')
# Amoro merges files below an eighth of the target size, and converts the deletes of larger ones.
SIZES = {'"8MiB"': '"256KiB"', "initial_files = 2": "initial_files = 1"}
NO_KEYS = {
    "AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "/nowhere",
    "AWS_SHARED_CREDENTIALS_FILE": "/nowhere",
}  # fmt: skip
S3_KEYS = {"S3_KEY_ID": "test", "S3_KEY": "testsecret"}

SENDING = """
    import json, sys
    from pathlib import Path

    from bench.engines import runtime
    from bench.engines.contract import SparkSettings
    from bench.engines.spark.s3_requests import s3_requests
    from bench.engines.spark.session import java_class, start_session, stop_session

    folder, jar, address = sys.argv[1:]
    runtime.use_java()
    settings = SparkSettings("local[1]", 2**29, {"spark.jars": jar})
    spark = start_session(settings, runtime.jars("iceberg"), {}, Path(folder))
    properties = {
        "s3.endpoint": address, "s3.path-style-access": "true", "client.region": "us-east-1",
        "s3.access-key-id": "test", "s3.secret-access-key": "testsecret",
        "s3.multipart.part-size-bytes": str(5 * 2**20),
    }
    util = java_class(spark, "org.apache.iceberg.CatalogUtil")
    io = util.loadFileIO(
        "org.apache.iceberg.aws.s3.S3FileIO", properties, spark._jsc.hadoopConfiguration()
    )
    counted = s3_requests(spark)
    for name, size in (("a", 5), ("b", 5), ("large", 12 * 2**20)):
        stream = io.newOutputFile(f"s3://bucket/sent/{name}").createOrOverwrite()
        stream.write(bytes(size))
        stream.close()
    print(io.newInputFile("s3://bucket/sent/a").getLength())
    stream = io.newInputFile("s3://bucket/sent/b").newStream()
    print(stream.read())
    stream.close()
    io.deleteFile("s3://bucket/sent/a")
    io.deletePrefix("s3://bucket/sent/")
    print(json.dumps(counted.so_far()))
    stop_session(spark)
"""


def lines_with(text):
    """The block of scenario lines that contains a text."""
    blocks = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (block,) = (block for block in blocks if text in block)
    return block


def compactbench(*arguments, **environment):
    """What the command prints; it must succeed."""
    done = subprocess.run(
        [PROGRAM, *arguments],
        env={**os.environ, "TZ": "UTC", **environment}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def run(folder, lines, **environment):
    """The finished runs of a scenario with these lines."""
    scenario = SCENARIO + CONVERSION
    for size, of_large_files in SIZES.items():
        scenario = scenario.replace(size, of_large_files)
    (folder / "lake.toml").write_text(scenario + lines)
    asked = ("--repetitions", "1", "--out", folder / "results")
    compactbench("run", folder / "lake.toml", *asked, **environment)
    runs = load_runs(folder / "results")
    assert [run.finished for run in runs] == [True] * 3
    for one in runs:
        assert [content.status for content in one.of(ContentRecord)] == ["equal"]
        assert left_by(one.folder) == []
        print(one.manifest.strategy, sum(step.cost.cpu_s for step in one.of(CommitRecord)))
    by_label = {one.manifest.strategy: one.of(CompactionRecord) for one in runs}
    assert any(compaction.change.files_removed_count for compaction in by_label["every-2min"])
    assert any(compaction.is_converting for compaction in by_label["convert"])
    return runs


def plans_of_a_kept_table(folder, **environment):
    """A further run of the scenario, and what two strategies would do to its table, which it has kept."""
    scenario, results = folder / "lake.toml", folder / "kept"
    asked = ("--only", "strategy=never", "--repetitions", "1", "--keep-tables", "--out", results)
    compactbench("run", scenario, *asked, **environment)
    (kept,) = load_runs(results)
    (namespace,) = left_by(kept.folder)
    wanted = ("--strategy", "every-2min", "--strategy", "convert", "--format", "json")
    planned = json.loads(
        compactbench("plan", f"{namespace}.orders", "--scenario", scenario, *wanted, **environment)
    )
    compactbench("clean", results, "--scenario", scenario, **environment)
    assert left_by(kept.folder) == []
    return kept, planned


def files_below(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_spark_cluster(standalone, tmp_path):
    run(tmp_path, lines_with("spark.executor.cores").replace("spark://master.example:7077", standalone))


def test_a_cluster_that_sees_none_of_the_driver_s_folders(cluster_apart, tmp_path):
    address, shared, own = cluster_apart
    catalog = lines_with('"hadoop"').replace("/shared", str(shared))
    staging = lines_with("hdfs://namenode").replace(
        "hdfs://namenode.example:8020/staging", f"file://{shared}/staging"
    )
    lines = staging.replace("spark://master.example:7077", address)
    run(own, f"{catalog}\n{lines}")
    assert files_below(shared) == []


def test_a_rest_catalog(rest_catalog, full_jdk, tmp_path):
    address, warehouse = rest_catalog
    lines = lines_with("http://catalog.example:8181").replace("http://catalog.example:8181", address)
    run(tmp_path, lines, JAVA_HOME=str(full_jdk))
    kept, planned = plans_of_a_kept_table(tmp_path, JAVA_HOME=str(full_jdk))
    assert planned["table"]["data_files"] == kept.of(ObserveRecord)[-1].table.data_files_count
    (tmp_path / "append.toml").write_text(APPENDING + lines)
    asked = ("--repetitions", "1", "--out", tmp_path / "appended")
    compactbench("run", tmp_path / "append.toml", *asked, JAVA_HOME=str(full_jdk))
    contents = [one.of(ContentRecord)[0].status for one in load_runs(tmp_path / "appended")]
    assert contents == ["equal", "equal"]
    assert files_below(warehouse) == []


def test_a_rest_catalog_that_does_not_answer_is_told_before_anything_runs(full_jdk, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:  # it accepts connections, and that is all
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        lines = lines_with("http://catalog.example:8181").replace("http://catalog.example:8181", address)
        (tmp_path / "lake.toml").write_text(SCENARIO + lines + '"rest.client.socket-timeout-ms" = 1000\n')
        done = subprocess.run(
            [PROGRAM, "run", tmp_path / "lake.toml", "--repetitions", "1", "--out", tmp_path / "results"],
            env={**os.environ, "TZ": "UTC", "JAVA_HOME": str(full_jdk)}, capture_output=True, text=True,
        )  # fmt: skip
    assert done.returncode == 2
    assert address in done.stderr
    assert "Read timed out" in done.stderr
    assert not (tmp_path / "results" / "lake").exists()


def test_a_hadoop_catalog(tmp_path):
    run(tmp_path, lines_with('"hadoop"').replace("/shared", str(tmp_path)))
    assert files_below(tmp_path / "warehouse") == []


def test_a_hive_catalog(hive_metastore, tmp_path):
    lines = lines_with('"hive"').replace("thrift://metastore.example:9083", hive_metastore)
    run(tmp_path, lines.replace("/shared", str(tmp_path)))
    assert files_below(tmp_path / "warehouse") == []


@pytest.fixture
def s3_lines(s3_server, aws_jar, tmp_path):
    """The lines for a catalog on S3, here with its database in this test's folder."""
    address, _ = s3_server
    lines = lines_with("jdbc:sqlite").replace("http://s3.example:9000", address)
    return re.sub(r"/opt/jars/\S+?\.jar", str(aws_jar), lines.replace("/shared", str(tmp_path)))


def keys_in_s3(address):
    listing = urlopen(f"{address}/bucket?list-type=2").read().decode()
    keys = re.findall(r"<Key>(.*?)</Key>", listing)
    assert f"<KeyCount>{len(keys)}</KeyCount>" in listing
    return keys


def test_s3(s3_server, s3_lines, tmp_path):
    address, _ = s3_server
    runs = run(tmp_path, s3_lines, **S3_KEYS)
    assert all(one.of(CommitRecord)[-1].change.delete_files_added_count for one in runs)
    for one in runs:
        for step in (*one.of(CommitRecord), *one.of(CompactionRecord)):
            files_count = step.change.files_added_count + step.change.delete_files_added_count
            assert step.cost.requests["PUT"] >= files_count
        assert all(query.cost.requests["GET"] >= query.work.files_count for query in one.of(QueryRecord))
    compactbench("report", tmp_path / "results", "-o", tmp_path / "page")
    assert "Requests to S3" in (tmp_path / "page" / "report.md").read_text()
    kept, planned = plans_of_a_kept_table(tmp_path, **S3_KEYS)
    assert planned["table"]["data_files"] == kept.of(ObserveRecord)[-1].table.data_files_count
    assert keys_in_s3(address) == []


def test_s3_on_a_cluster_that_sees_none_of_the_driver_s_folders(s3_server, s3_lines, cluster_apart, tmp_path):
    (address, _), (master, shared, own) = s3_server, cluster_apart
    cluster = f'master = "{master}"\nstaging = "file://{shared}/staging"\n"spark.executor.memory" = "1g"\n'
    runs = run(own, s3_lines.replace(str(tmp_path), str(own)) + cluster, **S3_KEYS)
    assert all(one.of(CommitRecord)[-1].change.delete_files_added_count for one in runs)
    assert files_below(shared) == keys_in_s3(address) == []


def test_a_cluster_with_a_rest_catalog_that_vends_the_keys_of_s3(
    s3_server, rest_catalog_on_s3, aws_jar, cluster_apart, full_jdk
):
    (address, _), (master, shared, own) = s3_server, cluster_apart
    places = {
        "http://rest.example:8181": rest_catalog_on_s3, "http://s3.example:9000": address,
        "spark://master.example:7077": master, "/shared": str(shared),
        "/opt/jars/iceberg-aws-bundle-1.11.0.jar": str(aws_jar),
    }  # fmt: skip
    lines = lines_with("http://rest.example:8181")
    for example, place in places.items():
        lines = lines.replace(example, place)
    assert "access-key" not in lines
    runs = run(own, lines, JAVA_HOME=str(full_jdk), **NO_KEYS)
    assert all(one.of(CommitRecord)[-1].change.delete_files_added_count for one in runs)
    assert files_below(shared) == keys_in_s3(address) == []


def test_requests_are_those_that_the_server_gets(s3_server, aws_jar, tmp_path):
    address, log = s3_server
    before = len(log.read_text())
    done = subprocess.run(
        [sys.executable, "-", str(tmp_path), str(aws_jar), address],
        input=textwrap.dedent(SENDING), capture_output=True, text=True, env={**os.environ, "TZ": "UTC"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    received = Counter()
    told = re.sub(r"\x1b\[[\d;]*m", "", log.read_text()[before:])  # the server colours some answers
    for method, query in re.findall(r'"([A-Z]+) /bucket[^ ?]*\??([^ ]*) HTTP', told):
        is_listing, is_deleting = "list-type" in query, re.search(r"(^|&)delete(=|&|$)", query)
        received["LIST" if is_listing else "DELETE" if is_deleting else method] += 1
    assert json.loads(done.stdout.splitlines()[-1]) == dict(received)
    assert set(received) == {"PUT", "POST", "HEAD", "GET", "LIST", "DELETE"}
