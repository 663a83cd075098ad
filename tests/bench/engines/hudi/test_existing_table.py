"""Existing tables, from folders written by hand. Those that Hudi wrote are in test_engine."""

import io
import json
import shutil

import fastavro
import pytest
from hudi_folders import PROPERTIES, HudiFolder, minute
from refused import refused

from bench.engines.existing import TableAddress
from bench.engines.hudi.existing_table import is_table_at, open_existing
from bench.engines.hudi.format import FORMAT
from bench.engines.simulated.steps import Operation
from bench.errors import ScenarioError
from bench.preview.figures import plan_figures, table_figures
from bench.preview.preview import named_planners, preview_strategy
from strategies.hudi.commands import Command
from strategies.hudi.files import Action, FileGroupId, Instant
from strategies.state import GIB, MIB

ALL = "hudi.compaction"


@pytest.fixture
def table(tmp_path):
    """Base files of minute 0 in two groups of partition a and one of b; log files of a of minutes 2 and 4."""
    folder = HudiFolder(tmp_path / "orders")
    folder.commit(0, folder.base(0, "f1"), folder.base(0, "f2"), folder.base(0, "f3", "b"))
    folder.commit(2, folder.log(2, "f1"))
    folder.commit(4, folder.log(4, "f1"), folder.log(4, "f2"))
    return folder


def opened(folder):
    return open_existing(TableAddress(str(folder.path)))


def names(files):
    return sorted(file.path.removesuffix("_0-1-2") for file in files)


def log(partition, file_id, at):
    return f"{partition}/.{file_id}_{minute(at)}.log.1"


def base(partition, file_id, at):
    return f"{partition}/{file_id}_0-1-2_{minute(at)}.parquet"


def instant_file(folder, at):
    return next(folder.timeline.glob(f"{minute(at)}_*"))


def preview(folder, planner, *options):
    return preview_strategy(named_planners(planner, options, None), opened(folder), FORMAT)


def test_a_table_is_described_by_its_timeline(table):
    existing = opened(table)
    facts, state = existing.facts, existing.state
    assert names(state.data_files) == [base("a", "f1", 0), base("a", "f2", 0), base("b", "f3", 0)]
    assert names(state.delete_files) == [log("a", "f1", 2), log("a", "f1", 4), log("a", "f2", 4)]
    assert (facts.version, facts.columns, facts.partition_spec) == (minute(4), ("order_id",), "day")
    assert facts.committed_at == "2026-01-01T00:05:00.000"
    assert state.target_file_size_bytes == 120 * MIB
    assert {file.added_at_ms for file in state.data_files} == {60_000}
    assert sorted(file.added_at_ms for file in state.delete_files) == [180_000, 300_000, 300_000]
    figures = table_figures("orders", existing)
    assert (figures["data_files"], figures["rows"]) == (3, 21)
    assert figures["delete_files"] == [{"kind": "log_file", "files": 3, "bytes": 30, "rows": 27}]
    written = ((0, {"a", "b"}), (2, {"a"}), (4, {"a"}))
    assert list(state.timeline) == [
        Instant(Action.DELTA_COMMIT, at * 60_000, (at + 1) * 60_000, partitions) for at, partitions in written
    ]


def test_a_log_file_belongs_to_the_base_file_requested_before_its_commit_completed(table):
    """The compaction of minute 3 was scheduled before the commit of minute 2 had completed, at minute 6."""
    table.commit(3, table.base(3, "f1"), action="commit", operation="COMPACT", until=9)
    table.plan(3, ("a", "f1"))
    instant_file(table, 2).rename(table.timeline / f"{minute(2)}_{minute(6)}.deltacommit")
    state = opened(table).state
    assert base("a", "f1", 3) in names(state.data_files)
    assert names(state.delete_files) == [log("a", "f1", 2), log("a", "f1", 4), log("a", "f2", 4)]


def test_files_that_a_compaction_has_merged_are_not_live(table):
    table.plan(6, ("a", "f1"))
    table.commit(6, table.base(6, "f1"), action="commit", operation="COMPACT")
    state = opened(table).state
    assert names(state.data_files) == [base("a", "f1", 6), base("a", "f2", 0), base("b", "f3", 0)]
    assert names(state.delete_files) == [log("a", "f2", 4)]


