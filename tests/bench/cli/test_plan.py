import http.server
import json
import os
import random
import shutil
import sqlite3
import threading
from pathlib import Path
from types import SimpleNamespace

import pyiceberg.catalog
import pytest
from iceberg_tables import BY_CITY, NOT_PARTITIONED, catalog_properties, make_table
from pyiceberg.catalog import load_catalog
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType, StructType
from pyiceberg.utils.config import Config
from scenario_builder import SOUND, write

from bench.errors import ScenarioError

REWRITE = ["--strategy", "iceberg.rewrite_data_files"]
FEW = ["--option", "options.min-input-files=2"]
COMMITS = [{"Oslo": 4, "Rome": 2}, {"Oslo": 3, "Rome": 2}, {"Oslo": 2}]


@pytest.fixture
def folder(tmp_path):
    """Where the catalog and its tables are."""
    lake = tmp_path / "lake"
    lake.mkdir()
    return lake


@pytest.fixture
def table(folder):
    """Five files, three of Oslo and two of Rome."""
    return make_table(folder, COMMITS)


@pytest.fixture(scope="module")
def standing_table(tmp_path_factory):
    """A table like `table`, shared by tests that neither change it nor need its catalog."""
    return make_table(tmp_path_factory.mktemp("standing"), COMMITS)


def in_catalog(folder):
    pairs = (f"{key}={value}" for key, value in catalog_properties(folder).items())
    return ["--catalog", "lake", *(word for pair in pairs for word in ("--catalog-property", pair))]


def local_path(table):
    return table.location().removeprefix("file://")


@pytest.fixture
def plan(compactbench):
    """What `compactbench plan WORDS` prints; it must succeed."""

    def run(*words):
        printed = compactbench("plan", *words)
        assert printed.err == ""
        return printed

    return run


@pytest.fixture
def printed(plan):
    """The table that it prints, with single blanks."""
    return lambda *words: plan(*words).words


@pytest.fixture
def as_json(plan):
    return lambda *words: plan(*words, "--format", "json").json


@pytest.fixture
def error(compactbench):
    """The text and the code of the one error of `compactbench plan WORDS`."""

    def run(*words):
        printed = compactbench("plan", *words, code=2)
        assert printed.out == ""
        (line,) = printed.err.splitlines()
        text, _, code = line.removeprefix("error: ").removesuffix("]").rpartition(" [")
        return text, code

    return run


def test_plan_prints_table_groups_and_result(printed, table, folder):
    text = printed("shop.visits", *in_catalog(folder), *REWRITE, *FEW)
    parts = (
        f"location {table.location()}", f"table version {table.current_snapshot().snapshot_id}, committed 20",
        "data files 5 files, ", ", 13 rows", "delete files none", "partitions 2 by city", "size 512 MiB",
        "below 5.12 MiB 5 ", "iceberg.rewrite_data_files(min-input-files=2) plans", "rewrite 5 data files",
        "in 2 groups", "into 2 files", "to 2.", "city=Oslo 1 3 1 ", "Cost: about ",
        " of CPU (rough).",
    )  # fmt: skip
    assert [part for part in parts if part not in text] == []
    assert text.index("city=Oslo") < text.index("city=Rome")
    assert text.endswith("Nothing was written.")


def test_plan_prints_json(as_json, table, folder):
    answer = as_json("shop.visits", *in_catalog(folder), *REWRITE, *FEW)
    files = sorted(table.inspect.files().to_pylist(), key=lambda file: file["file_path"])
    size = sum(file["file_size_in_bytes"] for file in files)
    facts, effect = answer["table"], answer["effect"]
    assert facts["committed_at"].endswith("+00:00")
    assert [size_class["files"] for size_class in facts["file_sizes"]] == [5, 0, 0, 0, 0]
    assert sum(size_class["bytes"] for size_class in facts["file_sizes"]) == size
    expected = {
        "name": "shop.visits", "metadata": table.metadata_location, "format_version": 2,
        "version": str(table.current_snapshot().snapshot_id), "data_files": 5, "data_bytes": size, "rows": 13,
        "partitions": 2, "partition_spec": "city", "target_file_size_bytes": 512 * 2**20,
    }  # fmt: skip
    assert expected.items() <= facts.items()
    assert answer["strategy"] == "iceberg.rewrite_data_files"
    assert answer["plan"]["reason"] == "scheduled"
    assert answer["plan"]["actions"] == ["iceberg.rewrite_data_files(strategy=binpack, min-input-files=2)"]
    expected = {
        "groups": 2, "files_removed_count": 5, "files_added_count": 2, "files_before": 5, "files_after": 2,
        "read_data_bytes": size, "replaced_bytes": size, "files_out_exact": True, "deletes_exact": True,
    }  # fmt: skip
    assert expected.items() <= effect.items()
    assert [(line["partition"], line["files_removed_count"]) for line in effect["partitions"]] == [
        ("city=Oslo", 3), ("city=Rome", 2),
    ]  # fmt: skip
    assert "files" not in effect["groups_in_order"][0]
    assert answer["cost"]["cpu_s"] > 0
    assert answer["nothing_because"] is None


