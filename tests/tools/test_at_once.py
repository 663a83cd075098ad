import pytest
from live_runs import LIVE, live, live_runs
from records import commit, compaction, end, run

from bench.results.values import Span
from tools.at_once import (
    Rates,
    commit_tail,
    compared,
    error_line,
    outcome_lines,
    outcomes,
    query_tail,
    rates,
    reason_lines,
    tail_lines,
)

ALL, SOME = {"files_removed_count": 5.0}, {"files_removed_count": 4.0}
BEFORE = {"data_files_count": 5, "live_bytes": 1, "rows": 1, "delete_files_count": 0, "delete_rows": 0}


def merges(*ends_s, mode="merge-on-read"):
    """A run whose commits end at these seconds and delete rows of files that were there before."""
    change = {"files_added_count": 1, "delete_files_added_count": 1}
    commits = [
        commit(tick=tick, started_s=end_s - 1.0, ended_s=end_s, change=change)
        for tick, end_s in enumerate(ends_s, start=1)
    ]
    return lambda *compactions: run(*commits, *compactions, end(), options={"upsert_mode": mode}, **LIVE)


def rewriting(status, forecast=ALL, started_s=10.0, ended_s=12.0, **fields):
    removed = {"files_removed_count": round(forecast["files_removed_count"])} if status == "ok" else {}
    return compaction(
        status=status,
        started_s=started_s,
        ended_s=ended_s,
        forecast=forecast,
        before=BEFORE,
        change=removed,
        **fields,
    )


@pytest.mark.parametrize(
    ("mode", "ends_s", "forecast", "predicted"),
    [
        ("merge-on-read", (9.0, 13.0), ALL, "ok"),  # before and after it
        ("merge-on-read", (11.0,), ALL, "conflict"),
        ("merge-on-read", (11.0,), SOME, None),  # the records do not say whose rows it deleted
        ("merge-on-read", (9.0,), SOME, "ok"),
        ("equality-delete", (11.0,), ALL, "ok"),
        (None, (11.0,), ALL, "ok"),
    ],
)
def test_the_outcome_follows_from_what_landed_meanwhile(mode, ends_s, forecast, predicted):
    made = merges(*ends_s, mode=mode)(rewriting("conflict", forecast))
    (found,) = outcomes(made)
    assert (found.predicted, found.observed) == (predicted, "conflict")
    assert found.files == f"{round(forecast['files_removed_count'])} of 5"


@pytest.mark.parametrize(("value", "predicted"), [("true", "ok"), ("false", "conflict")])
def test_equality_deletes_beside_a_rewrite_count_if_its_files_get_a_new_sequence_number(value, predicted):
    actions = [f"iceberg.rewrite_data_files(strategy=binpack, use-starting-sequence-number={value})"]
    (found,) = outcomes(merges(11.0, mode="equality-delete")(rewriting("conflict", actions=actions)))
    assert found.predicted == predicted


def test_a_delta_table_has_the_same_rule_for_files_that_a_merge_replaces_or_marks():
    change = {"files_added_count": 1, "files_removed_count": 2}
    landed = [commit(tick=1, started_s=10.0, ended_s=11.0, change=change)]
    appended = [commit(tick=1, started_s=10.0, ended_s=11.0, change={"files_added_count": 1})]
    of_delta = {**LIVE, "format": "delta"}
    for commits, expected in ((landed, "conflict"), (appended, "ok")):
        (found,) = outcomes(run(*commits, rewriting("conflict"), end(), **of_delta))
        assert found.predicted == expected


@pytest.mark.parametrize(
    ("action", "preferred", "updates", "predicted"),
    [
        ("hudi.compaction(strategy=UnBounded)", True, True, "ok"),
        ("hudi.clustering()", False, True, "ok"),  # the commit loses
        ("hudi.clustering()", True, True, "conflict"),
        ("hudi.clustering()", True, False, "ok"),
    ],
)
def test_a_hudi_table_lets_a_compaction_lose_only_if_it_clusters_and_commits_are_preferred(
    action, preferred, updates, predicted
):
    name = "PreferWriterConflictResolutionStrategy" if preferred else "AnotherStrategy"
    strategy = f"org.apache.hudi.client.transaction.{name}"
    options = {"table_properties": {"hoodie.write.lock.conflict.resolution.strategy": strategy}}
    change = {"delete_files_added_count": int(updates)}
    landed = commit(tick=1, started_s=10.0, ended_s=11.0, change=change)
    made = run(
        landed, rewriting("ok", actions=[action]), end(), options=options, **{**LIVE, "format": "hudi"}
    )
    (found,) = outcomes(made)
    assert found.predicted == predicted


