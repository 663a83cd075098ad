"""What a catalog needs of Java: modules that not every Java has, and classes that may be in no jar."""

from collections.abc import Iterable, Mapping

from bench.engines.format import NeededClass

HTTP_OPTIONS = "jdk.net"  # socket options that Apache's HTTP client sets, which Iceberg's REST client uses

# Iceberg's runtime jar has these implementations without the SDK of their cloud: a class of the SDK that the
# bytecode of each in 1.11 refers to and, where that has been looked up, the jar by Iceberg that contains it.
_AWS, _GCP = "org.apache.iceberg:iceberg-aws-bundle", "org.apache.iceberg:iceberg-gcp-bundle"
_OF_SDKS: Mapping[str, tuple[str, str | None]] = {
    "org.apache.iceberg.aws.s3.S3FileIO": ("software.amazon.awssdk.services.s3.S3Client", _AWS),
    "org.apache.iceberg.aws.glue.GlueCatalog": ("software.amazon.awssdk.services.glue.GlueClient", _AWS),
    "org.apache.iceberg.aws.dynamodb.DynamoDbCatalog": (
        "software.amazon.awssdk.services.dynamodb.DynamoDbClient", _AWS,
    ),
    "org.apache.iceberg.gcp.gcs.GCSFileIO": ("com.google.cloud.storage.Storage", _GCP),
    "org.apache.iceberg.azure.adlsv2.ADLSFileIO": (
        "com.azure.storage.file.datalake.DataLakeFileSystemClient", None,
    ),
    "org.apache.iceberg.aliyun.oss.OSSFileIO": ("com.aliyun.oss.OSS", None),
    "org.apache.iceberg.gcp.bigquery.BigQueryMetastoreCatalog": (
        "com.google.cloud.bigquery.BigQueryOptions", _GCP,
    ),
}  # fmt: skip
_OF_TYPES = {
    "glue": "org.apache.iceberg.aws.glue.GlueCatalog",
    "bigquery": "org.apache.iceberg.gcp.bigquery.BigQueryMetastoreCatalog",
}  # org.apache.iceberg.CatalogUtil


def needed_java_modules(catalog: Mapping[str, str]) -> Iterable[str]:
    """The modules that a catalog with these properties needs of those that not every Java has."""
    implementation = catalog.get("catalog-impl", "").rpartition(".")[2]
    is_rest = catalog.get("type") == "rest" or implementation == "RESTCatalog"
    return (HTTP_OPTIONS,) if is_rest else ()


def needed_classes(catalog: Mapping[str, str]) -> Iterable[NeededClass]:
    """The classes that a catalog with these properties loads by name, and those of SDKs that they use."""
    named = {key: catalog.get(key) for key in ("catalog-impl", "io-impl")}
    for key, implementation in {"type": _OF_TYPES.get(catalog.get("type", "")), **named}.items():
        if implementation:
            yield NeededClass(key, implementation)
            if implementation in _OF_SDKS:
                yield NeededClass(key, *_OF_SDKS[implementation])