def test_plan_lists_the_files_when_asked(as_json, printed, standing_table):
    paths = {file["file_path"] for file in standing_table.inspect.files().to_pylist()}
    effect = as_json(standing_table.location(), *REWRITE, *FEW, "--files")["effect"]
    assert {file["path"] for group in effect["groups_in_order"] for file in group["files"]} == paths
    text = printed(standing_table.location(), *REWRITE, *FEW, "--files")
    assert all(path in text for path in paths)


def test_plan_cuts_long_lists_short(printed, as_json, folder, monkeypatch):
    table = make_table(folder, [{f"city{n:02}": 1 for n in range(22)}] * 2)
    monkeypatch.setattr("bench.cli.plan_output.FILES_SHOWN", 3)
    text = printed(table.location(), *REWRITE, *FEW, "--files")
    assert text.count("city=city") + text.count("(whole table)") == 20 + 3
    assert "and 2 more partitions" in text
    assert "and 41 more files" in text
    effect = as_json(table.location(), *REWRITE, *FEW, "--files")["effect"]
    assert len(effect["partitions"]) == 22
    assert sum(len(group["files"]) for group in effect["groups_in_order"]) == 44


def test_plan_finds_a_table_by_folder_uri_and_metadata_file(as_json, standing_table):
    for place in (
        local_path(standing_table),
        f"{local_path(standing_table)}/",
        standing_table.location(),
        standing_table.metadata_location,
    ):
        answer = as_json(place, *REWRITE)
        assert answer["table"]["data_files"] == 5
        assert answer["table"]["version"] == str(standing_table.current_snapshot().snapshot_id)
    older = standing_table.metadata.metadata_log[2].metadata_file
    assert as_json(older, *REWRITE)["table"]["data_files"] == 4


@pytest.mark.parametrize("branch", [(), ("--branch", "main")])
def test_a_head_that_metadata_does_not_list_is_damage_and_no_empty_table(
    error, standing_table, tmp_path, branch
):
    metadata = json.loads(Path(standing_table.metadata_location.removeprefix("file://")).read_text())
    head = metadata["current-snapshot-id"]
    damaged = tmp_path / "v1.metadata.json"
    damaged.write_text(json.dumps(metadata | {"snapshots": metadata["snapshots"][:-1]}))
    text, code = error(damaged, *REWRITE, *branch)
    assert str(head) in text
    assert code == "damaged"


def test_several_strategies_stand_side_by_side(as_json, printed, error, standing_table, tmp_path):
    scenario = write(tmp_path, SOUND + TWO_RULES)
    place = standing_table.location()
    both = [place, "--scenario", scenario, "--strategy", "every-2min", "--strategy", "careful"]
    answer = as_json(*both)
    assert answer["table"]["data_files"] == 5
    labels = [strategy["strategy"] for strategy in answer["strategies"]]
    assert labels == ["every-2min", "careful"]
    assert answer["strategies"][0]["nothing_because"]
    alone = as_json(*both[:3], "--strategy", "careful")
    assert alone == {"table": answer["table"], **answer["strategies"][1]}
    text = printed(*both)
    assert "every-2min 0 0 " in text
    assert " careful 5 2 " in text
    assert error(*both, *FEW)[1] == "exclusive"


def as_hadoop(table, versions, hint):
    """The table's folder as a Hadoop catalog leaves it: v1, v2, ... and a hint."""
    metadata = Path(local_path(table)) / "metadata"
    log = [Path(entry.metadata_file.removeprefix("file://")) for entry in table.metadata.metadata_log]
    log.append(Path(table.metadata_location.removeprefix("file://")))
    for version, index in versions.items():
        copy = shutil.copy(log[index], metadata / f"v{version}.metadata.json")
        os.utime(copy, (1000 - version, 1000 - version))  # the newest is the oldest file
    if hint is not None:
        (metadata / "version-hint.text").write_text(hint)
    for file in log:
        file.unlink()
    return local_path(table)