def test_files_of_writes_that_have_not_completed_do_not_count(table):
    before = opened(table).state
    table.log(6, "f3", "b")
    table.base(6, "f4", "b")
    (table.timeline / f"{minute(6)}.deltacommit.requested").touch()
    after = opened(table).state
    assert names(after.data_files) == names(before.data_files)
    assert names(after.delete_files) == names(before.delete_files)
    assert after.timeline[-1].is_pending


def test_nothing_is_planned_for_file_groups_with_a_pending_plan(table):
    table.plan(6, ("a", "f1"), missing=["b"])
    state = opened(table).state
    assert state.pending_groups == {Command.COMPACTION: {FileGroupId("a", "f1")}}
    assert state.timeline[-1].missing_partitions == ("b",)
    planned = preview(table, ALL).preview
    assert [[file.path for file in group.files] for group in planned.groups] == [[base("a", "f2", 0)]]


def test_file_groups_that_were_replaced_do_not_count(table):
    clustered = table.base(6, "f9", "b")
    table.plan(6, service="clustering")
    table.commit(6, clustered, action="replacecommit", replaced={"b": ["f3"]})
    assert names(opened(table).state.data_files)[-1] == base("b", "f9", 6)


def test_archived_instants_are_found_in_the_history(table):
    before = opened(table)
    table.archive(0, 2)
    after = opened(table)
    assert names(after.state.delete_files) == names(before.state.delete_files)
    assert table_figures("orders", after)["rows"] == 21
    assert len(after.state.timeline) == 1


def test_without_a_history_the_rows_of_old_files_are_unknown(table):
    table.archive(0)
    (table.timeline / "history" / "_version_").unlink()
    existing = opened(table)
    assert len(existing.state.data_files) == 3
    figures = table_figures("orders", existing)
    assert figures["rows"] is None
    assert figures["delete_files"][0]["rows"] == 27  # those were written later
    effect = plan_figures(preview(table, ALL), existing, with_files=True)["effect"]
    assert [file["rows"] for group in effect["groups_in_order"] for file in group["files"]] == [None, None]


def test_a_savepoint_does_not_make_what_follows_it_archived(table):
    """The first instant that is not saved begins the active timeline."""
    (table.timeline / f"{minute(0)}_{minute(7)}.savepoint").touch()
    table.log(1, "f3", "b")
    assert names(opened(table).state.delete_files)[-1] == log("b", "f3", 1)


def test_files_in_folders_that_are_no_partitions_do_not_count(table):
    table.base(0, "f7", "c")
    (table.path / "c" / ".hoodie_partition_metadata").unlink()
    assert len(opened(table).state.data_files) == 3


def test_a_table_without_a_commit_is_empty(tmp_path):
    existing = opened(HudiFolder(tmp_path / "orders"))
    assert (len(existing.state.data_files), existing.facts.version) == (0, None)


def test_clustering_has_hudis_own_defaults(table):
    action, _ = opened(table).narrowed(preview(table, "hudi.clustering").plan.actions[0])
    assert action.options["hoodie.clustering.plan.strategy.target.file.max.bytes"] == str(GIB)
    (first, second) = preview(table, "hudi.clustering").preview.groups
    assert (len(first.files), len(first.tasks), len(second.files)) == (2, 1, 1)


def test_a_table_with_the_metadata_table_costs_more_to_cluster(table, tmp_path):
    listed = HudiFolder(tmp_path / "listed", {**PROPERTIES, "hoodie.table.metadata.partitions": "files"})
    listed.commit(0, listed.base(0, "f1"), listed.base(0, "f2"), listed.base(0, "f3", "b"))
    cluster = FORMAT.engines.estimates().operations[Operation.CLUSTER]
    more_s = sum(part["s_with_metadata_table"] for part in (cluster.tasks, cluster.driver))
    plain, more = (preview(folder, "hudi.clustering").cpu_s for folder in (table, listed))
    assert more - plain >= 0.9 * more_s


