"""Incremental scheduling, by which Hudi looks only at what was written since the last compaction."""

from hudi_tables import compaction, delta_commit, hudi_table, slice_files

from strategies.hudi.compaction_plan import plan_compaction
from strategies.hudi.compaction_strategies import Settings, strategy_of

A, B, C = "2026/01/01", "2026/01/02", "2026/01/03"


def candidates(timeline, **settings):
    """The partitions of a plan that takes all it gets to see."""
    files = [file for partition in (A, B, C) for file in slice_files(partition, partition)]
    plan = plan_compaction(hudi_table(files, timeline), strategy_of("UnBounded"), Settings(**settings), 1)
    return [operation.partition for operation in plan.operations]


def test_before_the_first_compaction_all_partitions_are_candidates():
    assert candidates([delta_commit(0, [A])]) == [A, B, C]
    assert candidates([delta_commit(0, [A]), compaction(0)]) == [A, B, C]


def test_afterwards_those_written_since_its_request_and_those_that_it_noted():
    timeline = [
        delta_commit(60_000, [A]),
        compaction(60_000, 60_000, missing=[C]),
        delta_commit(120_000, [B]),
    ]
    assert candidates(timeline) == [B, C]
    assert candidates(timeline, is_incremental=False) == [A, B, C]


def test_a_partition_that_was_left_out_and_not_noted_starves():
    # Measured on Hudi 1.2: logs in A and B, a compaction of A alone, a commit to A: B is never looked at.
    timeline = [delta_commit(0, [A, B]), compaction(0, 0, [A], missing=[]), delta_commit(60_000, [A])]
    assert candidates(timeline) == [A]
    assert candidates(timeline[:2]) == []


def test_what_was_written_while_the_compaction_ran_is_a_candidate():
    timeline = [delta_commit(0, [A]), compaction(0, 120_000, [A], missing=[]), delta_commit(60_000, [B])]
    assert candidates(timeline) == [B]