@pytest.mark.parametrize(
    ("versions", "hint", "files"),
    [
        ({1: 3, 2: 2}, "1", 4),  # a hint that lags behind: version 2 is the next
        ({1: 2, 9: 3}, "1", 4),  # no version 2: the table has not come to 9
        ({9: 2, 10: 3}, None, 5),  # by number, not by name
        ({1: 3}, "7\n", 5),  # a hint that leads nowhere
    ],
)
def test_plan_finds_the_newest_metadata_of_a_folder(as_json, table, versions, hint, files):
    answer = as_json(as_hadoop(table, versions, hint), *REWRITE)
    assert answer["table"]["data_files"] == files


def test_plan_takes_the_youngest_of_one_version(as_json, table, tmp_path):
    newest = Path(table.metadata_location.removeprefix("file://"))
    orphan = newest.with_name("00003-orphan.metadata.json")
    older = Path(table.metadata.metadata_log[1].metadata_file.removeprefix("file://"))
    shutil.copy(older, orphan)
    os.utime(orphan, (1, 1))
    assert as_json(local_path(table), *REWRITE)["table"]["data_files"] == 5


def test_plan_counts_groups_that_a_limit_excludes(printed, as_json, standing_table):
    limit = [*FEW, "--option", "options.max-files-to-rewrite=3"]
    text = printed(standing_table.location(), *REWRITE, *limit)
    assert "in 1 group " in text
    assert "excludes 1 more group" in text
    effect = as_json(standing_table.location(), *REWRITE, *limit)["effect"]
    assert (effect["groups"], effect["planned_groups"]) == (1, 2)


def test_plan_writes_nothing(as_json, table, folder):
    before = sorted((str(file), file.stat().st_mtime_ns) for file in folder.rglob("*"))
    as_json("shop.visits", *in_catalog(folder), *REWRITE, *FEW)
    as_json(table.location(), *REWRITE, *FEW)
    assert sorted((str(file), file.stat().st_mtime_ns) for file in folder.rglob("*")) == before


def test_plan_makes_neither_a_database_nor_tables_in_one(error, tmp_path):
    database = tmp_path / "other.db"
    uri = f"--catalog-property=uri=sqlite:///{database}"
    assert error("shop.visits", uri, *REWRITE)[1] == "file-missing"
    assert not database.exists()
    sqlite3.connect(database).close()
    error("shop.visits", uri, *REWRITE)
    assert sqlite3.connect(database).execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)


def test_plan_opens_no_data_file(as_json, table):
    for file in Path(local_path(table)).rglob("*.parquet"):
        file.unlink()
    assert as_json(table.location(), *REWRITE, *FEW)["effect"]["files_removed_count"] == 5


def test_plan_takes_a_catalog_of_pyiceberg_configuration(as_json, table, folder, monkeypatch):
    for key, value in catalog_properties(folder).items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__LAKE__{key.upper()}", value)
    monkeypatch.setattr(pyiceberg.catalog, "_ENV_CONFIG", Config())
    assert as_json("shop.visits", "--catalog", "lake", *REWRITE)["table"]["data_files"] == 5


CATALOG = """
[catalog]
name = "lake"
namespace = "shop"
properties = {{ type = "jdbc", uri = "jdbc:sqlite:{folder}/catalog.db", warehouse = "file://{folder}" }}
"""
PLANNER = 'type = "iceberg.rewrite_data_files", options = { min-input-files = 2 }'
TWO_RULES = """
[[strategies]]
label = "careful"
rules = [
  { trigger = { type = "after_commits", commits = 9 }, planner = { type = "never" } },
  { trigger = { type = "every", interval = "5min" }, planner = { PLANNER } },
]
""".replace("PLANNER", PLANNER)


def test_plan_evaluates_a_strategy_of_a_scenario_in_its_catalog(as_json, table, folder):
    scenario = write(folder, SOUND + TWO_RULES + CATALOG.format(folder=folder))
    answer = as_json("visits", "--scenario", scenario, "--strategy", "careful")
    assert answer["strategy"] == "careful"
    assert answer["planners"] == ["never()", "iceberg.rewrite_data_files(min-input-files=2)"]
    assert answer["plan"]["planner"] == "iceberg.rewrite_data_files(min-input-files=2)"
    assert answer["effect"]["files_removed_count"] == 5
    assert as_json("shop.visits", "--scenario", scenario, *REWRITE, *FEW)["effect"] == answer["effect"]


