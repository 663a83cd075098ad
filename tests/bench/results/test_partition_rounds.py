"""Rounds of compactions, from records in one line each."""

from records import compaction, observed, run

from bench.results.partition_rounds import (
    Round,
    longest_wait,
    never_taken,
    read_amplification,
    rounds,
    rounds_alike,
    rounds_to_drain,
    waiting_bytes_mean,
)


def after_commit(**sizes):
    return observed(delete_bytes=sizes, data_bytes_beside=dict.fromkeys(sizes, 100))


def after_compaction(*names, at_ms=60_000, status="ok", **left):
    """What waits afterwards, and the partitions taken."""
    return (
        observed(after="compaction", delete_bytes=left),
        compaction(partitions=list(names), at_ms=at_ms, status=status),
    )


def a_round(at_ms, taken="", left=""):
    return Round(at_ms, frozenset(taken), frozenset(left))


def test_a_round_is_a_compaction_that_did_not_fail():
    records = (
        after_commit(a=1, b=2),
        *after_compaction("a", b=2),
        after_commit(b=2),
        *after_compaction(at_ms=120_000, status="noop", b=2),
        *after_compaction("b", at_ms=180_000, status="failed", b=2),
        compaction(partitions=None),
    )
    assert rounds(run(*records)) == (a_round(60_000, "a", "b"), a_round(120_000, "", "b"))


def test_a_partition_is_never_taken_if_it_still_waits_at_the_end():
    done = [a_round(1, "a", "bc"), a_round(2, "c", "b")]
    assert never_taken(done) == {"b"}
    assert never_taken([*done, a_round(3, "b")]) == never_taken([]) == frozenset()


def test_a_backlog_is_drained_when_all_that_waited_at_first_had_a_turn():
    done = [a_round(1, "a", "bc"), a_round(2, "c", "b"), a_round(3, "b", "z")]
    assert rounds_to_drain(done) == 3
    assert rounds_to_drain(done[:2]) is rounds_to_drain([]) is None


def test_the_longest_wait_is_of_rounds_in_succession():
    done = [a_round(1, "", "a"), a_round(2, "", "ab"), a_round(3, "a", "b"), a_round(4, "", "b")]
    assert longest_wait(done) == 3
    assert longest_wait([]) == 0


def test_rounds_are_compared_that_both_had_at_the_same_time():
    one = [a_round(1, "a"), a_round(2, "b"), a_round(3, "c")]
    other = [a_round(1, "a", "b"), a_round(2, "c")]
    assert rounds_alike(one, other) == rounds_alike(other, one) == (1, 2)


def test_a_reader_reads_delete_files_beside_data_files():
    initial = observed(after="initial", delete_bytes={}, data_bytes_beside={})
    of_run = run(initial, after_commit(a=50), after_commit(b=100), *after_compaction("a", c=7))
    assert read_amplification(of_run) == {"a": 1.25, "b": 1.5}
    assert waiting_bytes_mean(of_run) == 75
    assert read_amplification(run(observed())) == {}
    assert waiting_bytes_mean(run(observed())) is None
