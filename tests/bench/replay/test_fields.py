from bench.engines.contract import NO_COST, Observation
from bench.replay.fields import compacted_fields, table_fields


def observed(**delete_counts):
    return Observation(NO_COST, "1", 1, 2, 3, 4, 5, 6, delete_counts=delete_counts)


def test_a_count_of_the_format_goes_into_the_records():
    before, after = observed(equality_files_count=2), observed(equality_files_count=0)
    assert table_fields(before)["equality_files_count"] == 2
    assert compacted_fields(before, after, ())["equality_files_after_count"] == 0


def test_what_a_format_does_not_count_is_not_recorded_as_zero():
    assert table_fields(observed())["equality_files_count"] is None
    assert compacted_fields(observed(), observed(), ())["equality_files_after_count"] is None