def test_plan_takes_a_catalog_that_only_sparks_configuration_has(as_json, table, folder):
    uri, prefix = f"jdbc:sqlite:{folder}/catalog.db", "spark.sql.catalog.lake"
    text = f'[spark]\n"{prefix}.type" = "jdbc"\n"{prefix}.uri" = "{uri}"\n"{prefix}.warehouse" = "file://{folder}"\n'
    scenario = write(folder, SOUND + text)
    assert as_json("shop.visits", "--scenario", scenario, *REWRITE)["table"]["data_files"] == 5


def test_plan_does_not_look_in_the_default_catalog_of_a_scenario(error, folder, monkeypatch):
    monkeypatch.setattr(pyiceberg.catalog, "_ENV_CONFIG", Config())
    scenario = write(folder, SOUND + '[catalog]\nname = "lake"\nproperties = { cache-enabled = true }\n')
    assert error("shop.visits", "--scenario", scenario, *REWRITE)[1] == "not-configured"


@pytest.mark.parametrize("kind", ["hadoop", "Hadoop"])
def test_plan_takes_the_catalog_of_a_scenario_on_hadoop(as_json, table, folder, kind):
    text = f'[catalog]\nnamespace = "shop"\nproperties = {{ type = "{kind}", warehouse = "{folder}" }}\n'
    scenario = write(folder, SOUND + text)
    assert as_json("visits", "--scenario", scenario, "--strategy", "never")["table"]["data_files"] == 5


def test_plan_takes_a_planner_of_the_users_own(as_json, standing_table):
    own = ["--strategy", "own_planners:Pair", "--option", "target=64MiB"]
    answer = as_json(standing_table.location(), *own)
    assert answer["plan"]["detail"] == "the first two"
    assert answer["plan"]["actions"] == ["rewrite(2 files in 1 group)"]
    assert (answer["effect"]["files_removed_count"], answer["effect"]["files_after"]) == (2, 4)


def test_plan_previews_a_plan_of_one_partition(as_json, standing_table):
    own = ["--strategy", "own_planners:OnePartition", "--option", "name=city=Rome"]
    answer = as_json(standing_table.location(), *own, "--option", "min_input_files='2'")
    assert answer["plan"]["actions"] == ["compact(city=Rome, min-input-files=2)"]
    (line,) = answer["effect"]["partitions"]
    assert (line["partition"], line["files_removed_count"]) == ("city=Rome", 2)
    short = as_json(standing_table.location(), *own, "--option", "min_input_files='3'")["shortfall"]
    counts = (short["files_count"], short["candidates_together_count"], short["thresholds"]["needed_count"])
    assert counts == (2, 2, 3)


def test_plan_reports_a_planner_that_fails_with_its_traceback(compactbench, standing_table):
    printed = compactbench("plan", standing_table.location(), "--strategy", "own_planners:Fails", code=2)
    assert printed.codes == ["plugin-failed"]
    trace = printed.err.splitlines()
    assert any(line.endswith("in decide") for line in trace)
    assert trace[-1] == "ZeroDivisionError: division by zero"


def test_plan_knows_sort_columns_by_their_whole_names_and_case(as_json, error, folder):
    properties = catalog_properties(folder)
    catalog = load_catalog("lake", **properties)
    catalog.create_namespace("shop")
    address = StructType(NestedField(3, "City", StringType()))
    schema = Schema(NestedField(1, "OrderId", LongType()), NestedField(2, "address", address))
    place = catalog.create_table("shop.orders", schema).location()
    sorting = [*REWRITE, "--option", "strategy=sort", "--option"]
    for order in ("OrderId DESC", "address.City", "zorder(OrderId)"):
        assert as_json(place, *sorting, f"sort_order={order}")["plan"]
    text, code = error(place, *sorting, "sort_order=orderid")
    assert "OrderId, address.City, address" in text
    assert code == "unsupported"


def test_plan_evaluates_a_planner_with_memory_as_if_new(as_json, standing_table):
    answer = as_json(standing_table.location(), "--strategy", "noting_planner:WhenSettled")
    assert answer["plan"] is None


def test_plan_of_never_changes_nothing(printed, as_json, standing_table):
    text = printed(standing_table.location(), "--strategy", "never")
    assert "Nothing would change: never() " in text
    assert "Cost" not in text
    answer = as_json(standing_table.location(), "--strategy", "never")
    assert (answer["plan"], answer["effect"], answer["cost"]) == (None, None, None)


