"""What is counted as a request to S3, and that it is counted in a session."""

import pytest

from bench.engines.spark.s3_requests import S3Requests, s3_request, s3_requests
from bench.engines.spark.session import java_class


def message(method, *parameters, began="Sending", path="/bucket/data/a.parquet"):
    """As the AWS SDK 2.42 logs it."""
    return (
        f"{began} Request: DefaultSdkHttpFullRequest(httpMethod={method}, protocol=http, host=127.0.0.1, "
        f"port=9000, encodedPath={path}, headers=[amz-sdk-invocation-id, Range, User-Agent], "
        f"queryParameters=[{', '.join(parameters)}])"
    )


@pytest.mark.parametrize(
    ("logged", "kind"),
    [
        (message("GET"), "GET"),
        (message("GET", "partNumber", "versionId"), "GET"),
        (message("HEAD"), "HEAD"),
        (message("PUT"), "PUT"),
        (message("PUT", "partNumber", "uploadId"), "PUT"),
        (message("PUT", began="Retrying"), "PUT"),
        (message("POST", "uploads"), "POST"),
        (message("POST", "uploadId"), "POST"),
        (message("POST", "delete"), "DELETE"),
        (message("DELETE"), "DELETE"),
        (message("GET", "list-type", "prefix"), "LIST"),
        (message("GET", "prefix"), "LIST"),
        (message("GET", path="/bucket/queryParameters=[prefix])"), "GET"),
        (message("POST", path="/"), None),  # Glue, DynamoDB or STS
        ("Received successful response: 200, Request ID: 7", None),
        ("", None),
    ],
)
def test_a_request_is_of_the_kind_that_it_is_charged_as(logged, kind):
    assert s3_request(logged) == kind


@pytest.fixture
def sent(spark):
    """Logs a message as the AWS SDK does."""
    return java_class(spark, "org.slf4j.LoggerFactory").getLogger("software.amazon.awssdk.request").debug


@pytest.mark.spark
def test_a_session_counts_what_the_sdk_logs(spark, sent):
    counted = S3Requests(spark)
    assert counted.so_far() == {}
    sent(message("PUT"))
    sent(message("GET"))
    assert counted.so_far() == {"PUT": 1, "GET": 1}
    sent("Received successful response: 200")
    sent(message("GET", began="Retrying"))
    assert counted.so_far() == counted.so_far() == {"PUT": 1, "GET": 2}


@pytest.mark.spark
def test_a_later_session_in_the_same_jvm_counts_anew(spark, sent):
    earlier, later = S3Requests(spark), S3Requests(spark)
    sent(message("PUT"))
    assert (earlier.so_far(), later.so_far()) == ({}, {"PUT": 1})


@pytest.mark.spark
def test_without_the_aws_sdk_nothing_is_counted(spark):
    assert s3_requests(spark) is None
