from hypothesis import given
from hypothesis import strategies as st
from records import compaction, observed

from bench.results.landing import landed


def look(tick, began_s, **fields):
    fields = {"started_s": began_s, "ended_s": began_s + 0.1, "data_files_count": tick} | fields
    return observed(tick=tick, at_ms=tick * 60_000, **fields)


LOOKS = [
    look(tick, 10.0 * tick, delete_files_count=5 - tick, rows=tick, live_bytes=tick) for tick in (1, 2, 3, 4)
]


def test_a_compaction_beside_the_stream_is_dated_by_the_first_look_after_its_end():
    beside = compaction(tick=4, at_ms=240_000, started_s=12.0, ended_s=24.0, is_shared=True)
    *looks, dated = landed([*LOOKS, beside])
    assert looks == LOOKS
    assert (dated.tick, dated.at_ms, dated.scheduled_at_ms) == (3, 180_000, beside.scheduled_at_ms)
    assert (dated.before.data_files_count, dated.after.data_files_count) == (2, 3)
    assert (dated.before.delete_files_count, dated.after.delete_files_count) == (3, 2)
    assert (dated.span, dated.cost) == (beside.span, beside.cost)


def test_a_look_that_began_before_the_end_does_not_show_it():
    beside = compaction(started_s=12.0, ended_s=20.05, is_shared=True)
    assert landed([*LOOKS, beside])[-1].tick == 3


def test_one_that_ends_after_the_last_look_stays_where_it_was_recorded():
    beside = compaction(tick=4, started_s=12.0, ended_s=41.0, is_shared=True)
    assert landed([*LOOKS, beside])[-1] == beside


@given(st.booleans(), st.floats(0, 50))
def test_all_other_records_stay_as_they_are(is_inline, ended_s):
    in_turn = compaction(started_s=0.0, ended_s=ended_s, is_inline=is_inline, is_shared=is_inline)
    assert landed([in_turn, *LOOKS]) == (in_turn, *LOOKS)


def test_without_times_nothing_is_dated():
    beside = compaction(started_s=12.0, ended_s=24.0, is_shared=True)
    old = [look(1, 10.0), observed(tick=2), beside]
    assert landed(old) == tuple(old)
