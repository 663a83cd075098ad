import pytest
from scenario_builder import SOUND, load

from bench.scenario.firing import never_firing


def rules(*triggers, planner="iceberg.rewrite_data_files"):
    each = ", ".join(f'{{ trigger = {{ {t} }}, planner = {{ type = "{planner}" }} }}' for t in triggers)
    return f'[[strategies]]\nlabel = "x"\nrules = [{each}]\n'


def told(folder, text, **changes):
    return list(never_firing(load(folder, SOUND + text, **changes)))


def test_a_baseline_and_what_fires_are_not_mentioned(tmp_path):
    assert told(tmp_path, "") == []


@pytest.mark.parametrize(
    ("trigger", "fires"),
    [
        ('type = "every", interval = "10min"', True),
        ('type = "every", interval = "11min"', False),
        ('type = "after_commits", commits = 10', True),
        ('type = "after_commits", commits = 11', False),
        ('type = "file_count", files = 1000000', True),  # depends on the table: nobody can tell
    ],
)
def test_triggers_are_held_against_the_duration(tmp_path, trigger, fires):
    assert bool(told(tmp_path, rules(trigger))) is not fires


def test_the_initial_load_is_a_commit(tmp_path):
    trigger = 'type = "after_commits", commits = 11'
    assert told(tmp_path, rules(trigger), workload={"initial_rows": 10}) == []


def test_a_shorter_duration_turns_a_strategy_into_the_baseline(tmp_path):
    (sentence,) = told(tmp_path, "", duration="1min")
    assert sentence == (
        "every-2min can never compact here: it acts every 2min, and the scenario lasts 1min (1 commit). It "
        "would come out like a table that is never compacted; lengthen the duration or change the trigger"
    )


def test_one_rule_that_fires_is_enough(tmp_path):
    late, soon = 'type = "every", interval = "1h"', 'type = "every", interval = "5min"'
    assert told(tmp_path, rules(late, soon)) == []
    (sentence,) = told(tmp_path, rules(late, 'type = "after_commits", commits = 60'))
    assert "it acts every 1h and it acts after 60 commits" in sentence


def test_a_planner_that_plans_nothing_is_a_baseline(tmp_path):
    assert told(tmp_path, rules('type = "every", interval = "1h"', planner="never")) == []


@pytest.mark.parametrize(("at", "is_told"), [("3min", True), ("1min", False)])
def test_a_strategy_is_judged_by_what_it_switches_to(tmp_path, at, is_told):
    """From 3 to 5 min no multiple of 3 min comes; from 1 min on the third does."""
    text = rules('type = "every", interval = "1h"') + f'switch = [{{ at = "{at}", strategy = "y" }}]\n'
    text += rules('type = "every", interval = "3min"').replace('"x"', '"y"')
    assert any(s.startswith("x ") for s in told(tmp_path, text, duration="5min")) is is_told


def test_only_the_strategies_asked_for_are_judged(tmp_path):
    scenario = load(tmp_path, duration="1min")
    assert list(never_firing(scenario, ["never"])) == []
    assert len(list(never_firing(scenario, ["every-2min"]))) == 1