def test_plan_prints_which_threshold_excludes_the_files(printed, as_json, standing_table):
    text = printed(standing_table.location(), *REWRITE, "--option", "options.target-file-size-bytes=128MiB")
    assert "Nothing would change: " in text
    assert all(part in text for part in ("5 of 5", "96 MiB", "230 MiB", "(min-input-files)", "128 MiB"))
    short = as_json(standing_table.location(), *REWRITE)["shortfall"]
    assert (short["candidates_together_count"], short["thresholds"]["needed_count"]) == (3, 5)


def test_no_file_qualifies_if_all_have_the_right_size(printed, standing_table):
    sizes = [file["file_size_in_bytes"] for file in standing_table.inspect.files().to_pylist()]
    limits = {"min": min(sizes) - 1, "max": max(sizes) + 1, "target": max(sizes)}
    options = [f"--option=options.{name}-file-size-bytes={size}" for name, size in limits.items()]
    text = printed(standing_table.location(), *REWRITE, *options)
    assert "change: 0 of" in text
    assert "in one partition" not in text


def test_plan_one_small_file_alone_is_not_enough(as_json, folder):
    table = make_table(folder, [{"Oslo": 1}])
    answer = as_json(table.location(), *REWRITE, "--option", "options.min-input-files=1")
    assert answer["effect"]["groups"] == 0
    assert answer["shortfall"]["thresholds"]["needed_count"] == 2


def test_plan_of_an_empty_table_changes_nothing(printed, as_json, folder):
    table = make_table(folder, [])
    text = printed(table.location(), *REWRITE)
    assert "table version none: " in text
    assert "Nothing would change: " in text
    assert as_json(table.location(), *REWRITE, "--option", "where=id = 1")["table"]["committed_at"] is None


def test_plan_reads_a_table_of_version_1_without_partitions(printed, folder):
    table = make_table(folder, COMMITS, NOT_PARTITIONED, **{"format-version": "1"})
    text = printed(table.location(), *REWRITE, *FEW)
    assert "format version 1 " in text
    assert "partitions not partitioned" in text
    assert "table) 1 3 1 " in text


def test_plan_takes_the_target_file_size_from_the_table(as_json, folder):
    table = make_table(folder, COMMITS, **{"write.target-file-size-bytes": "1000"})
    answer = as_json(table.location(), *REWRITE)
    assert answer["table"]["target_file_size_bytes"] == 1000
    assert answer["table"]["file_sizes"][-2]["below_bytes"] == 1800


def test_plan_reads_files_of_an_older_partition_spec(as_json, printed, folder):
    table = make_table(folder, COMMITS, NOT_PARTITIONED)
    with table.update_spec() as update:
        update.add_identity("city")
    answer = as_json(table.location(), *REWRITE, *FEW)
    assert answer["table"]["partition_spec"] == "city"
    assert answer["effect"]["files_out_exact"] is False
    assert "into about 1 file: " in printed(table.location(), *REWRITE, *FEW)


def test_plan_counts_files_of_older_partition_specs_as_together(as_json, folder):
    table = make_table(folder, COMMITS)
    with table.update_spec() as update:
        update.remove_field("city")
    short = as_json(table.location(), *REWRITE, "--option=options.min-input-files=6")["shortfall"]
    assert (short["candidates_count"], short["candidates_together_count"]) == (5, 5)


def test_plan_narrows_to_the_files_a_filter_may_match(as_json, standing_table):
    answer = as_json(standing_table.location(), *REWRITE, *FEW, "--option", "where=CITY = 'Oslo'")
    assert answer["plan"]["actions"][0].startswith(
        "iceberg.rewrite_data_files(strategy=binpack, where=CITY = 'Oslo'"
    )
    assert [line["partition"] for line in answer["effect"]["partitions"]] == ["city=Oslo"]
    assert (answer["effect"]["files_removed_count"], answer["effect"]["files_after"]) == (3, 3)
    for where, files_count in (("id > 4", 1), ("id > 400", 0)):
        answer = as_json(standing_table.location(), *REWRITE, *FEW, "--option", f"where={where}")
        assert (answer["effect"]["groups"], answer["shortfall"]["files_count"]) == (0, files_count)


