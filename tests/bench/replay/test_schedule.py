"""Roles that only write down when they act: the whole log is compared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.replay.schedule import Turn, Until, take_turns


def role(log, name, *moments):
    """A role that notes its name at each moment."""
    for at_ms, turn in moments:
        yield Until(at_ms, turn)
        log.append((name, at_ms))


def test_roles_act_in_the_order_of_time_and_at_one_moment_of_their_turns():
    log = []
    take_turns([
        role(log, "compactor", (1, Turn.COMPACT), (2, Turn.COMPACT), (2, Turn.DRAIN)),
        role(log, "reader", (1, Turn.READ), (1, Turn.SETTLE), (2, Turn.SETTLE)),
        role(log, "writer", (1, Turn.COMMIT), (2, Turn.COMMIT)),
    ])  # fmt: skip
    assert log == [
        ("writer", 1), ("reader", 1), ("compactor", 1), ("reader", 1),
        ("writer", 2), ("compactor", 2), ("reader", 2), ("compactor", 2),
    ]  # fmt: skip


def test_among_equals_the_one_that_began_to_wait_first_comes_first():
    log = []
    take_turns([role(log, name, (1, Turn.READ), (2, Turn.READ)) for name in "abc"])
    assert [name for name, _ in log] == ["a", "b", "c", "a", "b", "c"]


def test_what_a_role_raises_ends_the_schedule():
    log = []

    def failing():
        yield Until(1, Turn.COMMIT)
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        take_turns([role(log, "reader", (1, Turn.READ)), failing()])
    assert log == []


@given(st.lists(st.lists(st.tuples(st.integers(0, 9), st.sampled_from(Turn)), max_size=6), max_size=4))
def test_time_never_goes_back_for_roles_that_wait_in_order(plans):
    log = []
    take_turns([role(log, number, *sorted(plan)) for number, plan in enumerate(plans)])
    times = [at_ms for _, at_ms in log]
    assert times == sorted(times)
    assert len(log) == sum(map(len, plans))
