from dataclasses import replace
from pathlib import Path

import pytest
from amoro_tables import amoro, data, files, ran, table, tasks
from evaluate import evaluate

from bench.scenario.plugins import PLANNER, TRIGGER, build, describe, in_words, to_table
from strategies.amoro.planner import Amoro
from strategies.iceberg.files import IcebergDataFile, IcebergState
from strategies.plan import Capability, Reason, capabilities_of, check_plan
from strategies.state import MIB, PendingPlan
from strategies.strategy import Rule, Strategy, Verdict
from strategies.triggers import Every

COUNT = "self-optimizing.minor.trigger.file-count"


def test_the_published_setting_plans_at_the_first_look_with_40_files():
    # design.md: 8 files of about 6 KB a minute, 40 files trigger, looked at every 5 minutes.
    planner = build(PLANNER, {"type": "amoro", "options": {COUNT: 40}}, Path())
    every = build(TRIGGER, {"type": "every", "interval": "5min"}, Path())
    strategy = Strategy("amoro", (Rule(every, planner),))
    memories, verdicts = strategy.fresh_memories(), []
    for minute in range(1, 11):
        small = tuple(
            IcebergDataFile(f"f{n:03}", 6000, 10) for n in range(8 * (minute if minute <= 5 else minute - 5))
        )
        (decision,), memories = evaluate(strategy, IcebergState(60_000 * minute, 128 * MIB, small), memories)
        verdicts.append(decision.verdict)
    assert [minute for minute, was in enumerate(verdicts, 1) if was is Verdict.PLANNED] == [5, 10]
    assert Every(300_000) == every


def test_a_new_table_is_optimized_at_the_first_look_by_its_interval():
    # The published setting fires on 2 fragments the first time, unless the interval is off.
    two = (IcebergDataFile("a", 9, 1), IcebergDataFile("b", 9, 1))
    plan = Amoro({COUNT: 40}).decide(IcebergState(60_000, MIB, two)).plan
    assert (plan.kind, plan.reason) == ("minor", Reason.INTERVAL)


def test_a_scenario_writes_options_plainly_and_reads_them_back():
    nested = {"self-optimizing": {"minor": {"trigger": {"file-count": 40}}, "target-size": "8MiB"}}
    planner = build(PLANNER, {"type": "amoro", "options": nested, "threads": 4}, Path())
    assert planner == Amoro({COUNT: 40, "self-optimizing.target-size": "8MiB"}, threads=4)
    assert build(PLANNER, to_table(planner), Path()) == planner
    assert in_words(planner) == f"amoro({COUNT}=40, self-optimizing.target-size=8MiB, threads=4)"


def test_the_list_of_strategies_tells_each_option_with_its_default():
    defaults = {option.key: option.default for option in describe(Amoro).options}
    assert defaults["max_input_per_thread"] == '"512MiB"'
    assert defaults["options.self-optimizing.evaluation.file-size.mse-tolerance"] == "0B: off"


@pytest.mark.parametrize(
    ("name", "least"), [("threads", 1), ("max_input_per_thread_bytes", 1), ("max_pending_partitions", 0)]
)
def test_a_planner_without_resources_is_refused(name, least):
    with pytest.raises(ValueError, match=name):
        Amoro(**{name: least - 1})


def test_its_needs_are_what_its_plans_can_ask_for():
    state = table(data("t", 97), data("f", 1))
    plan = amoro(minor__trigger__file_count=1).decide(table(files(1, 1))).plan
    assert capabilities_of(plan) <= Amoro().traits().needs
    assert Amoro().traits().needs == {Capability.REWRITE, Capability.CONVERT}
    assert amoro().decide(state).plan is None


def test_nothing_is_planned_when_it_is_disabled_or_a_plan_is_pending():
    # One process per table at a time, whichever files it takes.
    state = table(files(*[1] * 12))
    assert amoro().decide(state).plan is not None
    assert amoro(enabled=False).decide(state).plan is None
    busy = table(files(*[1] * 12), pending=(PendingPlan(0, 9000, "size", frozenset({"other"})),))
    assert amoro().decide(busy).plan is None


def test_the_next_plan_waits_for_the_plan_interval():
    def tells(at_ms):
        return amoro().decide(table(files(*[1] * 12), at_ms=100_000, ran=(ran("major", at_ms),))).plan

    assert tells(40_001) is None
    assert tells(40_000) is not None


def test_a_failed_minor_run_costs_a_whole_interval_and_a_major_one_none():
    # A failed MINOR resets the minor clock too; a MAJOR or FULL run does not touch it.
    def tells(*seen):
        return amoro(minor__trigger__interval="1h").decide(table(files(1, 1), at_ms=4_000_000, ran=seen)).plan

    assert tells(ran("minor", 399_000)) is not None
    assert tells(ran("minor", 399_000), ran("minor", 400_000, "failed")) is None
    assert tells(ran("minor", 399_000), ran("major", 3_940_000), ran("full", 3_940_000)) is not None


