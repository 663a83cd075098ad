from zipfile import ZipFile

import pytest
from scenario_builder import load

from bench import runtime
from bench.engines.spark.conf import SUBMIT_ARGUMENTS
from bench.errors import MissingRuntimeError, ScenarioError
from bench.runs import class_path
from bench.runs.class_path import check_class_path

S3, S3_CLIENT = "org.apache.iceberg.aws.s3.S3FileIO", "software.amazon.awssdk.services.s3.S3Client"
ON_S3 = {"type": "jdbc", "uri": "jdbc:sqlite:/c.db", "io-impl": S3}


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """A folder for jars. Spark is configured nowhere else, and the jar of the format has S3FileIO."""
    for name in ("SPARK_HOME", "SPARK_DIST_CLASSPATH", SUBMIT_ARGUMENTS):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    of_format = make_jar(tmp_path / "format.jar", S3)
    monkeypatch.setattr(runtime, "jars", lambda table_format, line: (of_format,))
    monkeypatch.setattr(runtime, "spark_jars", lambda: ())
    return tmp_path


def make_jar(path, *classes):
    with ZipFile(path, "w") as jar:
        for name in classes:
            jar.writestr(f"{name.replace('.', '/')}.class", b"")
    return path


def scenario(folder, properties=ON_S3, **spark):
    return load(folder, catalog={"properties": properties}, spark=spark)


def test_a_jar_of_the_scenario_that_is_not_there_is_named(folder):
    there = make_jar(folder / "there.jar")
    for elsewhere in ("s3a://bucket/other.jar", "local:/opt/other.jar", "/opt/jars/*.jar", f"file:{there}"):
        check_class_path(load(folder, spark={"spark.jars": f"{there}, {elsewhere}"}))
    told = r'demo: spark."spark.jars": /no/such.jar: no such file; correct the path'
    with pytest.raises(ScenarioError, match=told):
        check_class_path(load(folder, spark={"spark.jars": f"{there},/no/such.jar"}))


def test_a_class_that_no_jar_has_is_named_with_the_jar_that_has_it(folder):
    with pytest.raises(MissingRuntimeError) as caught:
        check_class_path(scenario(folder))
    assert str(caught.value) == (
        f'demo: catalog.properties.io-impl = "{S3}" needs the class {S3_CLIENT}, which no jar has: set '
        'spark."spark.jars.packages" = "org.apache.iceberg:iceberg-aws-bundle:1.11.0", or add that jar to '
        "spark.jars"
    )


@pytest.mark.parametrize(
    ("properties", "key", "name"),
    [
        ({"type": "GLUE"}, "catalog.properties.type", "org.apache.iceberg.aws.glue.GlueCatalog"),
        ({"catalog-impl": "com.mine.Lake"}, "catalog.properties.catalog-impl", "com.mine.Lake"),
        ({"type": "rest", "io-impl": "com.mine.Files"}, "catalog.properties.io-impl", "com.mine.Files"),
    ],
)
def test_the_class_itself_is_looked_for_too(folder, properties, key, name):
    with pytest.raises(MissingRuntimeError, match=f"{key} = .* needs the class {name}, which no jar has: "):
        check_class_path(scenario(folder, properties))
    jars = make_jar(folder / "own.jar", name, "software.amazon.awssdk.services.glue.GlueClient")
    check_class_path(scenario(folder, properties, **{"spark.jars": str(jars)}))


def test_a_class_may_be_among_the_jars_of_spark(folder, monkeypatch):
    monkeypatch.setattr(runtime, "spark_jars", lambda: (make_jar(folder / "spark.jar", S3_CLIENT),))
    check_class_path(scenario(folder))


def test_a_jar_that_is_damaged_has_no_class(folder):
    (folder / "damaged.jar").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(MissingRuntimeError, match=S3_CLIENT):
        check_class_path(scenario(folder, **{"spark.jars": str(folder / "damaged.jar")}))


@pytest.mark.parametrize(
    "settings",
    [
        {"spark.jars.packages": "org.example:mine:1"},
        {"spark.driver.extraClassPath": "/opt/jars/*"},
        {"spark.jars": "hdfs://host/mine.jar"},
    ],
)
def test_nothing_is_said_of_classes_that_may_be_elsewhere(folder, settings):
    check_class_path(scenario(folder, **settings))


@pytest.mark.parametrize("name", sorted(class_path._VARIABLES))
def test_nor_where_the_environment_names_another_place(folder, monkeypatch, name):
    monkeypatch.setenv(name, "anything")
    check_class_path(scenario(folder))


def test_nor_where_spark_has_defaults_of_the_machine(folder):
    (folder / "spark-defaults.conf").write_text("spark.jars.packages org.example:mine:1\n")
    check_class_path(scenario(folder))


def test_a_catalog_that_names_no_class_opens_no_jar(folder, monkeypatch):
    monkeypatch.setattr(class_path, "_entries", lambda jar: pytest.fail(f"opened {jar}"))
    check_class_path(scenario(folder, {"type": "rest", "uri": "http://localhost:8181"}))
    check_class_path(load(folder))
