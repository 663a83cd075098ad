import re
from collections.abc import Iterator
from zipfile import ZipFile

import pytest

from bench.engines.contract import TableSpec
from bench.engines.hudi.property_values import known_options, unknown_option, value_problem
from bench.engines.hudi.write_options import write_options
from bench.engines.runtime import jars
from bench.engines.spark.session import java_class
from strategies.hudi.clustering_plan import CLUSTERING_OPTIONS
from strategies.hudi.compaction_plan import COMPACTION_OPTIONS
from strategies.hudi.log_compaction_plan import LOG_COMPACTION_OPTIONS
from strategies.state import MIB

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
        ("hoodie.compact.inlin", "true", INLINE),
        ("hoodie.no.such.thing.at.all", "1", "not an option"),
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


# Sizes of a constant pool's entries by their tag, without tag 1 (Java Virtual Machine Specification 17, 4.4).
_SIZES = {
    **dict.fromkeys((3, 4, 9, 10, 11, 12, 17, 18), 5), **dict.fromkeys((5, 6), 9),
    **dict.fromkeys((7, 8, 16, 19, 20), 3), 15: 4,
}  # fmt: skip
_NAME = re.compile(rb"hoodie\.[A-Za-z0-9_.\-]*")


def texts(java_class: bytes) -> Iterator[bytes]:
    """The texts of a class's constant pool."""
    count, at, index = int.from_bytes(java_class[8:10], "big"), 10, 1
    while index < count:
        tag = java_class[at]
        if tag == 1:
            size = int.from_bytes(java_class[at + 1 : at + 3], "big")
            yield java_class[at + 3 : at + 3 + size]
            at += 3 + size
        else:
            at += _SIZES[tag]
        index += 2 if tag in (5, 6) else 1  # long and double take two places


@pytest.mark.spark
def test_hudis_bundle_does_not_replace_the_logger_of_spark(spark):
    factory = java_class(spark, "org.slf4j.LoggerFactory").getILoggerFactory()
    assert factory.getClass().getSimpleName() == "Log4jLoggerFactory"


@pytest.mark.spark
def test_options_txt_lists_the_names_in_the_jar():
    (bundle,) = (path for path in jars("hudi") if "hudi-spark" in path.name)
    with ZipFile(bundle) as jar:
        names = [name for name in jar.namelist() if re.match(r"org/apache/hudi/.*\.class$", name)]
        options = {text for name in names for text in texts(jar.read(name)) if _NAME.fullmatch(text)}
    assert {text.decode() for text in options} - {"hoodie."} == known_options()


def test_options_txt_has_every_option_that_is_used_here():
    spec = TableSpec(8 * MIB)
    used = {*write_options(spec, "orders"), *COMPACTION_OPTIONS, *CLUSTERING_OPTIONS, *LOG_COMPACTION_OPTIONS}
    assert [name for name in sorted(used) if unknown_option(name)] == []
