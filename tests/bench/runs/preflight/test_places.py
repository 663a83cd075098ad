"""A table is made and dropped where a scenario wants it, or the error names where that is."""

import socket

import pytest
from scenario_builder import SOUND, write

from bench.errors import MissingRuntimeError, ScenarioError
from bench.runs.preflight.places import TRIES, check_places
from bench.runs.settings import NAMESPACE_NOTES
from bench.runs.suite.cases import plan_runs
from bench.runs.suite.results_folder import WORK
from bench.scenario.load import load_scenario

pytestmark = pytest.mark.spark


def check(folder, properties, spark=""):
    lines = "".join(f"{key} = {value!r}\n" for key, value in properties.items())
    file = write(folder, f"{SOUND}\n[spark]\n{spark}\n[catalog.properties]\n{lines}")
    check_places(plan_runs([load_scenario(file)], (), 1, ()), folder / "results")


def test_nothing_is_left_of_a_table_that_could_be_made_nor_of_one_whose_try_was_killed(tmp_path):
    killed = tmp_path / "results" / TRIES / "demo" / "base" / "try_1234" / NAMESPACE_NOTES / "bench_try_1234"
    killed.parent.mkdir(parents=True)
    killed.touch()
    namespace = tmp_path / "warehouse" / "bench_try_1234"
    namespace.mkdir(parents=True)
    check(tmp_path, {"type": "hadoop", "warehouse": f"file://{tmp_path}/warehouse"})
    assert not namespace.exists()
    assert [path.name for path in (tmp_path / "results").iterdir()] == [WORK]
    assert [path for path in (tmp_path / "warehouse").rglob("*") if path.is_file()] == []


def test_a_class_that_is_missing_is_named_and_nothing_is_left(tmp_path):
    files = "org.apache.iceberg.aws.s3.S3FileIO"
    catalog = {"uri": f"jdbc:sqlite:{tmp_path}/catalog.db", "warehouse": "s3://bucket/warehouse"}
    with pytest.raises(MissingRuntimeError) as caught:
        check(tmp_path, {"type": "jdbc", "io-impl": files, "jdbc.schema-version": "V1", **catalog})
    assert catalog["uri"] in str(caught.value)
    assert files in str(caught.value)
    assert "add a jar with software.amazon.awssdk." in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_package_that_cannot_be_resolved_is_named(tmp_path):
    ivy = tmp_path / "ivy.xml"
    here = f'<filesystem name="here"><artifact pattern="{tmp_path}/[artifact].[ext]"/></filesystem>'
    ivy.write_text(
        f'<ivysettings><settings defaultResolver="here"/><resolvers>{here}</resolvers></ivysettings>'
    )
    options = {"packages": "org.example:no-such-jar:1.0", "ivySettings": str(ivy), "ivy": f"{tmp_path}/ivy"}
    spark = "\n".join(f'"spark.jars.{key}" = {value!r}' for key, value in options.items())
    with pytest.raises(
        MissingRuntimeError, match=r"cannot resolve org\.example:no-such-jar:1\.0 of spark\.jars"
    ):
        check(tmp_path, {"type": "hadoop", "warehouse": f"file://{tmp_path}/warehouse"}, spark)


def test_a_server_that_does_not_answer_is_named_without_its_password(tmp_path):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        address = f"thrift://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(ScenarioError) as caught:
            check(tmp_path, {"type": "hive", "uri": address, "hive.password": "Zq7secret"})
    assert f'catalog.properties.uri = "{address}"' in str(caught.value)
    assert "Zq7secret" not in str(caught.value)
    assert "\n" not in str(caught.value)
