from copy import deepcopy
from dataclasses import replace

import pytest
from records import commit, compaction, end, run
from result_builder import UPSERT

from bench.results.records import CompactionRecord
from bench.results.tables import RunRecords
from reports.data.group import RunGroup, run_groups
from reports.page.content import page_content
from reports.page.sections.by_kind import compactions_by_kind, kinds_of
from reports.page.sections.deletes import left_behind
from reports.page.sections.parameters import parameters
from reports.page.sections.set_up import set_up


def texts(table):
    return [tuple(str(cell.text) for cell in row) for row in table.rows]


def headings(table):
    return [f"{column.title} ({column.unit})" if column.unit else column.title for column in table.columns]


def facts(group):
    return dict(texts(set_up(group)))


def changed(group, label=None, **fields):
    """The group with other fields in the manifests of one strategy, or of all."""
    runs = []
    for made in group.runs:
        update = fields if label in (None, made.manifest.strategy) else {}
        runs.append(replace(made, manifest=made.manifest.model_copy(update=update)))
    return RunGroup(group.rows, tuple(runs))


def test_what_is_left_behind_is_listed_with_the_cost(upsert_group):
    table = left_behind(upsert_group)
    assert headings(table)[:8] == [
        "Strategy", "Delete files (mean)", "Delete files (at end)", "Equality deletes (mean)",
        "Deleted rows (mean)", "Deleted rows (at end)", "Age of last compaction (mean, s)",
        "Health (mean, of 100)",
    ]  # fmt: skip
    assert headings(table)[8:] == ["Compaction CPU (s)", "Compaction added", "Query mean (ms)"]
    never, every, amoro = (row[:8] for row in texts(table))
    # Three delete files a commit, two by equality, 50 rows each: 3, 6, ... 18. Means are of what ticks leave.
    assert never == ("never", "10.5", "18", "7", "525", "900", "210", "\N{EN DASH}")
    assert every == ("every-3min", "3", "0", "2", "150", "0", "120", "\N{EN DASH}")
    # 3, then one by position is left: 1, 4, then none: 0, 3, and one at the end.
    assert amoro[:3] == ("amoro", "2", "1")
    assert amoro[4:] == ("100", "50", "90", "93.7")


def test_only_streams_with_deletes_leave_any_behind(group, upsert_group):
    assert left_behind(group) is None
    (content,) = page_content((upsert_group,)).contents
    (section,) = (built for built in content.sections if built.section.id == "left")
    assert section.blocks == (left_behind(upsert_group),)


def test_compactions_are_summed_up_by_kind(upsert_group, group):
    cells = {row[:2]: row[2:5] for row in texts(compactions_by_kind(upsert_group))}
    assert cells == {
        ("every-3min", "rewrite all"): ("2", "49 \N{RIGHTWARDS ARROW} 2", "18 \N{RIGHTWARDS ARROW} 0"),
        ("amoro", "minor"): ("2", "33 \N{RIGHTWARDS ARROW} 2", "12 \N{RIGHTWARDS ARROW} 2"),
        ("amoro", "major"): ("1", "17 \N{RIGHTWARDS ARROW} 1", "7 \N{RIGHTWARDS ARROW} 0"),
    }
    assert compactions_by_kind(group) is None  # no plan says its kind


def test_compactions_that_committed_nothing_are_of_no_kind():
    records = (compaction(plan_kind="full", status="failed"), compaction(), end())
    assert compactions_by_kind(run_groups([run(*records)])[0]) is None
    records = (compaction(plan_kind="full", wall_s=2.0), compaction(plan_kind="full", status="failed"), end())
    (row,) = texts(compactions_by_kind(run_groups([run(*records)])[0]))
    assert row[1:3] == ("full", "1")


def test_a_plan_without_a_kind_goes_by_its_commands():
    actions = ["rewrite_data_files(a=1)", "rewrite_data_files(a=2)", "expire_snapshots()"]
    compactions = run(compaction(actions=actions), compaction(actions=actions, plan_kind="minor"))
    assert kinds_of(compactions.of(CompactionRecord)).tolist() == [
        "rewrite_data_files, expire_snapshots",
        "minor",
    ]


def test_the_set_up_of_a_stream_of_changes_answers_what_readers_miss(upsert_group):
    said = facts(upsert_group)
    assert said == {
        "Data set": "orders, 17 columns; the table starts empty",
        "Initial data layout": "ordered by order_id, one range per file",
        "Stream": said["Stream"],
        "Operations": "50 % inserts, 45 % updates, 5 % deletes; no key is changed twice in a commit; 10 % of "
        "updates move the row to another partition; 20 % of changes arrive up to 1d late; no duplicate "
        "deliveries",
        "Key distribution": "zipf, exponent 1.5",
        "Primary key": "order_id",
        "Updates and deletes": "equality deletes on order_id",
        "Partitioning": "bucket, 4 buckets",
        "Table": "format version 2, target file size 128 MiB, Parquet codec zstd (format default)",
        "Cores and memory": "one process (Spark local[2]) writes, compacts and queries in turn; memory "
        "1.86 GiB",
        "Caches": "table cache of the catalog off; delete-file cache of the executors off",
    }
    assert said["Stream"].startswith("2,400 changes in 6 commits, ")
    assert said["Stream"].endswith(" as Parquet, 8 writer tasks per commit")


def test_the_set_up_says_that_files_follow_the_rows(group):
    text = {"workload": {"files_per_commit": 100, "rows_per_file": 10}}
    said = facts(changed(group, scenario_text=text))
    assert said["Stream"].endswith(" as Parquet, a writer task per 10 rows and at most 100 per commit")