def test_plan_reads_a_branch(as_json, error, table):
    table.manage_snapshots().create_branch(table.metadata.snapshots[0].snapshot_id, "audit").commit()
    place = table.metadata_location
    assert as_json(place, *REWRITE, "--branch", "audit")["table"]["data_files"] == 2
    assert as_json(place, *REWRITE, "--branch", "main")["table"]["data_files"] == 5
    answer = as_json(place, *REWRITE, *FEW, "--branch", "audit", "--option", "branch=audit")
    assert answer["table"]["data_files"] == 2
    text, code = error(place, *REWRITE, "--branch", "odit")
    assert text.endswith("audit, main")
    assert code == "unknown-name"
    assert error(place, *REWRITE, "--option", "branch=audit")[1] == "mismatch"


def test_plan_counts_the_age_of_a_table_from_its_oldest_snapshot(as_json, standing_table):
    expiry = ["--strategy", "iceberg.expire_snapshots", "--option", "retain=365d"]
    assert as_json(standing_table.location(), *expiry)["plan"] is None


NARROW = ["--strategy", "own_planners:Narrow", "--option"]


@pytest.mark.parametrize(
    ("words", "part", "code"),
    [
        (["--strategy", "nope"], '--strategy "nope": ', "unknown-name"),
        (["--strategy", "iceberg.rewrite_data_file"], '"iceberg.rewrite_data_files"', "unknown-name"),
        (["--strategy", "no.such:Thing"], "no.such:Thing cannot be imported", "not-importable"),
        (["--strategy", "own_planners:Invents"], "nowhere", "bad-plan"),
        (["--strategy", "iceberg.rewrite_manifests"], "rewrite_manifests(use_cach", "not-predictable"),
        ([*NARROW, "trait=version"], "", "wrong-version"),
        ([*NARROW, "trait=columns"], "", "unsupported"),
        ([*NARROW, "trait=needs"], "", "unsupported"),
        ([*REWRITE, "--option", "min-input-files=2"], "min-input-files = 2: ", "unknown-name"),
        ([*REWRITE, "--option", "options.min-input-file=2"], "'min-input-file' ", "invalid"),
        ([*REWRITE, "--option", "options.target-file-size-bytes=64XB"], "64XB", "invalid"),
        ([*REWRITE, "--option", "options"], "--option: options is not", "not-a-setting"),
        ([*REWRITE, "--option", "options.password Zq7-opt"], "options.password is not", "not-a-setting"),
        (
            [*REWRITE, "--strategy", "never", "--option", "options.password Zq7-opt"],
            "--option options.password ", "exclusive",
        ),
        ([*REWRITE, "--option", "type=never"], "--option type=never: ", "set-elsewhere"),
        ([*REWRITE, "--option", "options.delete-ratio-threshold=2"], "threshold=2.0 must", "invalid"),
        ([*REWRITE, "--option", "where=length(city) > 2"], "where: ", "unsupported"),
        ([*REWRITE, "--option", "where=nowhere = 1"], "where: ", "unsupported"),
        ([*REWRITE, "--option", "where=id ="], "where: ", "unsupported"),
    ],
)  # fmt: skip
def test_plan_refuses_what_no_planner_takes(error, standing_table, words, part, code):
    text, printed_code = error(standing_table.location(), *words)
    assert part in text
    assert printed_code == code
    assert "Zq7" not in text


def test_plan_reads_a_table_as_one_of_the_format_that_is_named(as_json, error, standing_table):
    place = standing_table.location()
    assert as_json(place, *REWRITE, "--table-format", "iceberg") == as_json(place, *REWRITE)
    assert error(place, *REWRITE, "--table-format", "hudi")[1] == "not-a-table"


def test_plan_names_the_strategies_of_a_scenario(error, table, folder):
    scenario = ["--scenario", write(folder)]
    text, code = error(table.location(), *scenario, "--strategy", "evry-2min")
    assert text.endswith(": never, every-2min")
    assert code == "unknown-name"
    assert error(table.location(), *scenario, "--strategy", "every-2min", *FEW)[1] == "exclusive"


def test_strategies_on_different_catalogs_are_not_put_side_by_side(error, folder):
    variant = (
        '[[variants]]\nlabel = "other"\nset = { spark = { "spark.sql.catalog.lake.uri" = "http://b" } }\n'
    )
    lake = '[catalog.properties]\ntype = "rest"\nuri = "http://a"\n'
    scenario = write(folder, f"{SOUND}{lake}{variant}")
    both = ["--strategy", "every-2min", "--strategy", "every-2min @ other"]
    assert error("db.t", "--scenario", scenario, *both)[1] == "exclusive"


