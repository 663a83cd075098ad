from pathlib import Path

import pytest

from bench.engines.contract import SparkSettings
from bench.engines.spark.conf import jars_conf


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