def test_the_set_up_of_appends_says_nothing_of_changes_and_invents_nothing(group):
    said = facts(group)
    assert said.keys() == {"Data set", "Stream", "Partitioning", "Table", "Cores and memory"}
    assert said["Partitioning"] == "not known"
    assert said["Table"] == "format version not known, target file size 128 MiB, Parquet codec not known"
    assert said["Cores and memory"] == "cores not known; memory 1.86 GiB"


def merging(mode, **dataset):
    options = {**UPSERT["options"], "upsert_mode": mode}
    return {"options": options, "dataset": {**UPSERT["dataset"], **dataset}}


def test_a_fact_that_differs_is_listed_by_strategy(upsert_group):
    said = facts(changed(upsert_group, "never", **merging("copy-on-write", changes_by="MERGE INTO")))
    assert said["Updates and deletes"] == (
        "copy-on-write through MERGE INTO, where Spark chooses the number of files (never) and equality "
        "deletes on order_id (every-3min and amoro)"
    )


@pytest.mark.parametrize(
    ("fields", "fact", "expected"),
    [
        ({"scenario_text": {"workload": {"type": "debezium"}}}, "Operations",
         "as in the recorded events; shares not known"),
        ({"scenario_text": {"workload": {"type": "debezium"}}}, "Key distribution",
         "as in the recorded events; skew not known"),
        ({"scenario_text": {"workload": {"key_skew": "uniform", "key_exponent": 1.0}}}, "Key distribution",
         "uniform"),
        ({"dataset": {}}, "Primary key", "not known"),
        ({"dataset": {}}, "Updates and deletes", "equality-delete"),
        ({"options": {"format_version": None}}, "Table",
         "target file size 128 MiB, Parquet codec zstd (format default)"),
        ({"options": {"spark.master": "spark://host:7077"}}, "Cores and memory",
         "Spark master spark://host:7077, cores of the cluster not known; memory of the driver 1.86 GiB"),
        ({"options": {"cores": {"writer": 8, "compactor": 1}}}, "Cores and memory",
         "modelled cores: writer 8, compactor 1; compactor memory 1.86 GiB"),
        ({"options": {"caches": {"table cache": "false", "delete-file cache": "True"}}}, "Caches",
         "table cache off; delete-file cache on"),
    ],
)  # fmt: skip
def test_each_fact_is_what_the_manifest_says(upsert_group, fields, fact, expected):
    assert facts(changed(upsert_group, **fields))[fact] == expected


def test_the_initial_load_is_counted(upsert_group):
    first = upsert_group.runs[0]
    load = commit(is_initial=True, rows=10**6, added_bytes=2**20, files_added_count=3)
    loaded = replace(first, records=RunRecords.listed([load, *first.records]))
    runs = (loaded, *upsert_group.runs[1:])
    said = facts(RunGroup(upsert_group.rows, runs))
    assert said["Data set"] == "orders, 17 columns; initial load of 1,000,000 rows, 1 MiB in 3 files"
    assert said["Stream"].startswith("2,400 changes in 6 commits, ")


def test_every_parameter_has_its_value_or_default(upsert_group):
    table = parameters(upsert_group)
    assert headings(table) == ["Parameter", "every-3min", "amoro", "Default"]  # `never` has none
    cells = {(row[0].note, str(row[0].text)): tuple(str(c.text) for c in row[1:]) for row in table.rows}
    dash = "\N{EN DASH}"
    assert cells == {
        ("", "trigger"): ("every(interval=3min)", dash, dash),
        ("", "planner"): ("merge", dash, dash),
        ("merge", "sort_order"): ("a", dash, dash),
        ("merge", "least"): ("2", dash, "5"),
        ("rule 1", "trigger"): (dash, "every(interval=2min)", dash),
        ("rule 1", "planner"): (dash, "amoro", dash),
        ("rule 1, amoro", "threads"): (dash, "1", dash),
        ("rule 1, amoro", "minor-files"): (dash, "40", "12 of a partition"),
        ("rule 1, amoro", "ratio"): (dash, "default", "0.1"),
        ("rule 2", "trigger"): (dash, "after_commits(commits=3)", dash),
        ("rule 2", "planner"): (dash, "merge", dash),
        ("rule 2, merge", "least"): (dash, "default", "5"),
        ("", "properties"): (dash, '{"write.x": "y"}', dash),
    }


def test_how_the_plans_of_a_rule_are_executed_is_a_parameter_of_it(upsert_group):
    text = deepcopy(UPSERT["scenario_text"])
    (rule,) = text["strategies"][1]["rules"]
    rule |= {"executor": "delta-rs", "delay": "10min", "concurrent": True}
    rows = parameters(changed(upsert_group, "every-3min", scenario_text=text)).rows
    cells = {str(row[0].text): str(row[1].text) for row in rows if not row[0].note}
    assert cells["executor"] == "delta-rs"
    assert (cells["delay"], cells["concurrent"]) == ("10min", "true")


def test_parameters_that_were_not_recorded_are_no_table(group):
    assert parameters(group) is None


def test_a_merge_is_told_by_the_manifest_whatever_it_is_called(upsert_group):
    by_vectors = merging("merge-on-read", changes_by="MERGE INTO with deletion vectors", is_merge=True)
    said = facts(changed(upsert_group, "never", **by_vectors))["Updates and deletes"]
    assert said.startswith("merge-on-read through MERGE INTO with deletion vectors, where Spark chooses")
