import re
from pathlib import Path

import pytest
from refused import refused

from bench.engines.contract import SparkSettings
from bench.engines.spark.conf import (
    DEFAULT_OPTIONS,
    REDACTION,
    SHUFFLE_PARTITIONS,
    jars_conf,
    join_tasks,
    own_java_options,
    redaction_conf,
)


@pytest.mark.parametrize(
    ("settings", "key", "own"),
    [
        (SparkSettings(), "spark.driver.extraClassPath", ""),
        (SparkSettings(master="spark://host:7077"), "spark.jars", ""),  # executors need them, too
        (SparkSettings(conf={"spark.jars": "a.jar, b.jar"}), "spark.jars", "a.jar,b.jar,"),
        (SparkSettings(conf={"spark.driver.extraClassPath": "own.jar"}), "spark.jars", ""),
    ],
)
def test_jars_are_on_the_class_path_of_a_local_session_unless_a_scenario_sets_it(settings, key, own):
    assert jars_conf(settings, [Path("format.jar")]) == {key: f"{own}format.jar"}


@pytest.mark.parametrize(
    ("key", "value", "logged"),
    [
        ("spark.some.uri", "jdbc:x://me:planted@host", "spark.some.uri"),
        ("spark.hadoop.some.uri", "https://host/x?sig=planted&se=1", "spark.hadoop.some.uri"),
        ("spark.hadoop.some.uri", "https://host/x?sig=planted&se=1", "some.uri"),
        ("spark.hive.some.uri", "jdbc:x://me:planted@host", "hive.some.uri"),
        ("spark.hadoop.fs.azure.account.key.a.net", "planted", "fs.azure.account.key.a.net"),
        ("spark.some.password", "planted", "spark.some.password"),
    ],
)
@pytest.mark.parametrize("own", [{}, {REDACTION: "mine"}])
def test_a_setting_with_a_secret_is_hidden_in_the_event_log_under_each_of_its_names(key, value, logged, own):
    pattern = redaction_conf({key: value, "spark.other": "public", **own})[REDACTION]
    assert re.search(pattern, logged)
    assert not re.search(pattern, "spark.other")
    assert bool(re.search(pattern, "of.mine")) == bool(own)


def test_a_jvm_that_crashes_reports_into_the_log_of_its_run():
    assert "-XX:+ErrorFileToStdout" in own_java_options(Path("/runs/a b"))[DEFAULT_OPTIONS].split()


def test_spark_trusts_whom_the_machine_trusts(tmp_path, monkeypatch):
    stores = tuple(tmp_path / name for name in ("missing", "cacerts"))
    monkeypatch.setattr("bench.engines.runtime._SYSTEM_TRUST_STORES", stores)
    assert "trustStore" not in own_java_options(tmp_path)[DEFAULT_OPTIONS]
    stores[1].touch()
    assert own_java_options(tmp_path)[DEFAULT_OPTIONS].endswith(f" -Djavax.net.ssl.trustStore={stores[1]}")


@pytest.mark.parametrize("text", ["0", "-1", "auto", ""])
def test_a_number_of_tasks_that_spark_rejects_is_refused(text):
    with refused("invalid", f'spark."{SHUFFLE_PARTITIONS}"'):
        join_tasks({SHUFFLE_PARTITIONS: text})
    assert join_tasks({SHUFFLE_PARTITIONS: "5"}) == 5
