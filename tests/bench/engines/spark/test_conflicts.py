from types import SimpleNamespace

import pytest

from bench.engines.contract import Version
from bench.engines.delta.engine import CONFLICTS as OF_DELTA
from bench.engines.hudi.engine import CONFLICTS as OF_HUDI
from bench.engines.hudi.services import has_no_lock
from bench.engines.iceberg.engine import CONFLICTS
from bench.engines.spark.engine import conflict_in, rewritten_by
from bench.results.values import Change

LOST = "org.apache.iceberg.exceptions.ValidationException"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{LOST}: Cannot commit, found new position delete", "Cannot commit, found new position delete"),
        (f"org.apache.spark.SparkException: Writing aborted ({LOST}: missing [a (b)])", "missing [a (b)]"),
        ("f-1.parquet is no longer live", "f-1.parquet is no longer live"),
        ("a newer delete was committed meanwhile: d", "a newer delete was committed meanwhile: d"),
        ("java.io.IOException: No space left on device", None),
        ("org.apache.iceberg.exceptions.CommitStateUnknownException: Cannot determine whether", None),
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


HUDI = "org.apache.hudi.exception"
LAST = "java.util.ConcurrentModificationException"
OVERLAPS = "Cannot resolve conflicts for overlapping writes between first operation = {a}, second = {b}"
PENDING = "Not allowed to update the clustering file group HoodieFileGroupId{partitionPath='', fileId='f'}"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{HUDI}.HoodieWriteConflictException: {LAST}: {OVERLAPS}", OVERLAPS),
        (f"{HUDI}.HoodieException: Commit failed ({LAST}: {OVERLAPS})", OVERLAPS),
        (f"{HUDI}.HoodieUpsertException: No ({HUDI}.HoodieClusteringUpdateException: {PENDING})", PENDING),
        (LAST, None),
        (f"{HUDI}.HoodieLockException: FAILED_TO_ACQUIRE lock", None),
    ],
)
def test_a_write_of_hudi_loses_by_overlapping_files_and_not_by_a_lock(text, reason):
    assert conflict_in(text, OF_HUDI) == reason


def test_a_format_without_conflicts_has_none():
    assert conflict_in(f"{LOST}: missing", ()) is None


def test_partitions_that_a_plan_has_rewritten_are_unknown_if_others_removed_files_meanwhile():
    own, added, gone = (
        Version(name, "any", Change(files_added_count=1, files_removed_count=count))
        for name, count in (("own", 3), ("added", 0), ("gone", 1))
    )
    observed = SimpleNamespace(rewritten={"p=a"})
    assert rewritten_by((own,), (added, own), observed) == {"p=a"}
    assert rewritten_by((own,), (gone, own), observed) is None
    assert rewritten_by((), (gone,), observed) == frozenset()


class JavaError:
    """An error of the gateway: its class, and its cause."""

    def __init__(self, name, cause=None):
        self._name, self._cause = name, cause

    def getClass(self):  # noqa: N802
        return self

    def getSimpleName(self):  # noqa: N802
        return self._name

    def getCause(self):  # noqa: N802
        return self._cause


def test_a_lock_that_cannot_be_had_is_found_among_the_causes():
    caused = JavaError(
        "HoodieException", JavaError("InvocationTargetException", JavaError("HoodieLockException"))
    )
    assert has_no_lock(caused)
    assert not has_no_lock(JavaError("HoodieException", JavaError("IOException")))
