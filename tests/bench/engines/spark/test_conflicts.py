import pytest

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


def test_a_format_without_conflicts_has_none():
    assert conflict_in(f"{LOST}: missing", ()) is None
