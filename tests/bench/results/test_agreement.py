import pytest
from records import commit, compaction, decision, end, run, truth
from refused import refused

from bench.results.agreement import evaluations, side_by_side


def due(tick, **fields):
    """An evaluation of rule 1 that planned a compaction."""
    defaults = {"status": "planned", "actions": ["compact(all partitions)"], "reason": "scheduled"}
    return idle(tick, **defaults | fields)


def idle(tick, **fields):
    return decision(**{"tick": tick, "at_ms": 60_000 * tick} | fields)


def done(tick, files_in=8, files_out=1, **fields):
    defaults = {
        "tick": tick, "at_ms": 60_000 * tick, "scheduled_at_ms": 60_000 * tick,
        "files_removed_count": files_in, "files_added_count": files_out, "added_bytes": 5_120,
    }  # fmt: skip
    return compaction(**defaults | fields)


REAL = [idle(1), due(2), done(2), idle(3), end(tick=3)]
SIMULATED = [idle(1), due(2), done(2, added_bytes=5_632), idle(3), end(tick=3)]


def both(real=REAL, simulated=SIMULATED, **changes):
    return [run(*real, **changes), run(*simulated, mode="simulated", **changes)]


def test_evaluations_have_the_compaction_they_led_to():
    first, second, third = evaluations(run(*REAL))
    assert (first.tick, first.at_ms, first.decision, first.compaction) == (1, 60_000, "rule 1 not due", None)
    assert second.decision == "rule 1 planned compact(all partitions) (scheduled)"
    assert second.compaction == done(2)
    assert third.compaction is None


def test_an_evaluation_lists_every_rule():
    made = run(idle(1), due(1, rule=1), idle(2, status="nothing_to_do"), end())
    assert [evaluation.decision for evaluation in evaluations(made)] == [
        "rule 1 not due; rule 2 planned compact(all partitions) (scheduled)",
        "rule 1 nothing to do",
    ]


def compactions_of(*records):
    return [evaluation.compaction for evaluation in evaluations(run(*records, end()))]


def test_a_delayed_compaction_belongs_to_the_evaluation_that_scheduled_it():
    late = done(5, scheduled_at_ms=120_000)
    assert compactions_of(due(2), late, idle(5)) == [late, None]


def test_a_compaction_that_a_commit_ran_by_itself_belongs_to_no_evaluation():
    inline = done(2, is_inline=True, reason="inline")
    assert compactions_of(inline, due(2), done(2)) == compactions_of(done(2), inline, due(2)) == [done(2)]


def test_a_compaction_that_a_commit_ran_by_itself_is_compared_with_its_like():
    inline = done(2, is_inline=True, reason="inline")
    ways = [done(2, 99, is_inline=True), done(2, is_inline=True, status="failed"), done(2, 8, is_inline=True)]
    for other, is_same in zip(ways, (False, False, True), strict=True):
        for beside in ([], [done(2)]):
            (pair,) = side_by_side(both([due(2), inline, *beside, end()], [due(2), other, *beside, end()]))
            assert pair.same_files is is_same


def test_a_compaction_that_a_commit_ran_by_itself_is_none_that_was_planned():
    planned, inline = done(2), done(2, is_inline=True)
    for real, simulated in (([planned], [inline]), ([inline], [inline, planned])):
        (pair,) = side_by_side(both([due(2), *real, end()], [due(2), *simulated, end()]))
        assert not pair.same_files


@pytest.mark.parametrize(
    ("real", "simulated", "same_partitions", "same_files"),
    [
        ({"partitions": ["a"]}, {"partitions": ["a"]}, True, True),
        ({"partitions": ["a"]}, {"partitions": ["b"]}, False, False),
        ({"partitions": ["a"]}, {"partitions": ["a"], "files_in": 7}, True, False),
        ({"partitions": ["a"]}, {"partitions": ["a"], "status": "failed"}, False, False),
        ({"partitions": None}, {"partitions": ["a"]}, False, True),  # not known unless both name them
    ],
)
def test_compactions_are_compared_by_partitions_and_files(real, simulated, same_partitions, same_files):
    (pair,) = side_by_side(both(*([due(2), done(2, **fields), end()] for fields in (real, simulated))))
    assert (pair.same_partitions, pair.same_files) == (same_partitions, same_files)


def test_runs_that_agree_are_the_same_throughout():
    pairs = side_by_side(both())
    assert [(pair.tick, pair.real.at_ms, pair.simulated.at_ms) for pair in pairs] == [
        (1, 60_000, 60_000), (2, 120_000, 120_000), (3, 180_000, 180_000),
    ]  # fmt: skip
    assert all(pair.same_decision and pair.same_files for pair in pairs)
    assert [bool(any(pair.compactions)) for pair in pairs] == [False, True, False]
    assert [c.change.added_bytes for c in pairs[1].compactions] == [5_120, 5_632]


@pytest.mark.parametrize(
    ("simulated", "same_decision", "same_files"),
    [
        ([due(2), done(2, files_in=7)], True, False),
        ([due(2), done(2, files_out=2)], True, False),
        ([due(2), done(2, delete_files_removed_count=1)], True, False),
        ([due(2), done(2, delete_files_added_count=1)], True, False),
        ([due(2), done(2, status="noop")], True, False),
        ([due(2)], True, False),
        ([due(2, reason="size"), done(2)], False, True),
        ([due(2, rule=1), done(2)], False, True),
        ([idle(2)], False, False),
        ([due(2, at_ms=121_000), done(2, scheduled_at_ms=121_000)], False, True),
        ([], False, False),
    ],
)
def test_each_difference_is_found(simulated, same_decision, same_files):
    (pair,) = side_by_side(both([due(2), done(2), end()], [*simulated, end()]))
    assert (pair.same_decision, pair.same_files) == (same_decision, same_files)
    assert (pair.tick, pair.real.at_ms, pair.evaluations[0]) == (2, 120_000, pair.real)


def test_evaluations_of_only_one_run_are_listed_in_order():
    pairs = side_by_side(both([idle(1), idle(3), end()], [idle(2), idle(3), end()]))
    assert [(pair.tick, bool(pair.real), bool(pair.simulated), pair.same_decision) for pair in pairs] == [
        (1, True, False, False), (2, False, True, False), (3, True, True, True),
    ]  # fmt: skip


def test_the_first_usable_run_in_each_mode_is_taken():
    first = [idle(1), end()]
    runs = [
        run(idle(7), end("failed"), repetition=1, position=0),
        run(idle(8), truth("differs"), end(), repetition=2, position=1),
        run(idle(9), end(), repetition=4, position=3),
        run(*first, repetition=3, position=2),
        run(*first, mode="simulated"),
    ]
    assert [pair.tick for pair in side_by_side(runs)] == [1]


@pytest.mark.parametrize("changes", [{"scenario_hash": "0"}, {"strategy_hash": "0"}, {"strategy": "other"}])
def test_other_definitions_are_not_put_beside_each_other(changes):
    real, simulated = both()
    other = run(*SIMULATED, mode="simulated", **changes)
    with refused("no-runs-to-compare"):
        side_by_side([real, other])
    assert len(side_by_side([real, simulated, other])) == 3


def test_a_baseline_in_both_modes_has_no_evaluations_and_that_is_no_error():
    assert side_by_side(both([commit(), end()], [commit(), end()])) == ()


@pytest.mark.parametrize("mode", ["real", "simulated"])
def test_one_mode_alone_is_an_error(mode):
    with refused("no-runs-to-compare"):
        side_by_side([run(*REAL, mode=mode)])
