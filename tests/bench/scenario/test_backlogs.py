import pytest
from scenario_builder import SOUND, load

from bench.scenario.backlogs import backlogs
from bench.scenario.scenario import load_scenario

DAYS = ("table.partitioning=day", "workload.late_share=0.5", "workload.late_by=30d")
MANY = (*DAYS, "workload.files_per_commit=60", "workload.rows_per_commit=600")


def found(*overrides):
    return backlogs(load_scenario("append-only", ["duration=10min", *overrides]))


def test_a_strategy_that_plans_fewer_files_than_come_is_named():
    (backlog,) = found(*MANY)
    assert backlog.owner == "amoro"
    assert str(backlog).startswith("every(interval=5min): amoro(")
    assert " of amoro may leave partitions for later plans: one plan takes whole partitions " in str(backlog)


@pytest.mark.parametrize("overrides", [(), ("table.partitioning=day",)])
def test_a_strategy_that_can_plan_all_is_not_named(overrides):
    assert found(*overrides) == ()


def test_more_files_between_evaluations_are_more_for_one_plan():
    trigger = "strategies[amoro].rules={rules}"
    often = '[{{ trigger = {}, planner = {{ type = "amoro" }} }}]'
    few = (*DAYS, "workload.files_per_commit=60", "workload.rows_per_commit=60")
    for one, is_named in (
        ('{ type = "every", interval = "1min" }', False),
        ('{ type = "after_commits", commits = 1 }', False),
        ('{ type = "after_commits", commits = 10 }', True),
        ('{ type = "file_count", files = 10 }', False),  # which does not tell how much comes between
    ):
        assert bool(found(*few, trigger.format(rules=often.format(one)))) is is_named


def test_rows_that_are_kept_back_are_fewer_files_for_one_plan():
    kept = 'strategies[amoro].writer={ commit_every = "5min" }'
    few = (*DAYS, "workload.files_per_commit=4", "workload.rows_per_commit=600")
    assert found(*few)
    assert found(*few, kept) == ()


def test_planners_that_say_nothing_are_not_named(tmp_path):
    assert backlogs(load(tmp_path, SOUND)) == ()
