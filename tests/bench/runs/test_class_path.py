import os
from zipfile import ZipFile

import pytest
from scenario_builder import load

from bench import runtime
from bench.errors import MissingRuntimeError, ScenarioError
from bench.runs import class_path
from bench.runs.class_path import check_classes, check_jars

S3, S3_CLIENT = "org.apache.iceberg.aws.s3.S3FileIO", "software.amazon.awssdk.services.s3.S3Client"
ON_S3 = {"type": "jdbc", "uri": "jdbc:sqlite:/c.db", "io-impl": S3}


VARIABLES = (
    "PYSPARK_SUBMIT_ARGS", "SPARK_DIST_CLASSPATH", "SPARK_SUBMIT_OPTS", "HADOOP_CONF_DIR", "YARN_CONF_DIR",
    "JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS",
)  # fmt: skip


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """A folder for jars. Spark is configured nowhere else, and the jar of the format has S3FileIO."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))
    monkeypatch.delenv("SPARK_CONF_DIR", raising=False)
    (tmp_path / "spark" / "jars").mkdir(parents=True)
    of_format = make_jar(tmp_path / "format.jar", S3)
    monkeypatch.setattr(runtime, "jars", lambda table_format, line: (of_format,))
    return tmp_path


def make_jar(path, *classes):
    with ZipFile(path, "w") as jar:
        for name in classes:
            jar.writestr(f"{name.replace('.', '/')}.class", b"")
    return path


def scenario(folder, properties=ON_S3, **spark):
    return load(folder, catalog={"properties": properties}, spark=spark)


def test_a_jar_of_the_scenario_that_cannot_be_read_is_named(folder):
    there, damaged, pipe = make_jar(folder / "there.jar"), folder / "damaged.jar", folder / "pipe.jar"
    os.mkfifo(pipe)
    damaged.write_bytes(there.read_bytes()[:10])
    for elsewhere in ("s3a://bucket/other.jar", "local:/opt/other.jar", "/opt/jars/*.jar", f"file:{there}"):
        check_jars(load(folder, spark={"spark.jars": f"{there}, {elsewhere}"}))
    for jar, problem in {
        "/no/such.jar": "no such file",
        folder: "is a folder",
        damaged: "is damaged",
        pipe: "is not a file",
    }.items():
        with pytest.raises(ScenarioError, match=rf'demo: spark."spark.jars": {jar}: {problem}'):
            check_jars(load(folder, spark={"spark.jars": f"{there},{jar}"}))


def test_a_class_that_no_jar_has_is_named_with_the_jar_that_has_it(folder):
    with pytest.raises(MissingRuntimeError) as caught:
        check_classes(scenario(folder))
    assert str(caught.value) == (
        f'demo: catalog.properties.io-impl = "{S3}" needs the class {S3_CLIENT}, which is in no jar of '
        "Spark, of Iceberg or of spark.jars: set "
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
    with pytest.raises(
        MissingRuntimeError, match=f"{key} = .* needs the class {name}, which is in no jar of "
    ):
        check_classes(scenario(folder, properties))
    jars = make_jar(folder / "own.jar", name, "software.amazon.awssdk.services.glue.GlueClient")
    check_classes(scenario(folder, properties, **{"spark.jars": str(jars)}))


def test_a_library_of_an_implementation_is_asked_for_where_the_format_publishes_no_jar_of_it(folder):
    files = "org.apache.iceberg.azure.adlsv2.ADLSFileIO"
    jars = {"spark.jars": str(make_jar(folder / "own.jar", files))}
    with pytest.raises(
        MissingRuntimeError, match=r"needs the class com\.azure\..*: add a jar that has it to"
    ):
        check_classes(scenario(folder, {"type": "rest", "io-impl": files}, **jars))


def test_a_class_may_be_among_the_jars_of_spark(folder):
    make_jar(folder / "spark" / "jars" / "any.jar", S3_CLIENT)
    check_classes(scenario(folder))


def test_nothing_is_said_where_a_jar_cannot_be_read(folder):
    (folder / "spark" / "jars" / "any.jar").write_bytes(b"PK and no more")
    check_classes(scenario(folder))


@pytest.mark.parametrize(
    "settings",
    [
        {"spark.jars.packages": "org.example:mine:1"},
        {"spark.driver.extraClassPath": "/opt/jars/*"},
        {"spark.driver.extraJavaOptions": "-javaagent:/opt/mine.jar"},
        {"spark.driver.defaultJavaOptions": "-Xbootclasspath/a:/opt/mine.jar"},
        {"spark.jars": "hdfs://host/mine.jar"},
        {"spark.sql.catalog.lake": "com.mine.SparkCatalog"},
    ],
)
def test_nothing_is_said_of_classes_that_may_be_elsewhere(folder, settings):
    check_classes(scenario(folder, **settings))


@pytest.mark.parametrize("name", VARIABLES)
def test_nor_where_the_environment_may_bring_them(folder, monkeypatch, name):
    monkeypatch.setenv(name, "anything")
    check_classes(scenario(folder))


def test_nor_where_spark_has_a_folder_of_settings(folder):
    (folder / "spark" / "conf").mkdir()
    check_classes(scenario(folder))


def test_a_catalog_that_names_no_class_opens_no_jar(folder, monkeypatch):
    monkeypatch.setattr(class_path, "ZipFile", lambda jar: pytest.fail(f"opened {jar}"))
    check_classes(scenario(folder, {"type": "rest", "uri": "http://localhost:8181"}))
    check_classes(load(folder))