def test_a_strategy_of_a_variant_is_named_as_in_results(as_json, table, folder):
    variant = '[[variants]]\nlabel = "v3"\nset = { table = { format_version = 3 } }\n'
    scenario = write(folder, SOUND + variant)
    as_it_is, within = (
        as_json(table.location(), "--scenario", scenario, "--strategy", f"every-2min{suffix}")
        for suffix in ("", " @ v3")
    )
    assert within["planners"] == as_it_is["planners"]


def test_plan_refuses_a_table_that_is_not_there(error, table, folder):
    lake = in_catalog(folder)
    for name in ("shop.visit", "market.visits", "visits"):
        text, code = error(name, *lake, *REWRITE)
        assert text.startswith(f"{name}: ")
        assert text.endswith("nearest: shop.visits")
        assert code == "unknown-name"


def test_plan_refuses_a_catalog_that_contains_no_tables(error, folder):
    load_catalog("lake", **catalog_properties(folder))
    assert error("shop.visits", *in_catalog(folder), *REWRITE)[1] == "unknown-name"


def test_plan_refuses_a_catalog_nobody_configured(error, monkeypatch):
    monkeypatch.setattr(pyiceberg.catalog, "_ENV_CONFIG", Config())
    text, code = error("shop.visits", "--catalog", "my-prod", *REWRITE)
    assert "PYICEBERG_CATALOG__MY_PROD__URI" in text
    assert code == error("shop.visits", *REWRITE)[1] == "not-configured"


@pytest.fixture
def rest_server():
    """Starts a REST catalog that answers any request for a table with `answer`."""
    servers = []

    def start(answer):
        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *arguments):
                pass

            def do_GET(self):
                body = json.dumps({"defaults": {}, "overrides": {}} if "config" in self.path else answer)
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body.encode())

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return "--catalog-property=type=rest", f"--catalog-property=uri=http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_plan_does_not_show_what_a_catalog_has_vended(error, rest_server):
    vended = {"s3.secret-access-key": "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"}
    lake = rest_server({"metadata-location": "s3://bucket/v1.metadata.json", "config": vended})
    text, _ = error("shop.visits", *lake, *REWRITE)
    assert "metadata: Field required" in text
    assert "EXAMPLEKEY" not in text


@pytest.mark.parametrize(
    ("pair", "part"),
    [
        ("uri=http://127.0.0.1:1/", "ConnectionError"),
        ("type=nonsense", "'nonsense' is not"),
        ("warehouse=/tmp", "URI missing"),
        ("type", "--catalog-property: "),
        ("type=hadoop", "--catalog-property warehouse="),
        ("type=glue", "pip install 'pyiceberg[glue]'"),
    ],
)
def test_plan_refuses_properties_of_a_catalog_that_cannot_be_opened(error, pair, part):
    assert part in error("shop.visits", f"--catalog-property={pair}", *REWRITE)[0]


@pytest.mark.parametrize(
    "properties", ['catalog-impl = "org.apache.Some"', 'type = "jdbc", uri = "jdbc:postgresql://db/x"']
)
def test_plan_refuses_a_catalog_of_a_scenario_that_only_spark_knows(error, folder, properties):
    scenario = write(folder, f"{SOUND}\n[catalog]\nproperties = {{ {properties} }}\n")
    assert error("visits", "--scenario", scenario, *REWRITE)[1] == "unsupported"


@pytest.mark.parametrize(
    ("properties", "part"),
    [
        (["uri=ftp://me:hunter2@host/x", "s3.secret-access-key=abcdefg"], "ftp://(hidden)@host"),
        (["hunter2"], ""),
        *(
            (["type=hunter2", secret], "'(hidden)' is not")
            for secret in ("token=hunter2", "adls.account-key=hunter2", "adls.connection-string=hunter2")
        ),
    ],
)
def test_plan_never_prints_a_secret(compactbench, properties, part):
    options = [f"--catalog-property={setting}" for setting in properties]
    printed = compactbench("plan", "a.b", *REWRITE, *options, code=2)
    assert "hunter2" not in printed.out + printed.err
    assert "abcdefg" not in printed.out + printed.err
    assert part in printed.err


def test_plan_takes_secrets_of_the_catalog_from_the_environment(error, monkeypatch):
    properties = []

    def refuse(address):
        properties.append(address.properties)
        raise ScenarioError("no catalog knows token-7f31", code="test")

    monkeypatch.setattr(
        "bench.cli.commands.plan.existing_tables", lambda *_: (None, SimpleNamespace(open=refuse))
    )
    monkeypatch.setenv("LAKE_TOKEN", "token-7f31")
    pairs = ("token=env:LAKE_TOKEN", "credential=me:env:LAKE_TOKEN")
    options = [word for pair in pairs for word in ("--catalog-property", pair)]
    assert error("a.b", *REWRITE, *options) == ("no catalog knows (hidden)", "test")
    assert properties == [{"token": "token-7f31", "credential": "me:token-7f31"}]


