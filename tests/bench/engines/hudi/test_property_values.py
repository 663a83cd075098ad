import pytest

from bench.engines.hudi.property_values import value_problem
from bench.engines.spark.session import java_class

INLINE = "hoodie.compact.inline"


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        (f"{INLINE}.trigger.strategy", "SOMETIMES", "NUM_COMMITS"),
        (f"{INLINE}.trigger.strategy", "TIME_ELAPSED", "hudi.time_elapsed"),
        (f"{INLINE}.max.delta.commits", "two", "must be"),
        ("hoodie.compaction.strategy", "Everything", "Everything"),
        ("hoodie.compaction.strategy", "BoundedPartitionAwareCompactionStrategy", "hudi.num_commits"),
        ("hoodie.compaction.target.io", "much", "must be"),
        ("hoodie.parquet.small.file.limit", "-1", "must be >= 0"),
        ("hoodie.copyonwrite.insert.split.size", "0", "must be >= 1"),
        ("hoodie.copyonwrite.record.size.estimate", "0", "must be >= 1"),
        ("hoodie.clustering.inline", "true", "hudi.clustering"),
        ("hoodie.clean.automatic", "True", "hudi.clean"),
        ("hoodie.partition.ttl.inline", "true", "partitions"),
        ("hoodie.datasource.write.recordkey.field", "user_id", "fixed"),
        ("hoodie.write.concurrency.mode", "SINGLE_WRITER", "fixed"),
        ("hoodie.datasource.compaction.async.enable", "true", "streaming"),
    ],
)
def test_an_option_that_cannot_work_is_refused(name, value, problem):
    assert problem in value_problem(name, value)


def test_other_options_are_not_checked():
    assert value_problem("hoodie.parquet.compression.codec", "zstd") is None
    assert value_problem("hoodie.clean.automatic", "false") is None
    assert value_problem("hoodie.write.lock.provider.of.mine", "1") is None
    assert value_problem("parquet.page.size", "1") is None
    assert value_problem("hoodie.compaction.strategy", "DayBased, LogFileSizeBased") is None


@pytest.mark.spark
def test_hudis_bundle_does_not_replace_the_logger_of_spark(spark):
    factory = java_class(spark, "org.slf4j.LoggerFactory").getILoggerFactory()
    assert factory.getClass().getSimpleName() == "Log4jLoggerFactory"