def test_the_thresholds_that_exclude_slices(table):
    by_log_bytes = preview(table, ALL, "options.hoodie.compaction.logfile.size.threshold=1000").shortfall
    assert (by_log_bytes.files_count, by_log_bytes.candidates_count) == (3, 2)
    assert by_log_bytes.thresholds["log_bytes_min"] == 1000
    limit = "options.hoodie.clustering.plan.strategy.small.file.limit=50"
    by_base_bytes = preview(table, "hudi.clustering", limit).shortfall
    assert (by_base_bytes.files_count, by_base_bytes.candidates_count) == (3, 0)


def test_what_hudi_would_refuse_is_refused(table, tmp_path):
    copied = HudiFolder(tmp_path / "copied", {**PROPERTIES, "hoodie.table.type": "COPY_ON_WRITE"})
    copied.commit(0, copied.base(0, "f1"), action="commit")
    with pytest.raises(ScenarioError, match="COPY_ON_WRITE"):
        preview(copied, ALL)
    hashed = HudiFolder(tmp_path / "hashed")
    hashed.commit(0, hashed.base(0, "00000000-ab"), hashed.base(0, "00000001-cd"))
    with pytest.raises(ScenarioError, match="bucket index"):
        preview(hashed, "hudi.clustering")
    with pytest.raises(ScenarioError, match="DayBased"):
        preview(table, ALL, "strategy=DayBased")


def test_a_strategy_that_looks_for_slashes_is_refused_for_paths_with_dashes(tmp_path):
    folder = HudiFolder(tmp_path / "dashed")
    folder.commit(0, folder.base(0, "f1", "2026-01-01"))
    folder.commit(2, folder.log(2, "f1", "2026-01-01"))
    with pytest.raises(ScenarioError, match="2026-01-01"):
        preview(folder, ALL, "strategy=BoundedPartitionAware")


def test_a_table_is_recognized_by_its_folder(table, tmp_path):
    assert is_table_at(str(table.path))
    assert is_table_at(str(table.timeline))
    assert not is_table_at(str(tmp_path))
    assert not is_table_at("db.orders")


@pytest.mark.parametrize("name", ["/nowhere/orders", "/data/orders/.hoodie/timeline"])
def test_a_folder_without_a_hudi_table_is_refused(name):
    with refused("not-a-table", name):
        open_existing(TableAddress(name))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("hoodie.table.version", "5"),
        ("hoodie.table.base.file.format", "ORC"),
        ("hoodie.timeline.path", "elsewhere"),
    ],
)
def test_a_table_that_cannot_be_read_correctly_is_refused(tmp_path, name, value):
    folder = HudiFolder(tmp_path / "orders", {**PROPERTIES, name: value})
    with refused("damaged") as caught:
        opened(folder)
    assert f"{name} " in str(caught.value)


def test_data_files_without_a_timeline_are_no_empty_table(table):
    shutil.rmtree(table.timeline)
    with refused("damaged"):
        opened(table)


def test_an_instant_whose_name_is_no_time_is_refused(table):
    instant_file(table, 4).rename(table.timeline / "20261301000000000_20261301000000001.deltacommit")
    with refused("damaged") as caught:
        opened(table)
    assert "20261301" in str(caught.value)


@pytest.fixture
def early(tmp_path):
    """A table of version 6, whose log files are named after their base file."""
    folder = HudiFolder(tmp_path / "early", {**PROPERTIES, "hoodie.table.version": "6"})
    folder.commit(0, folder.base(0, "f1"), folder.base(0, "f2"))
    folder.commit(2, folder.log(0, "f1"))
    folder.commit(4, folder.log(0, "f1"), folder.log(0, "f2"))
    return folder