def test_a_commit_may_land_while_a_compaction_writes_its_files():
    made = rewriting("conflict").model_copy(update={"staged": Span(9.0, 10.0)})
    (found,) = outcomes(merges(9.5)(made))
    assert (found.started_s, found.predicted) == (9.0, "conflict")


def test_the_table_counts_what_was_predicted_and_what_cannot_be():
    made = merges(11.0, 20.0)(
        rewriting("conflict"), rewriting("ok", SOME), rewriting("ok", started_s=19.75, ended_s=21.0),
        rewriting("noop"), rewriting("unfinished"),
    )  # fmt: skip
    found = [*outcomes(made)]
    assert [one.observed for one in found] == ["conflict", "ok", "ok"]
    assert [one.edge_s for one in found] == [1.0, 1.0, 0.25]
    assert [*outcome_lines(found)][-1] == "1 of 2 as predicted; of 1 more the records do not tell"


def test_rates_are_means_of_runs():
    _, eager = live_runs()
    made = rates("eager", "real", [eager, live("eager", conflicts=())])
    assert (made.runs_count, made.redone, made.lost) == (2, 0.5, 1.0)
    assert made.tried == 1.5  # one committed and two lost in one of two runs
    assert made.interval_s == 5.0


def test_errors_of_rates_are_means_over_strategies():
    def one(strategy, kind, lost, tried, p95_s):
        return Rates(strategy, kind, 5.0, 3, tried, lost, 0.0, 1.0, 1.0, p95_s)

    found = [
        one("a", "real", 2, 20, 2.0), one("a", "simulated", 3, 20, 1.0),
        one("b", "real", 9, 20, 2.0), one("b", "simulated", 6, 20, 2.5),
        one("never", "real", 0, 0, 1.0), one("never", "simulated", 0, 0, 1.0), one("c", "real", 1, 1, 1.0),
    ]  # fmt: skip
    line = error_line(found)
    assert "10.00 points in the share of compactions that lose (n = 2 strategies)" in line
    assert "25.00 % in the 95th percentile since due (n = 3)" in line


def test_the_slowest_are_counted_from_when_they_were_due_and_from_when_they_began():
    late = live("eager", late_s=10.0)
    commits, queries = commit_tail([late]), query_tail([late])
    assert (commits.count, queries.count) == (4, 4)
    assert commits.since_begun_s == 1.0
    assert 10.0 < commits.since_due_s <= 11.0
    assert (queries.since_begun_s, queries.since_due_s) == (0.5, 0.75)
    assert [line.split()[:3] for line in tail_lines([late])][1:] == [
        ["eager", "commits", "4"], ["eager", "queries", "4"],
    ]  # fmt: skip


def test_runs_are_simulated_again_by_the_scenario_they_recorded(tmp_path):
    with pytest.raises(Exception, match="usable real runs"):
        [*compared([], tmp_path)]


def test_what_lost_is_counted_by_the_words_of_the_format_without_its_files():
    found, missing = "found new position delete for replaced data file", "missing data files"
    lost = [rewriting("conflict", error=f"Cannot commit, {found}: GenericDataFile{{{n}}}") for n in (1, 2)]
    group = "HoodieFileGroupId{{id={}}} is in a clustering"
    lost += [rewriting("conflict", error=group.format(n)) for n in (1, 2, 3)]
    again = commit(tick=9, conflicts=[f"Cannot commit, {missing}: [file:/{name}]" for name in "abc"])
    made = run(*lost, rewriting("ok"), again, end(), **LIVE)
    never, (of_hudi, commits, compactions) = made.manifest.strategy, list(reason_lines([made]))[1:]
    assert of_hudi.split(maxsplit=2) == [never, "3", "compactions: ... is in a clustering"]
    assert commits.split(maxsplit=2) == [never, "3", f"commits: {missing}"]
    assert compactions.split(maxsplit=2) == [never, "2", f"compactions: {found}"]
