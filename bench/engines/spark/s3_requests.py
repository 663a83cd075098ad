"""The requests that a Spark process sends to S3, by the kinds that Amazon charges for."""

import re
import threading
import uuid
from collections import Counter
from collections.abc import Mapping
from typing import Any

from pyspark.sql import SparkSession

from bench.engines.spark.session import java_class

_LOGGER = "software.amazon.awssdk.request"  # SdkStandardLogger.REQUEST_LOGGER of the AWS SDK 2
# As RetryableStageHelper logs a request: the names of its query parameters are at its end.
_REQUEST = re.compile(
    r"(?:Sending|Retrying) Request: DefaultSdkHttpFullRequest\(httpMethod=(?P<method>[A-Z]+), .*"
    r"queryParameters=\[(?P<parameters>[^\]]*)\]\)"
)
_LISTING = {"list-type", "prefix", "delimiter", "uploads", "versions"}
_UPLOADING = {"uploads", "uploadId"}


def s3_request(message: str) -> str | None:
    """The kind of request in a log message of the AWS SDK: GET, HEAD, PUT, POST, LIST or DELETE.

    None if the message is not about a request to S3. The deletion of many objects, a POST, is a DELETE.
    """
    request = _REQUEST.fullmatch(message)
    if request is None:
        return None
    method, parameters = request["method"], set(request["parameters"].split(", "))
    if method == "GET" and parameters & _LISTING:
        return "LIST"
    if method == "POST":  # the SDK's clients of other services, such as Glue, only POST, without parameters
        return "DELETE" if "delete" in parameters else "POST" if parameters & _UPLOADING else None
    return method


class S3Requests:
    """Counts the requests that the AWS SDK, which S3FileIO uses, logs in the driver's JVM.

    Retried requests count again, as they are charged again.
    """

    def __init__(self, spark: SparkSession) -> None:
        self._counts: Counter[str] = Counter()
        self._reading = threading.Lock()
        writer = java_class(spark, "java.io.StringWriter")()
        self._text: Any = writer.getBuffer()
        core = "org.apache.logging.log4j.core"
        layout = java_class(spark, f"{core}.layout.PatternLayout").createDefaultLayout()  # a message a line
        appender = java_class(spark, f"{core}.appender.WriterAppender").createAppender(
            layout, None, writer, f"s3-requests-{uuid.uuid4()}", False, True
        )
        appender.start()
        debug = java_class(spark, "org.apache.logging.log4j.Level").DEBUG
        requests = java_class(spark, f"{core}.config.LoggerConfig")(_LOGGER, debug, False)
        requests.addAppender(appender, None, None)
        loader = java_class(spark, "org.apache.spark.util.Utils").getSparkClassLoader()
        context = java_class(spark, "org.apache.logging.log4j.LogManager").getContext(loader, False)
        configuration = context.getConfiguration()
        configuration.removeLogger(_LOGGER)  # of an earlier session in this JVM
        configuration.addLogger(_LOGGER, requests)
        context.updateLoggers()

    def so_far(self) -> Mapping[str, int]:
        """The number of requests of each kind since the session began."""
        with self._reading:
            length = self._text.length()
            if length:
                messages = self._text.substring(0, length).splitlines()
                self._counts.update(filter(None, map(s3_request, messages)))
                self._text.delete(0, length)
            return dict(self._counts)


def s3_requests(spark: SparkSession) -> S3Requests | None:
    """None without the AWS SDK 2, and if Hadoop has its own client for S3, whose requests are not counted."""
    utils = java_class(spark, "org.apache.spark.util.Utils")
    has_sdk = utils.classIsLoadable("software.amazon.awssdk.core.SdkStandardLogger")
    has_other_client = utils.classIsLoadable("org.apache.hadoop.fs.s3a.S3AFileSystem")
    return S3Requests(spark) if has_sdk and not has_other_client else None
