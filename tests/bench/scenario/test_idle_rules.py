import pytest
from scenario_builder import SOUND, load, maintenance, write

from bench.scenario.file import shipped
from bench.scenario.idle_rules import idle_rules
from bench.scenario.scenario import load_scenario

REWRITE = '{ type = "iceberg.rewrite_data_files" }'


def strategies(*triggers, label="mine", extra=""):
    """The sound scenario with one more strategy, which has a rule for each trigger."""
    rules = ", ".join(f"{{ trigger = {trigger}, planner = {REWRITE} }}" for trigger in triggers)
    return f'{SOUND}[[strategies]]\nlabel = "{label}"\nrules = [{rules}]\n{extra}\n'


def found(tmp_path, text, *overrides):
    return [(idle.owner, idle.reason) for idle in idle_rules(load_scenario(write(tmp_path, text), overrides))]


HUDI = ("workload.type=upsert", "table.partitioning=day")
END = "the end of the stream (duration = 10min)"


@pytest.mark.parametrize(
    ("trigger", "reason"),
    [
        ('{ type = "every", interval = "11min" }', f"it would fire after {END}"),
        ('{ type = "every", interval = "10min" }', None),  # once, at the very end
        ('{ type = "every", interval = "20min", offset = "10min" }', None),
        ('{ type = "every", interval = "20min", offset = "11min" }', f"it would fire after {END}"),
        ('{ type = "after_commits", commits = 11 }', f"10 commits until {END}"),
        ('{ type = "after_commits", commits = 10 }', None),
        ('{ type = "file_count", files = 81 }', "the whole stream adds at most 80 files"),
        ('{ type = "file_count", files = 80 }', None),
    ],
)
def test_a_rule_that_comes_too_late_is_named(tmp_path, trigger, reason):
    assert found(tmp_path, strategies(trigger)) == ([("mine", reason)] if reason else [])


def test_the_sentence_names_the_strategy_its_rule_and_the_reason(tmp_path):
    (idle,) = idle_rules(load_scenario(write(tmp_path), ["duration=1min"]))
    assert str(idle) == (
        "every(interval=2min): iceberg.rewrite_data_files() of every-2min can never fire: it would fire "
        "after the end of the stream (duration = 1min)"
    )


def test_of_several_rules_only_the_idle_one_is_named(tmp_path):
    text = strategies('{ type = "every", interval = "1h" }', '{ type = "every", interval = "1min" }')
    assert found(tmp_path, text) == [("mine", f"it would fire after {END}")]


def test_other_rules_may_make_more_files_than_the_stream(tmp_path):
    assert (
        found(
            tmp_path,
            strategies('{ type = "file_count", files = 999 }', '{ type = "every", interval = "1min" }'),
        )
        == []
    )


def test_fewer_writers_reach_a_number_of_files_later(tmp_path):
    text = strategies('{ type = "file_count", files = 30 }', extra="writer = { files_per_commit = 2 }")
    assert found(tmp_path, text) == [("mine", "the whole stream adds at most 20 files")]


@pytest.mark.parametrize(
    ("options", "is_idle"),
    [
        ('"hudi.num_commits", commits = 11', False),  # with the initial load
        ('"hudi.num_commits", commits = 12', True),
        ('"hudi.num_commits_after_last_request", commits = 12', True),
        ('"hudi.time_elapsed", elapsed = "10min"', False),
        ('"hudi.time_elapsed", elapsed = "11min"', True),
        ('"hudi.num_and_time", commits = 2, elapsed = "11min"', True),
        ('"hudi.num_or_time", commits = 2, elapsed = "11min"', False),
    ],
)
def test_a_stream_may_be_too_short_for_a_trigger_of_a_format(tmp_path, options, is_idle):
    rule = f'{{ trigger = {{ type = {options} }}, planner = {{ type = "hudi.compaction" }} }}'
    text = SOUND.partition("[[strategies]]")[0] + f'[[strategies]]\nlabel = "mine"\nrules = [{rule}]\n'
    reasons = found(tmp_path, text.replace("iceberg", "hudi"), "workload.initial_rows=100", *HUDI)
    said = f"the table gets 11 commits, an initial load included, until {END}"
    assert reasons == ([("mine", said)] if is_idle else [])


def test_a_switch_ends_the_rules_before_it_and_starts_those_after_it(tmp_path):
    slow, late = '{ type = "every", interval = "5min" }', '{ type = "after_commits", commits = 6 }'
    away = strategies(slow, extra='switch = [{ at = "5min", strategy = "never" }]')
    assert found(tmp_path, away) == [
        ("mine", "it would fire after its strategy is switched away from (at 5min)")
    ]
    assert found(tmp_path, away.replace('at = "5min"', 'at = "6min"')) == []
    to = strategies(late, label="late") + (
        '[[strategies]]\nlabel = "joins"\nswitch = [{ at = "5min", strategy = "late" }]\n'
    )
    assert found(tmp_path, to) == [("joins", f"5 commits until {END}")]


def test_maintenance_can_be_idle_too(tmp_path):
    scenario = load(tmp_path, maintenance=[maintenance("iceberg.rewrite_manifests", interval="11min")])
    assert [idle.owner for idle in idle_rules(scenario)] == ["maintenance"]


def test_a_variant_is_named_only_for_what_it_makes_idle(tmp_path):
    change = (
        '[[variants]]\nlabel = "slow"\nset = { "strategies[every-2min].rules[0].trigger.interval" = "1h" }\n'
    )
    assert found(tmp_path, SOUND + change) == [("every-2min @ slow", f"it would fire after {END}")]
    same = '[[variants]]\nlabel = "v3"\nset = { table = { format_version = 3 } }\n'
    assert [owner for owner, _ in found(tmp_path, SOUND + same, "duration=1min")] == ["every-2min"]


@pytest.mark.parametrize("name", sorted(shipped()))
def test_every_rule_of_a_shipped_scenario_can_fire(name):
    assert idle_rules(load_scenario(name)) == ()


def test_rows_that_are_kept_back_make_fewer_commits_and_files(tmp_path):
    late = 'writer = { commit_every = "5min", files_per_commit = 2 }'
    text = strategies('{ type = "after_commits", commits = 3 }', extra=late)
    assert found(tmp_path, text) == [("mine", f"2 commits until {END}")]
    text = strategies('{ type = "file_count", files = 9 }', extra=late)
    assert found(tmp_path, text) == [("mine", "the whole stream adds at most 4 files")]


def test_a_planner_that_keeps_longer_than_the_stream_lasts_is_named(tmp_path):
    def idle(retain):
        kept = maintenance("iceberg.expire_snapshots", interval="2min", retain=retain)
        return [str(one) for one in idle_rules(load(tmp_path, maintenance=[kept]))]

    (said,) = idle("10min")
    assert said.endswith(f"can never fire: its planner acts after 10min, which is after {END}")
    assert idle("9min") == []
