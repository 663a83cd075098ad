import pytest

from bench.engines.iceberg.catalog import _vended
from bench.engines.spark.session import java_class

pytestmark = pytest.mark.spark

LOCATION = "s3://bucket/lake/orders/metadata/v3.json"


@pytest.fixture
def file_io(spark):
    """Makes a FileIO of Iceberg with credentials by prefix, as a REST catalog sets them."""

    def make(*prefixes):
        credential = java_class(spark, "org.apache.iceberg.io.StorageCredential")
        credentials = java_class(spark, "java.util.ArrayList")()
        for prefix in prefixes:
            config = java_class(spark, "java.util.HashMap")()
            config["s3.session-token"] = f"for {prefix}"
            credentials.add(credential.create(prefix, config))
        io = java_class(spark, "org.apache.iceberg.io.ResolvingFileIO")()
        io.setCredentials(credentials)
        return io

    return make


def test_the_credentials_with_the_longest_prefix_are_taken(spark, file_io):
    io = file_io("s3", "s3://bucket/lake/orders", "s3://bucket/lake", "s3://other/lake/orders/metadata")
    assert _vended(spark, io, LOCATION) == {"s3.session-token": "for s3://bucket/lake/orders"}


def test_credentials_of_other_places_are_not_taken(spark, file_io):
    assert _vended(spark, file_io("gs"), LOCATION) == {}
    assert _vended(spark, file_io(), LOCATION) == {}


def test_a_file_io_that_knows_no_credentials_has_none(spark):
    assert _vended(spark, java_class(spark, "org.apache.iceberg.inmemory.InMemoryFileIO")(), LOCATION) == {}
