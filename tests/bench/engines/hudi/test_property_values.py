import pytest

from bench.engines.hudi.property_values import value_problem

INLINE = "hoodie.compact.inline"


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        (f"{INLINE}.trigger.strategy", "SOMETIMES", "must be one of NUM_COMMITS"),
        (f"{INLINE}.max.delta.commits", "two", "must be a whole number"),
        (f"{INLINE}.max.delta.commits", "-1", "must be >= 0"),
        ("hoodie.compaction.strategy", "Everything", "is not one of"),
        ("hoodie.compaction.target.io", "much", "must be a whole number"),
        ("hoodie.compaction.strategy", "BoundedPartitionAwareCompactionStrategy", "chooses by the real date"),
        ("hoodie.parquet.small.file.limit", "64MiB", "must be a whole number"),
        ("hoodie.parquet.small.file.limit", "-1", "must be >= 0"),
        ("hoodie.copyonwrite.insert.split.size", "0", "must be >= 1"),
        ("hoodie.copyonwrite.record.size.estimate", "0", "must be >= 1"),
        ("hoodie.clustering.inline", "true", "a rule with the planner hudi.clustering and inline = true"),
        ("hoodie.clean.automatic", "True", "a rule of [[maintenance]] with the planner hudi.clean"),
        ("hoodie.partition.ttl.inline", "true", "would have commits drop partitions"),
        ("hoodie.datasource.write.recordkey.field", "user_id", "is the same for every table"),
        (f"{INLINE}.trigger.strategy", "TIME_ELAPSED", "the trigger hudi.time_elapsed"),
        ("hoodie.compact.inlin", "true", 'did you mean "hoodie.compact.inline"?'),
        ("hoodie.no.such.thing.at.all", "1", "is not an option of Hudi 1.2"),
        ("hoodie.datasource.compaction.async.enable", "true", "streaming writes alone"),
    ],
)
def test_what_hudi_would_refuse_is_said_before_a_run(name, value, problem):
    assert problem in value_problem(name, value)


def test_other_properties_are_not_judged():
    assert value_problem("hoodie.parquet.compression.codec", "zstd") is None
    assert value_problem("hoodie.clean.automatic", "false") is None
    assert value_problem("hoodie.write.lock.provider.of.mine", "1") is None
    assert value_problem("parquet.page.size", "1") is None
    assert value_problem("hoodie.compaction.strategy", "DayBased, LogFileSizeBased") is None
