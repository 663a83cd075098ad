import pytest
from records import compaction, query, run

from bench.results.query_effect import query_effects

# Queries of ticks 1 and 2: after the commit at 1 and 11 s, settled at 5 and 15 s.
QUERIES = [
    query(0.1 * number, tick=tick, started_s=started_s, ended_s=started_s + 0.1, primary=True)
    for number, (tick, started_s) in enumerate([(1, 1.0), (1, 5.0), (2, 11.0), (2, 15.0)], 1)
]


def effect(**fields):
    (effect,) = query_effects(
        run(*QUERIES, compaction(**{"tick": 2, "started_s": 12.0, "ended_s": 14.0} | fields))
    )
    return effect.query_before_s, effect.query_after_s


def test_the_queries_around_a_compaction_are_the_last_before_and_the_first_after_it():
    assert effect() == pytest.approx((0.3, 0.4))


def test_the_query_that_begins_when_a_staged_plan_has_been_committed_in_no_time_is_after_it():
    assert effect(started_s=15.0, ended_s=15.0) == pytest.approx((0.3, 0.4))


@pytest.mark.parametrize("fields", [{"status": "noop"}, {"status": "failed"}, {"is_inline": True}])
def test_what_did_not_commit_or_was_inside_a_commit_has_none(fields):
    assert effect(**fields) == (None, None)


def test_a_query_of_an_earlier_tick_does_not_count_as_the_one_before():
    assert effect(started_s=10.5) == (None, pytest.approx(0.4))


def test_without_a_later_query_there_is_none_after():
    assert effect(ended_s=15.5) == (pytest.approx(0.3), None)


def test_queries_of_long_lived_sessions_count_if_there_are_any():
    again = [
        query(new.cost.wall_s / 2, tick=new.tick, session="long-lived", primary=True,
              started_s=new.span.ended_s, ended_s=new.span.ended_s + 0.1)
        for new in QUERIES
    ]  # fmt: skip
    both = [*QUERIES, *again]
    both.sort(key=lambda record: record.span.started_s)
    (effect,) = query_effects(run(*both, compaction(tick=2, started_s=12.0, ended_s=14.0)))
    assert (effect.query_before_s, effect.query_after_s) == pytest.approx((0.15, 0.2))


def test_other_queries_than_the_primary_one_do_not_count():
    side = query(9.0, tick=2, started_s=11.5, ended_s=11.6, primary=False)
    (effect,) = query_effects(run(*QUERIES, side, compaction(tick=2, started_s=12.0, ended_s=14.0)))
    assert effect.query_before_s == pytest.approx(0.3)
