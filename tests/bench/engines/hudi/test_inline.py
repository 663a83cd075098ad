from bench.engines.hudi.inline import inline_rule
from strategies.hudi.compaction_strategies import class_names
from strategies.hudi.planners import Compaction
from strategies.hudi.triggers import NumAndTime, NumCommits

INLINE = "hoodie.compact.inline"


def test_commits_do_not_compact_by_default():
    assert inline_rule({}) is None
    assert inline_rule({INLINE: "false", f"{INLINE}.max.delta.commits": "1"}) is None


def test_a_rule_has_hudis_defaults():
    rule = inline_rule({INLINE: "true"})
    assert (rule.trigger, rule.planner) == (NumCommits(5), Compaction("LogFileSizeBased"))


def test_a_rule_follows_the_options_of_the_table():
    rule = inline_rule(
        {
            INLINE: "true",
            f"{INLINE}.trigger.strategy": "NUM_AND_TIME",
            f"{INLINE}.max.delta.commits": "2",
            f"{INLINE}.max.delta.seconds": "60",
            "hoodie.compaction.strategy": class_names("UnBounded"),
            "hoodie.compaction.target.io": "7",
        }
    )
    assert rule.trigger == NumAndTime(2, 60_000)
    assert rule.planner.options == {"hoodie.compaction.target.io": "7"}