@pytest.mark.parametrize(
    ("pair", "code"), [("token=env:NO_SUCH", "variable-unset"), ("uri=env:HOME", "not-a-secret")]
)
def test_plan_refuses_what_is_no_variable_of_a_secret(error, pair, code):
    text, printed_code = error("a.b", *REWRITE, "--catalog-property", pair)
    assert text.startswith(f"--catalog-property: {pair.partition('=')[0]} = ")
    assert printed_code == code


def test_plan_refuses_a_folder_that_is_no_table(error, tmp_path):
    assert error(tmp_path, *REWRITE)[1] == "not-a-table"


def test_plan_refuses_a_path_at_which_there_is_nothing(error, tmp_path):
    file = tmp_path / "v1.metadata.json"
    assert error(file, *REWRITE)[0].startswith(f"{file}: does not exist")


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"format-version": 2}', b'{"format-version": 9}'])
def test_plan_refuses_damaged_table_metadata(error, tmp_path, content):
    file = tmp_path / "v1.metadata.json"
    file.write_bytes(content)
    assert error(file, *REWRITE)[0].startswith(f"{file}: is no valid metadata file of Iceberg: name an")


def test_plan_refuses_table_metadata_that_is_no_text(error, tmp_path):
    file = tmp_path / "v1.metadata.json"
    file.write_bytes(b"\xff\x00")
    assert error(file, *REWRITE)[0].startswith(f"{file}: cannot be read: ")


@pytest.mark.parametrize("suffix", ["-m0.avro", ".avro"])
@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "end cut", "noise", "too long"])
def test_plan_refuses_damaged_manifests(error, table, suffix, damage):
    prefix = "snap-" if suffix == ".avro" else ""
    manifests = Path(local_path(table), "metadata").glob(f"{prefix}*{suffix}")
    files = [file for file in manifests if file.name.startswith("snap-") == bool(prefix)]
    assert files
    for file in files:
        whole = file.read_bytes()
        mark = whole[-16:]  # after the header, and after each block
        contents = {
            "empty": b"",
            "cut": whole[: len(whole) // 2],
            "end cut": whole[:-24],  # the mark and the last 8 bytes
            "noise": b"x" * 500,
            "too long": whole.replace(mark, mark + b"\x02\x80\x80\x80\x80\x08", 1),  # a record of 1 GiB
        }
        file.unlink()
        if damage != "missing":
            file.write_bytes(contents[damage])
    text, code = error(table.location(), *REWRITE)
    if damage == "missing":
        assert (text.startswith(f"{table.location()}: "), code) == (True, "unreadable")
    else:
        assert (text.split(": ")[0].removeprefix("file://") in map(str, files), code) == (True, "damaged")


def test_noise_in_a_manifest_list_is_named_and_does_not_end_the_process(error, table):
    """One in ten of these headers makes PyIceberg's decoder end the process."""
    (file,) = Path(local_path(table), "metadata").glob(f"snap-{table.current_snapshot().snapshot_id}-*.avro")
    whole = file.read_bytes()
    for seed in range(40):
        file.write_bytes(whole[:4] + random.Random(seed).randbytes(396) + whole[400:])
        text, code = error(table.location(), *REWRITE)
        assert (text.split(": ")[0].removeprefix("file://"), code) == (str(file), "damaged")


def test_plan_refuses_a_table_that_lists_a_file_twice(error, table):
    path = table.inspect.files().to_pylist()[0]["file_path"]
    table.add_files([path], check_duplicate_files=False)
    assert path in error(table.metadata_location, *REWRITE)[0]


def test_plan_refuses_a_target_file_size_that_is_no_number(error, folder):
    table = make_table(folder, [], **{"write.target-file-size-bytes": "NaN"})
    assert "write.target-file-size-bytes = 'NaN'" in error(table.location(), *REWRITE)[0]


def test_plan_takes_texts_of_a_table_as_they_are(printed, folder):
    table = make_table(folder, [{"[bold]%/x": 1, "null": 1}] * 2, BY_CITY)
    text = printed(table.location(), *REWRITE, *FEW)
    assert "city=[bold]%25%2Fx 1 2 1" in text
    assert "city=%6Eull 1 2 1" in text
