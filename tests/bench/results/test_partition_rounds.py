"""Rounds of compactions, from records in one line each."""

import pytest
from records import compaction, observed, run

from bench.results.partition_rounds import (
    Round,
    Wait,
    longest_wait,
    never_taken,
    read_amplification,
    read_bytes,
    rounds,
    waiting_bytes_mean,
)

MINUTE_MS = 60_000


def after_commit(tick=1, **sizes):
    """Data of 100 bytes in each partition of these log or delete files."""
    beside = dict.fromkeys(sizes, 100)
    return observed(
        tick=tick, at_ms=tick * MINUTE_MS, delete_bytes_by_partition=sizes, data_bytes_by_partition=beside
    )


def after_compaction(*names, tick=1, status="ok", scheduled=None, **left):
    """What waits afterwards, and the partitions taken."""
    at_ms = tick * MINUTE_MS
    return (
        observed(tick=tick, at_ms=at_ms, after="compaction", delete_bytes_by_partition=left),
        compaction(
            tick=tick, at_ms=at_ms, partitions=list(names), status=status,
            scheduled_at_ms=at_ms if scheduled is None else scheduled * MINUTE_MS,
        ),
    )  # fmt: skip


def a_round(taken="", left=""):
    return Round(frozenset(taken), frozenset(left))


def test_a_round_is_a_compaction_that_did_not_fail():
    records = (
        after_commit(a=1, b=2),
        *after_compaction("a", b=2),
        after_commit(2, b=2),
        *after_compaction(tick=2, status="noop", b=2),
        *after_compaction("b", tick=3, status="failed", b=2),
        compaction(partitions=None),
    )
    assert list(rounds(run(*records))) == [a_round("a", "b"), a_round("", "b")]


def test_a_partition_is_never_taken_if_it_still_waits_at_the_end():
    done = [a_round("a", "bc"), a_round("c", "b")]
    assert never_taken(done) == {"b"}
    assert never_taken([*done, a_round("b")]) == never_taken([]) == frozenset()


@pytest.mark.parametrize(
    ("records", "minutes", "is_open"),
    [
        ([], 0, False),
        ([after_commit(1, a=1), after_commit(2, a=2), *after_compaction("a", tick=3)], 2, False),
        ([after_commit(1, a=1), *after_compaction("a", tick=3), after_commit(9, a=1)], 2, False),
        ([after_commit(1, a=1), *after_compaction("b", tick=3, a=1)], 9, True),
        # Of a delayed compaction, what came since its plan goes on to wait.
        ([after_commit(4, a=1), *after_compaction("a", tick=6, scheduled=5, a=1)], 5, True),
        ([after_commit(4, a=1), *after_compaction("a", tick=6, status="failed", a=1)], 6, True),
    ],
)
def test_the_longest_wait_ends_with_a_compaction_or_is_open(records, minutes, is_open):
    of_run = run(*records, duration_ms=10 * MINUTE_MS)
    assert longest_wait(of_run) == Wait(minutes * MINUTE_MS, is_open)


def test_a_wait_is_not_known_where_partitions_are_too_many_to_name():
    assert longest_wait(run(observed(delete_bytes_by_partition=None))) is None


def test_a_reader_reads_what_each_commit_interval_leaves():
    initial = observed(
        tick=0, after="initial", delete_bytes_by_partition={}, data_bytes_by_partition={"a": 100}
    )
    compacted = observed(
        after="compaction", delete_bytes_by_partition={"b": 20}, data_bytes_by_partition={"a": 140, "b": 100}
    )
    of_run = run(initial, after_commit(a=40, b=20), compacted, after_commit(2, a=20, b=40))
    assert read_bytes(of_run) == {"a": 130, "b": 130}
    assert waiting_bytes_mean(of_run) == 40
    assert read_bytes(run(observed())) == {}
    assert waiting_bytes_mean(run(observed())) is None


def test_a_partition_counts_from_its_first_file_on():
    assert read_bytes(run(after_commit(1, a=50), after_commit(2, a=50, b=20))) == {"a": 150, "b": 120}


def test_read_amplification_is_against_the_strategy_that_has_readers_read_least():
    lean, fat = run(after_commit(a=0, b=100)), run(after_commit(a=50, b=300))
    assert read_amplification({"lean": lean, "fat": fat}) == {
        "lean": {"a": 1.0, "b": 1.0}, "fat": {"a": 1.5, "b": 2.0},
    }  # fmt: skip


def test_partitions_without_delete_files_are_left_out():
    only_data = observed(delete_bytes_by_partition={}, data_bytes_by_partition={"a": 100})
    assert read_amplification({"one": run(only_data)}) == {"one": {}}
