import re
from dataclasses import replace

from reports.data.group import RunGroup
from reports.page.sections.method import facts as method_facts
from reports.page.sections.set_up import set_up
from reports.phrases import Verbatim, say

RULES = [
    {"trigger": {"type": "every", "interval": "10min"},
     "planner": {"type": "iceberg.expire_snapshots", "retain": "5min"}},
    {"trigger": {"type": "after_commits", "commits": 4}, "planner": {"type": "iceberg.rewrite_manifests"}},
]  # fmt: skip
TITLE = "Maintenance of every table"


def test_what_a_variant_sets_is_said_of_its_strategies(group):
    def in_variant(run):
        if run.manifest.strategy != "every-1min":
            return run
        variant = {"label": "v3", "set": {"table.format_version": 3, "spark.x": True}}
        return replace(run, manifest=run.manifest.model_copy(update={"variant": variant}))

    rows = set_up(RunGroup(group.rows, tuple(map(in_variant, group.runs)))).rows
    assert {title.text: value.text for title, value in rows}["Variant"] == say(
        "v3: table.format_version = 3, spark.x = true (", Verbatim("every-1min"), ")"
    )
    assert "Variant" not in facts(group, RULES)


def test_what_all_runs_share_is_read_from_one_in_no_variant(group):
    first, *others = group.runs
    variant = {"label": "v3", "set": {}}
    varied = replace(first, manifest=first.manifest.model_copy(update={"variant": variant}))
    assert RunGroup(group.rows, (varied, *others)).manifest == others[0].manifest
    assert RunGroup(group.rows, (varied,)).manifest == varied.manifest


def facts(group, rules, **parts):
    def with_rules(run):
        text = run.manifest.scenario_text | {"maintenance": rules} | parts
        return replace(run, manifest=run.manifest.model_copy(update={"scenario_text": text}))

    rows = set_up(RunGroup(group.rows, tuple(map(with_rules, group.runs)))).rows
    return {title.text: value.text for title, value in rows}


def test_maintenance_is_listed_rule_by_rule(group):
    assert facts(group, RULES)[TITLE] == say(
        "every(interval=10min): iceberg.expire_snapshots(retain=5min); "
        "after_commits(commits=4): iceberg.rewrite_manifests()"
    )


def test_what_is_no_number_in_a_workload_of_the_users_own_is_left_out(group):
    other = facts(group, RULES, workload={"files_per_commit": {"day": 8, "night": 1}})
    assert other == facts(group, RULES, workload={}) != facts(group, RULES, workload={"files_per_commit": 8})


def test_a_scenario_without_maintenance_has_no_such_row(group):
    assert TITLE not in facts(group, [])


def test_each_writer_has_its_own_commits(cadence_group, group):
    said = {title.text: str(value.text) for title, value in set_up(cadence_group).rows}["Stream"]
    assert re.fullmatch(
        r".* in 12 commits, \S+ \S+ as Parquet \(never\), .* in 4 commits, .* \(late\) "
        r"and .* in 1 commit, .* \(later\)",
        said,
    )
    assert "2 repetitions, 1 to 12 commits in 12 min of scenario time. " in str(method_facts(cadence_group))
    assert "60 commits, one every 1 min of scenario time. " in str(method_facts(group))
