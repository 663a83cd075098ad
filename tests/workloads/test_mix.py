import math
from dataclasses import asdict

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workloads.mix import MixShares, mix_of


@st.composite
def shares(draw):
    insert = draw(st.floats(0, 1))
    return MixShares(insert, draw(st.floats(0, 1 - insert)), draw(st.floats(0, 1)), draw(st.floats(0, 0.5)))


@given(seed=st.integers(0, 3), index=st.integers(1, 1000), rows=st.integers(0, 10**6), shares=shares())
@example(seed=0, index=1, rows=1, shares=MixShares(0.0, 1.0, 1.0, 0.5))
def test_counts_of_parts_do_not_exceed_their_totals(seed, index, rows, shares):
    mix = mix_of(seed, index, rows, shares)
    assert min(asdict(mix).values()) >= 0
    assert mix.deliveries == rows
    assert mix.twice_inserts <= mix.inserts
    assert mix.twice_updates <= mix.updates
    assert mix.twice_deletes <= mix.deletes
    assert mix.repeats <= mix.updates + mix.deletes
    assert mix.repeats - mix.updates <= mix.repeated_deletes <= min(mix.repeats, mix.deletes)
    assert mix.draws == mix.updates + mix.deletes - mix.repeats


@given(seed=st.integers(0, 3), index=st.integers(1, 1000), rows=st.integers(0, 10**6), shares=shares())
def test_counts_are_their_shares_rounded_up_or_down(seed, index, rows, shares):
    mix = mix_of(seed, index, rows, shares)
    others = mix.updates + mix.deletes
    delete_share = shares.delete / (1 - shares.insert) if shares.insert < 1 else 0
    assert abs(mix.deliveries - mix.changes - min(rows * shares.duplicate, rows // 2)) <= 1
    assert abs(mix.inserts - mix.changes * shares.insert) <= 1
    assert abs(mix.deletes - others * min(1, delete_share)) <= 1
    assert abs(mix.repeats - others * shares.repeat) <= 1


@given(rows=st.integers(1, 10**6))
def test_repeats_and_duplicates_have_the_shares_of_the_whole(rows):
    mix = mix_of(7, 1, rows, MixShares(0.5, 0.125, 0.4, 0.3))
    assert abs(mix.repeated_deletes - mix.repeats * 0.25) <= 2
    for twice, kind in ((mix.twice_inserts, mix.inserts), (mix.twice_deletes, mix.deletes)):
        assert abs(twice - kind * 0.3 / 0.7) <= 3


def test_small_commits_have_their_shares_over_time():
    mixes = [mix_of(7, index, 2, MixShares(0.3, 0.2, 0.1, 0.05)) for index in range(4000)]
    changes = sum(mix.changes for mix in mixes)
    assert 8000 - changes == pytest.approx(400, abs=4 * math.sqrt(400))
    assert sum(mix.inserts for mix in mixes) == pytest.approx(0.3 * changes, rel=0.05)
    assert sum(mix.deletes for mix in mixes) == pytest.approx(0.2 * changes, rel=0.05)


def test_a_single_delivery_is_no_duplicate():
    mixes = [mix_of(7, index, 1, MixShares(0.5, 0.1, 0.1, 0.5)) for index in range(50)]
    assert {(mix.changes, mix.deliveries) for mix in mixes} == {(1, 1)}


def test_the_mix_depends_on_seed_commit_and_rows_alone():
    shares = MixShares(0.33, 0.21, 0.17, 0.11)
    assert mix_of(7, 3, 1001, shares) == mix_of(7, 3, 1001, shares)
    assert len({mix_of(seed, index, 1001, shares) for seed in range(5) for index in range(5)}) > 5
