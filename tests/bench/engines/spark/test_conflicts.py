import pytest

from bench.engines.delta.engine import CONFLICTS as OF_DELTA
from bench.engines.iceberg.engine import CONFLICTS
from bench.engines.spark.engine import conflict_in

LOST = "org.apache.iceberg.exceptions.ValidationException"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{LOST}: Cannot commit, found new position delete", "Cannot commit, found new position delete"),
        (f"org.apache.spark.SparkException: Writing aborted ({LOST}: missing [a (b)])", "missing [a (b)]"),
        ("f-1.parquet is no longer live", "f-1.parquet is no longer live"),
        ("a newer delete was committed meanwhile: d", "a newer delete was committed meanwhile: d"),
        ("java.io.IOException: No space left on device", None),
    ],
)
def test_a_conflict_is_told_from_other_errors_with_its_reason(text, reason):
    assert conflict_in(text, CONFLICTS) == reason


@pytest.mark.parametrize(
    "name",
    [
        "ConcurrentAppend", "ConcurrentDeleteRead", "ConcurrentDeleteDelete", "ConcurrentTransaction",
        "ConcurrentWrite", "MetadataChanged", "ProtocolChanged",
    ],
)  # fmt: skip
def test_each_conflict_of_delta_has_its_reason(name):
    text = f"io.delta.exceptions.{name}Exception: [DELTA] {name}Exception: by a concurrent update. Try again."
    reason = f"[DELTA] {name}Exception: by a concurrent update. Try again."
    assert conflict_in(text, OF_DELTA) == reason
    assert conflict_in(f"org.apache.spark.SparkException: Job aborted ({text})", OF_DELTA) == reason


@pytest.mark.parametrize(
    "text",
    [
        "org.apache.spark.SparkException: Job 7 cancelled part of cancelled job group compactor",
        "org.apache.spark.sql.delta.DeltaAnalysisException: [DELTA_FAILED_TO_MERGE_FIELDS] Failed",
        "java.io.FileNotFoundException: File file:/t/part-0.parquet does not exist",
    ],
)
def test_other_errors_of_delta_are_no_conflicts(text):
    assert conflict_in(text, OF_DELTA) is None


def test_a_format_without_conflicts_has_none():
    assert conflict_in(f"{LOST}: missing", ()) is None