def test_a_full_plan_may_sort_each_partition_as_one_task():
    planner = replace(amoro(threads=4, full__trigger__interval="1h"), full_sort_columns=("user_id",))
    # In bins of 128 they would be 1, 2 and 1 files, and 1 and 1.
    state = table(files(100, 60, 60, 60), files(90, 90, partition="p=2"))
    plan = planner.decide(state).plan
    check_plan(state, plan)
    (action,) = plan.actions
    assert plan.kind == "full"
    assert sorted((group.partition, *group.paths) for group in action.groups) == [
        ("", "f00", "f01", "f02", "f03"), ("p=2", "p=2f00", "p=2f01"),
    ]  # fmt: skip
    assert {group.sort_columns for group in action.groups} == {("user_id",)}
    assert planner.traits().columns == ("user_id",)


def test_no_other_plan_sorts():
    other = amoro(full__trigger__interval="1h")
    planner = replace(other, full_sort_columns=("user_id",))
    items = [files(*[1] * 12), files(64, 64, partition="p=2")]
    state = table(*items, at_ms=4_000_000, ran=(ran("full", 3_900_000),))
    plan = planner.decide(state).plan
    assert plan == other.decide(state).plan
    assert plan.kind == "major"


def test_columns_to_sort_by_are_named_once_and_for_full_plans_that_there_are():
    with pytest.raises(ValueError, match="full_sort_columns"):
        replace(amoro(full__trigger__interval="1h"), full_sort_columns=("user_id", "user_id"))
    with pytest.raises(ValueError, match=r"full_sort_columns.*full\.trigger\.interval"):
        replace(amoro(), full_sort_columns=("user_id",))


def test_a_table_of_large_files_waits_for_the_fallback_interval():
    # metaNecessary: no delete file and a mean of 134 above the minimum, though two fragments are there.
    planner = amoro(evaluation__fallback_interval="1h", minor__trigger__file_count=2)
    items = [data("a", 1), data("b", 1), data("c", 400)]
    assert planner.decide(table(items, at_ms=4_000_000, ran=(ran("full", 401_000),))).plan is None
    plan = planner.decide(table(items, at_ms=4_000_000, ran=(ran("full", 400_000),))).plan
    assert tasks(plan) == [(["a", "b"], [])]
    assert planner.decide(table(items[:2], at_ms=4_000_000, ran=(ran("full", 401_000),))).plan is not None


def test_a_plan_tells_kind_reason_and_the_figures_of_each_partition():
    state = table(files(*[1] * 12, partition="p=1"), files(64, 64, partition="p=2"))
    plan = amoro().decide(state).plan
    check_plan(state, plan)
    # By hand: 2 x 128 + 2 x 4 and 2 x 12 + 12 x 4.
    assert plan.detail == (
        "p=2: major by enough_content (undersized 128 B >= 128 B >= least two 128 B); fragment=0 segment=0 "
        "undersized=2 positions=0 clean=0 equality=0 position=0, cost 264 B, 1 tasks; "
        "p=1: minor by fragment_count (12 fragments + 0 equality deletes >= 12); fragment=12 segment=0 "
        "undersized=0 positions=0 clean=0 equality=0 position=0, cost 72 B, 1 tasks"
    )
    (action,) = plan.actions
    assert action.target_file_size_bytes == 128


def test_a_plan_repeats_what_amoro_warns_of():
    plan = amoro(min_target_size_ratio=0.9).decide(table(files(*[1] * 12))).plan
    assert plan.detail.startswith("min-target-size-ratio=0.9 is large")
    assert "; table: minor by fragment_count" in plan.detail


def three_partitions():
    """Partitions of 14, 13 and 12 files of one byte, each at a cost of 6 bytes a file."""
    return table(*(files(*[1] * n, partition=p) for p, n in (("p=1", 14), ("p=2", 13), ("p=3", 12))))


@pytest.mark.parametrize(
    ("planner", "left"),
    [
        (amoro(budget=1), 2),  # 84 of 1: the most expensive alone
        (amoro(budget=84), 1),  # 84 does not exceed it, 84 + 78 does
        (amoro(budget=84, threads=2), 0),  # 84 + 78 does not exceed 168
        (amoro(partitions=1), 2),
        (amoro(partitions=0), 0),
        (amoro(minor__trigger__file_count=13, minor__trigger__interval=-1, budget=1), 1),  # two are due
        (amoro(enabled="false"), 0),
    ],
)
def test_figures_tell_how_many_partitions_a_plan_leaves_for_later(planner, left):
    answer = planner.decide(three_partitions())
    actions = answer.plan.actions if answer.plan else ()
    planned = {group.partition for action in actions for group in action.groups}
    figures = {"partitions_left": left, "partitions_due": left + len(planned)}
    assert figures.items() <= answer.figures.items()
