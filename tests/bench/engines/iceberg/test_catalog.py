from types import SimpleNamespace

import pytest
from refused import refused

from bench.engines.iceberg import catalog as catalogs
from bench.engines.iceberg.catalog import Catalog
from bench.engines.iceberg.places import is_below, is_named_after
from bench.engines.journal import Journal

SOCKET_TIME_OUT = "rest.client.socket-timeout-ms"


def test_metadata_is_read_with_what_the_catalog_has_vended(tmp_path, monkeypatch):
    vended = {"s3.access-key-id": "vended", "s3.session-token": "for an hour"}
    current = SimpleNamespace(metadataFileLocation=lambda: "s3://bucket/orders/metadata/v3.json")
    table = SimpleNamespace(
        io=lambda: SimpleNamespace(properties=lambda: vended),
        operations=lambda: SimpleNamespace(current=lambda: current),
    )
    monkeypatch.setattr(catalogs, "java_table", lambda spark, name: table)
    monkeypatch.setattr(catalogs.StaticTable, "from_metadata", lambda location, known: (location, known))
    given = {"type": "rest", "s3.access-key-id": "given", "s3.region": "x"}
    monkeypatch.setattr(catalogs, "_vended", lambda spark, io, location: {"s3.session-token": location[:5]})
    load = Catalog(tmp_path, "mine", "bench_r1", given).loader(None)
    location, known = load()
    assert location == "s3://bucket/orders/metadata/v3.json"
    assert known == {"type": "rest", "s3.region": "x", **vended, "s3.session-token": "s3://"}


@pytest.mark.parametrize(("given", "used"), [({}, "120000"), ({SOCKET_TIME_OUT: "7"}, "7")])
def test_a_client_of_a_catalog_does_not_wait_for_ever(tmp_path, given, used):
    conf = Catalog(tmp_path, "mine", "bench_r1", {"type": "rest", **given}).spark_conf()
    assert conf[f"spark.sql.catalog.mine.{SOCKET_TIME_OUT}"] == used


@pytest.mark.parametrize(
    ("given", "timeout", "mode"),
    [
        ({}, "60000", "WAL"),
        ({"type": "jdbc", "uri": "jdbc:sqlite:/lake/catalog.db"}, "60000", None),
        ({"type": "jdbc", "uri": "jdbc:sqlite:/lake/catalog.db", "jdbc.busy_timeout": "7"}, "7", None),
        ({"type": "jdbc", "uri": "jdbc:postgresql://host/lake"}, None, None),
    ],
)
def test_processes_on_one_table_wait_for_the_lock_of_sqlite(tmp_path, given, timeout, mode):
    def set_by(**keys):
        conf = Catalog(tmp_path, "mine", "bench_r1", given, **keys).spark_conf()
        return [conf.get(f"spark.sql.catalog.mine.jdbc.{key}") for key in ("busy_timeout", "journal_mode")]

    assert set_by(is_shared_table=True) == [timeout, mode]
    assert set_by() == [given.get("jdbc.busy_timeout"), None]


OWN = "s3://b/lake/bench_r1/orders"
S3_FILE_IO = "org.apache.iceberg.aws.s3.S3FileIO"


@pytest.fixture
def spark(monkeypatch):
    """Notes what is deleted and run; `location` and `properties` are those of the table, if there is one."""

    def table(spark, name):
        io = SimpleNamespace(getClass=lambda: SimpleNamespace(getName=lambda: S3_FILE_IO))
        return SimpleNamespace(
            io=lambda: io, location=lambda: fake.location, properties=lambda: fake.properties
        )

    def deleted(gateway, io, folders):
        fake.deleted += folders

    util = SimpleNamespace(loadFileIO=lambda implementation, properties, hadoop: implementation)
    conf = SimpleNamespace(getAll=lambda: [("spark.sql.catalog.mine.io-impl", "my.FileIO")])
    fake = SimpleNamespace(
        location=None, properties={}, deleted=[], ran=[],
        sparkContext=SimpleNamespace(_gateway=None, getConf=lambda: conf),
        _jsc=SimpleNamespace(hadoopConfiguration=lambda: None),
        catalog=SimpleNamespace(tableExists=lambda name: fake.location is not None),
        sql=lambda statement: fake.ran.append(statement),
    )  # fmt: skip
    monkeypatch.setattr(catalogs, "java_table", table)
    monkeypatch.setattr(catalogs, "delete_below", deleted)
    monkeypatch.setattr(catalogs, "java_class", lambda spark, name: util)
    return fake


@pytest.fixture
def catalog(tmp_path):
    return Catalog(tmp_path, "mine", "bench_r1", {"type": "rest"}, Journal(tmp_path / "namespaces"))


@pytest.mark.parametrize("key", ["write.data.path", "write.metadata.path"])
def test_a_folder_that_the_catalog_has_set_for_all_tables_is_not_deleted(spark, catalog, key):
    spark.location, spark.properties = OWN, {key: "s3://b/shared"}
    with refused("not-ours", "s3://b/shared"):
        catalog.drop_table(spark)
    assert (spark.deleted, spark.ran, catalog.journal.names()) == ([], [], [])


def test_what_is_below_the_location_of_a_table_is_deleted_whatever_its_name(spark, catalog):
    spark.location, spark.properties = "s3://b/6f0d", {"write.metadata.path": "s3://m/bench_r1/orders"}
    catalog.drop_table(spark)
    assert spark.deleted == ["s3://b/6f0d/data", "s3://m/bench_r1/orders", "s3://b/6f0d"]


@pytest.mark.parametrize("noted", ["s3://prod/bench_r1chive", "s3://b/6f0d", "file:///x/bench_r1/../prod"])
def test_a_noted_folder_without_the_name_of_the_namespace_is_not_deleted(spark, catalog, noted):
    catalog.journal.note("bench_r1", (S3_FILE_IO, OWN, noted))
    with refused("not-ours", noted):
        catalog.drop_table(spark)
    assert spark.deleted == []
    assert catalog.journal.names() == ["bench_r1"]


@pytest.mark.parametrize("implementation", [S3_FILE_IO, "my.FileIO"])
def test_noted_files_are_deleted_by_a_file_io_of_iceberg_or_of_the_catalog(spark, catalog, implementation):
    hive = "s3://b/lake/bench_r1.db/orders"
    catalog.journal.note("bench_r1", (implementation, OWN, hive))
    catalog.drop_table(spark)
    assert spark.deleted == [OWN, hive]
    assert catalog.journal.names() == []


def test_names_of_folders_are_compared_part_by_part():
    assert is_named_after("bench_a", "s3://prod/bench_a/orders")
    assert is_named_after("bench_a", "hdfs://host/bench_a.db")
    assert not is_named_after("bench_a", "s3://prod/bench_archive/orders")
    assert is_below("s3://b/t/", "s3://b/t/data")
    assert is_below("s3://b/t", "s3://b/t")
    assert not is_below("s3://b/t", "s3://b/table")
    assert not is_below("s3://b/t", "s3://b/t/../other")