def test_a_table_of_version_6_is_read(early):
    existing = opened(early)
    assert names(existing.state.data_files) == [base("a", "f1", 0), base("a", "f2", 0)]
    assert names(existing.state.delete_files) == [log("a", "f1", 0), log("a", "f2", 0)]
    # Both commits have appended to the log file of f1.
    assert sorted(file.rows for file in existing.state.delete_files) == [9, 18]
    assert [instant.action for instant in existing.state.timeline] == [Action.DELTA_COMMIT] * 3
    assert existing.facts.committed_at == "2026-01-01T00:04:00.000"
    assert {file.added_at_ms for file in existing.state.data_files} == {0}
    assert {file.added_at_ms for file in existing.state.delete_files} == {None}


def test_log_files_of_version_6_may_be_named_after_the_compaction_that_is_pending(early):
    early.plan(5, ("a", "f1"))
    early.commit(6, early.log(5, "f1"))
    state = opened(early).state
    assert names(state.delete_files) == [log("a", "f1", 0), log("a", "f1", 5), log("a", "f2", 0)]
    assert state.pending_groups == {Command.COMPACTION: {FileGroupId("a", "f1")}}
    early.commit(5, early.base(5, "f1"), action="commit", operation="COMPACT")
    state = opened(early).state
    assert names(state.data_files) == [base("a", "f1", 5), base("a", "f2", 0)]
    assert names(state.delete_files) == [log("a", "f1", 5), log("a", "f2", 0)]
    assert state.timeline[3].missing_partitions is None


def test_rows_of_a_file_of_version_6_are_unknown_once_its_instant_is_archived(early):
    (early.timeline / f"{minute(0)}.deltacommit").unlink()
    existing = opened(early)
    assert (len(existing.state.data_files), len(existing.state.delete_files)) == (2, 2)
    assert {file.added_at_ms for file in existing.state.data_files} == {None}
    assert table_figures("orders", existing)["rows"] is None


def test_an_overwrite_of_partitions_has_no_plan(early):
    (early.timeline / f"{minute(6)}.replacecommit.requested").touch()
    state = opened(early).state
    assert (state.timeline[-1].is_pending, state.pending_groups) == (True, {})


def check_named(table, damaged, content):
    """The table is refused by the name of a file that is damaged: has this content, or is gone (None)."""
    whole = damaged.read_bytes() if damaged.exists() else None
    damaged.unlink(missing_ok=True)
    if content is not None:
        damaged.write_bytes(content)
    with refused("damaged") as caught:
        opened(table)
    assert str(caught.value).startswith(str(damaged))
    damaged.unlink(missing_ok=True)
    if whole is not None:
        damaged.write_bytes(whole)


def test_a_damaged_file_is_named(table, early):
    table.archive(0)
    history = table.timeline / "history"
    for file in (instant_file(table, 4), history / "first_last_0.parquet", history / "manifest_1"):
        check_named(table, file, file.read_bytes()[:-20])
    check_named(table, table.timeline / f"{minute(6)}.compaction.requested", b"")
    check_named(table, history / "manifest_1", b"[]")
    for content in (b"\xff\xfe", None):
        check_named(table, table.path / ".hoodie" / "hoodie.properties", content)
    commit = early.timeline / f"{minute(4)}.deltacommit"
    check_named(early, commit, commit.read_bytes()[:-20])


@pytest.mark.parametrize(
    "commit",
    [
        [], 5, {"partitionToWriteStats": [5]}, {"partitionToWriteStats": {"a": [{"path": "a/x.parquet"}]}},
        {"partitionToWriteStats": {"a": [{"path": "x", "numWrites": "1", "numDeletes": 0}]}},
        {"partitionToReplaceFileIds": {"a": 5}}, {"extraMetadata": {"schema": "no JSON"}},
        {"extraMetadata": {"schema": '{"fields": [5]}'}},
    ],
)  # fmt: skip
def test_a_commit_with_unexpected_content_is_named(early, commit):
    check_named(early, early.timeline / f"{minute(4)}.deltacommit", json.dumps(commit).encode())


def test_a_plan_with_unexpected_content_is_named(table):
    strange = io.BytesIO()
    texts = {"operations": "x", "clusteringPlan": "x"}
    fastavro.writer(strange, {"type": "map", "values": "string"}, [texts])
    for service in ("compaction", "clustering"):
        check_named(table, table.timeline / f"{minute(6)}.{service}.requested", strange.getvalue())
