"""Which planners a warm-up has not reached."""

from pathlib import Path

from records import end
from result_builder import manifest

from bench.results.folders import RunResult
from bench.results.records import WarmUpRecord
from bench.results.warmed import cold_planners


def round_of(options, acted, planner="amoro"):
    return WarmUpRecord(
        tick=0, at_ms=0, written_utc="2026-01-05T09:00:00Z", planner=planner, options=options, round=1,
        commits_count=1, acted=acted,
    )  # fmt: skip


def cold(*records):
    return cold_planners(RunResult(Path("run"), manifest(), (*records, end())))


def test_a_planner_that_acted_in_one_round_is_warm():
    assert cold(round_of("a()", False), round_of("a()", True), round_of("a()", False)) == ()


def test_planners_are_told_apart_by_their_options():
    assert cold(round_of("a(x=1)", True), round_of("a(x=2)", False), round_of("b()", False)) == (
        "a(x=2)",
        "b()",
    )


def test_commits_and_queries_alone_have_no_planner_to_be_cold():
    assert cold(round_of("", False, planner="")) == ()
    assert cold() == ()
