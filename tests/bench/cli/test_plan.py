import http.server
import json
import os
import re
import shutil
import sqlite3
import sys
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

from bench.cli.main import main
from bench.errors import ScenarioError

REWRITE = ["--strategy", "iceberg.rewrite_data_files"]
FEW = ["--option", "options.min-input-files=2"]
COMMITS = [{"Oslo": 4, "Rome": 2}, {"Oslo": 3, "Rome": 2}, {"Oslo": 2}]


@pytest.fixture
def folder(tmp_path):
    """Where the catalog and its tables are."""
    made = tmp_path / "lake"
    made.mkdir()
    return made


@pytest.fixture
def table(folder):
    """Five files, three of Oslo and two of Rome."""
    return make_table(folder, COMMITS)


@pytest.fixture(scope="module")
def standing_table(tmp_path_factory):
    """The same, made once: for tests that change nothing and need no catalog."""
    return make_table(tmp_path_factory.mktemp("standing"), COMMITS)


def in_catalog(folder):
    pairs = (f"{key}={value}" for key, value in catalog_properties(folder).items())
    return ["--catalog", "lake", *(word for pair in pairs for word in ("--catalog-property", pair))]


def local_path(table):
    return table.location().removeprefix("file://")


@pytest.fixture
def told(capsys):
    """What `compactbench plan ARGUMENTS --format json` says; it must succeed."""

    def run(*arguments):
        assert main(["plan", *map(str, arguments), "--format", "json"]) == 0
        captured = capsys.readouterr()
        assert captured.err == ""
        return json.loads(captured.out)

    return run


@pytest.fixture
def printed(capsys):
    """The same as a table, blanks squeezed."""

    def run(*arguments):
        assert main(["plan", *map(str, arguments)]) == 0
        captured = capsys.readouterr()
        assert captured.err == ""
        return " ".join(captured.out.split())

    return run


@pytest.fixture
def error(capsys):
    """The one line a refusal prints."""

    def run(*arguments):
        assert main(["plan", *map(str, arguments)]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        (line,) = captured.err.splitlines()
        return re.sub(r" \[[a-z-]+\]$", "", line.removeprefix("error: "))

    return run


def test_plan_tells_table_groups_and_result_by_catalog_property(printed, table, folder):
    text = printed("shop.visits", *in_catalog(folder), *REWRITE, *FEW)
    assert f"location {table.location()}" in text
    assert f"table version {table.current_snapshot().snapshot_id}, committed 20" in text
    assert "data files 5 files, " in text
    assert ", 13 rows" in text
    assert "delete files none" in text
    assert "partitions 2 by city" in text
    assert "size 512 MiB" in text
    assert "below 5.12 MiB 5 " in text
    assert "iceberg.rewrite_data_files(min-input-files=2) plans" in text
    assert all(part in text for part in ("rewrite 5 data files", "in 2 groups into 2 files", "to 2."))
    assert "city=Oslo 1 3 1 " in text
    assert text.index("city=Oslo") < text.index("city=Rome")
    assert "Cost: about " in text
    assert " of CPU (rough, uncalibrated)." in text
    assert text.endswith("Nothing was written.")


def test_plan_gives_the_same_to_programs(told, table, folder):
    found = told("shop.visits", *in_catalog(folder), *REWRITE, *FEW)
    files = sorted(table.inspect.files().to_pylist(), key=lambda file: file["file_path"])
    size = sum(file["file_size_in_bytes"] for file in files)
    facts, effect = found["table"], found["effect"]
    assert facts["name"] == "shop.visits"
    assert facts["metadata"] == table.metadata_location
    assert facts["format_version"] == 2
    assert facts["version"] == str(table.current_snapshot().snapshot_id)
    assert facts["committed_at"].endswith("+00:00")
    assert (facts["data_files"], facts["data_bytes"], facts["rows"]) == (5, size, 13)
    assert (facts["partitions"], facts["partition_spec"]) == (2, "city")
    assert facts["target_file_size_bytes"] == 512 * 2**20
    assert [one["files"] for one in facts["file_sizes"]] == [5, 0, 0, 0, 0]
    assert sum(one["bytes"] for one in facts["file_sizes"]) == size
    assert found["strategy"] == "iceberg.rewrite_data_files"
    assert found["plan"]["reason"] == "scheduled"
    assert found["plan"]["actions"] == ["iceberg.rewrite_data_files(strategy=binpack, min-input-files=2)"]
    assert (effect["groups"], effect["files_removed_count"], effect["files_added_count"]) == (2, 5, 2)
    assert (effect["files_before"], effect["files_after"], effect["read_data_bytes"]) == (5, 2, size)
    assert effect["replaced_bytes"] == size
    assert (effect["files_out_exact"], effect["deletes_exact"]) == (True, True)
    assert [(line["partition"], line["files_removed_count"]) for line in effect["partitions"]] == [
        ("city=Oslo", 3), ("city=Rome", 2),
    ]  # fmt: skip
    assert "files" not in effect["groups_in_order"][0]
    assert found["cost"]["cpu_s"] > 0
    assert found["nothing_because"] is None


def test_plan_lists_the_files_when_asked(told, printed, standing_table):
    paths = {file["file_path"] for file in standing_table.inspect.files().to_pylist()}
    effect = told(standing_table.location(), *REWRITE, *FEW, "--files")["effect"]
    assert {file["path"] for group in effect["groups_in_order"] for file in group["files"]} == paths
    text = printed(standing_table.location(), *REWRITE, *FEW, "--files")
    assert all(path in text for path in paths)


def test_plan_cuts_long_lists_short(printed, told, folder, monkeypatch):
    table = make_table(folder, [{f"city{n:02}": 1 for n in range(22)}] * 2)
    monkeypatch.setattr("bench.cli.plan_output.FILES_SHOWN", 3)
    text = printed(table.location(), *REWRITE, *FEW, "--files")
    assert text.count("city=city") + text.count("(whole table)") == 20 + 3
    assert "and 2 more partitions" in text
    assert "and 41 more files" in text
    effect = told(table.location(), *REWRITE, *FEW, "--files")["effect"]
    assert len(effect["partitions"]) == 22
    assert sum(len(group["files"]) for group in effect["groups_in_order"]) == 44


def test_plan_finds_a_table_by_folder_uri_and_metadata_file(told, standing_table):
    for place in (
        local_path(standing_table),
        f"{local_path(standing_table)}/",
        standing_table.location(),
        standing_table.metadata_location,
    ):
        found = told(place, *REWRITE)
        assert found["table"]["data_files"] == 5
        assert found["table"]["version"] == str(standing_table.current_snapshot().snapshot_id)


def test_plan_reads_an_older_state_by_its_metadata_file(told, table):
    older = table.metadata.metadata_log[2].metadata_file
    assert told(older, *REWRITE)["table"]["data_files"] == 4


@pytest.mark.parametrize("branch", [(), ("--branch", "main")])
def test_a_head_that_metadata_does_not_list_is_damage_and_no_empty_table(
    error, standing_table, tmp_path, branch
):
    metadata = json.loads(Path(standing_table.metadata_location.removeprefix("file://")).read_text())
    head = metadata["current-snapshot-id"]
    damaged = tmp_path / "v1.metadata.json"
    damaged.write_text(json.dumps(metadata | {"snapshots": metadata["snapshots"][:-1]}))
    text = error(damaged, *REWRITE, *branch)
    assert f"snapshot {head}" in text


def test_several_strategies_stand_side_by_side(told, printed, error, standing_table, tmp_path):
    often = '{ type = "iceberg.rewrite_data_files", options = { min-input-files = 2 } }'
    rule = f'rules = [{{ trigger = {{ type = "every", interval = "1min" }}, planner = {often} }}]'
    scenario = write(tmp_path, f'{SOUND}[[strategies]]\nlabel = "often"\n{rule}\n')
    both = [
        standing_table.location(),
        "--scenario",
        scenario,
        "--strategy",
        "every-2min",
        "--strategy",
        "often",
    ]
    found = told(*both)
    assert found["table"]["data_files"] == 5
    assert [answer["strategy"] for answer in found["strategies"]] == ["every-2min", "often"]
    assert found["strategies"][0]["nothing_because"]
    assert found["strategies"][1] == {
        key: value for key, value in told(*both[:3], "--strategy", "often").items() if key != "table"
    }
    text = printed(*both)
    assert "every-2min 0 0 0 B" in text
    assert " often 5 2 " in text
    assert "goes with one --strategy" in error(*both, *FEW)


def as_hadoop(table, versions, hint):
    """The table's folder as a Hadoop catalog leaves it: v1, v2, ... and a hint."""
    metadata = Path(local_path(table)) / "metadata"
    log = [Path(entry.metadata_file.removeprefix("file://")) for entry in table.metadata.metadata_log]
    log.append(Path(table.metadata_location.removeprefix("file://")))
    for version, index in versions.items():
        made = shutil.copy(log[index], metadata / f"v{version}.metadata.json")
        os.utime(made, (1000 - version, 1000 - version))  # copied backwards, say
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
def test_plan_finds_the_newest_metadata_of_a_folder(told, table, versions, hint, files):
    found = told(as_hadoop(table, versions, hint), *REWRITE)
    assert found["table"]["data_files"] == files


def test_plan_takes_the_youngest_of_one_version(told, table, tmp_path):
    newest = Path(table.metadata_location.removeprefix("file://"))
    orphan = newest.with_name("00003-orphan.metadata.json")
    older = Path(table.metadata.metadata_log[1].metadata_file.removeprefix("file://"))
    shutil.copy(older, orphan)
    os.utime(orphan, (1, 1))
    assert told(local_path(table), *REWRITE)["table"]["data_files"] == 5


def test_plan_tells_of_groups_a_limit_leaves(printed, told, standing_table):
    limit = [*FEW, "--option", "options.max-files-to-rewrite=3"]
    text = printed(standing_table.location(), *REWRITE, *limit)
    assert "in 1 group into 1 file" in text
    assert "excludes 1 more group" in text
    effect = told(standing_table.location(), *REWRITE, *limit)["effect"]
    assert (effect["groups"], effect["planned_groups"]) == (1, 2)


def test_plan_writes_nothing(told, table, folder):
    before = sorted((str(file), file.stat().st_mtime_ns) for file in folder.rglob("*"))
    told("shop.visits", *in_catalog(folder), *REWRITE, *FEW)
    told(table.location(), *REWRITE, *FEW)
    assert sorted((str(file), file.stat().st_mtime_ns) for file in folder.rglob("*")) == before


def test_plan_makes_no_tables_in_a_database(error, tmp_path):
    database = tmp_path / "other.db"
    sqlite3.connect(database).close()
    error("shop.visits", "--catalog-property", f"uri=sqlite:///{database}", *REWRITE)
    assert sqlite3.connect(database).execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)


def test_plan_makes_no_database(error, tmp_path):
    told = error("shop.visits", "--catalog-property", f"uri=sqlite:///{tmp_path}/gone.db", *REWRITE)
    assert "/gone.db: no such file" in told
    assert list(tmp_path.iterdir()) == []


def test_plan_opens_no_data_file(told, table):
    for file in Path(local_path(table)).rglob("*.parquet"):
        file.unlink()
    assert told(table.location(), *REWRITE, *FEW)["effect"]["files_removed_count"] == 5


def test_plan_takes_a_catalog_of_pyiceberg_configuration(told, table, folder, monkeypatch):
    for key, value in catalog_properties(folder).items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__LAKE__{key.upper()}", value)
    monkeypatch.setattr(pyiceberg.catalog, "_ENV_CONFIG", Config())
    assert told("shop.visits", "--catalog", "lake", *REWRITE)["table"]["data_files"] == 5


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


def test_plan_asks_a_strategy_of_a_scenario_in_the_scenarios_catalog(told, table, folder):
    scenario = write(folder, SOUND + TWO_RULES + CATALOG.format(folder=folder))
    found = told("visits", "--scenario", scenario, "--strategy", "careful")
    assert found["strategy"] == "careful"
    assert found["planners"] == ["never()", "iceberg.rewrite_data_files(min-input-files=2)"]
    assert found["plan"]["planner"] == "iceberg.rewrite_data_files(min-input-files=2)"
    assert found["effect"]["files_removed_count"] == 5


def test_plan_takes_a_catalog_that_only_sparks_configuration_has(told, table, folder):
    uri, prefix = f"jdbc:sqlite:{folder}/catalog.db", "spark.sql.catalog.lake"
    text = f'[spark]\n"{prefix}.type" = "jdbc"\n"{prefix}.uri" = "{uri}"\n"{prefix}.warehouse" = "file://{folder}"\n'
    scenario = write(folder, SOUND + text)
    assert told("shop.visits", "--scenario", scenario, *REWRITE, *FEW)["effect"]["files_removed_count"] == 5


def test_plan_does_not_look_in_the_default_catalog_of_a_scenario(error, folder, monkeypatch):
    monkeypatch.setattr(pyiceberg.catalog, "_ENV_CONFIG", Config())
    scenario = write(folder, SOUND + '[catalog]\nname = "lake"\nproperties = { cache-enabled = true }\n')
    told = error("shop.visits", "--scenario", scenario, *REWRITE)
    assert told.startswith("the default catalog is not")


def test_plan_takes_a_planner_beside_a_scenario(told, table, folder):
    scenario = write(folder, SOUND + CATALOG.format(folder=folder))
    assert told("shop.visits", "--scenario", scenario, *REWRITE, *FEW)["effect"]["files_removed_count"] == 5


@pytest.mark.parametrize("kind", ["hadoop", "Hadoop"])
def test_plan_takes_the_catalog_of_a_scenario_on_hadoop(told, table, folder, kind):
    text = f'[catalog]\nnamespace = "shop"\nproperties = {{ type = "{kind}", warehouse = "{folder}" }}\n'
    scenario = write(folder, SOUND + text)
    assert told("visits", "--scenario", scenario, "--strategy", "never")["table"]["data_files"] == 5


def test_plan_takes_a_planner_of_the_users_own(told, table, tmp_path, monkeypatch):
    (tmp_path / "largest_first.py").write_text("""
from dataclasses import dataclass
from strategies.plan import FileGroup, Plan, Reason, Rewrite
@dataclass(frozen=True)
class Pair:
    target_bytes: int
    broken: bool = False
    def decide(self, state):
        files = sorted((f for f in state.data_files if f.partition == "city=Oslo"), key=lambda f: f.path)[:2]
        group = FileGroup(tuple(f.path for f in files), "city=Rome" if self.broken else "city=Oslo")
        return Plan((Rewrite((group,), self.target_bytes),), Reason.OTHER, "the first two")
""")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    own = ["--strategy", "largest_first:Pair", "--option", "target=64MiB"]
    found = told(table.location(), *own)
    assert found["plan"]["detail"] == "the first two"
    assert found["plan"]["actions"] == ["rewrite(2 files in 1 group)"]
    assert (found["effect"]["files_removed_count"], found["effect"]["files_after"]) == (2, 4)


def test_plan_tells_a_scoped_plan(told, table, tmp_path, monkeypatch):
    (tmp_path / "scoped.py").write_text("""
from dataclasses import dataclass
from strategies.plan import Compact, Plan, Reason
@dataclass(frozen=True)
class Partition:
    name: str
    min_input_files: str
    def decide(self, state):
        return Plan((Compact((self.name,), {"min-input-files": self.min_input_files}),), Reason.OTHER)
""")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    own = ["--strategy", "scoped:Partition", "--option", "name=city=Rome"]
    found = told(table.location(), *own, "--option", "min_input_files='2'")
    assert found["plan"]["actions"] == ["compact(city=Rome, min-input-files=2)"]
    assert [(line["partition"], line["files_removed_count"]) for line in found["effect"]["partitions"]] == [
        ("city=Rome", 2)
    ]
    short = told(table.location(), *own, "--option", "min_input_files='3'")["shortfall"]
    assert (
        short["files_count"],
        short["candidates_together_count"],
        short["thresholds"]["needed_count"],
    ) == (2, 2, 3)


def test_plan_tells_a_planner_that_breaks_its_contract(error, capsys, table, tmp_path, monkeypatch):
    (tmp_path / "wrong.py").write_text("""
from dataclasses import dataclass
from strategies.plan import FileGroup, Plan, Reason, Rewrite
@dataclass(frozen=True)
class Invents:
    def decide(self, state):
        return Plan((Rewrite((FileGroup(("nowhere",)),), 1),), Reason.OTHER)
@dataclass(frozen=True)
class Fails:
    def decide(self, state):
        return 1 / 0
""")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    told = error(table.location(), "--strategy", "wrong:Invents")
    assert "wrong:Invents(): invalid plan: nowhere " in told
    assert main(["plan", table.location(), "--strategy", "wrong:Fails"]) == 2
    first, *trace = capsys.readouterr().err.splitlines()
    assert first == "error: wrong:Fails(): the planner failed [plugin-failed]"
    assert any(line.endswith("in decide") for line in trace)
    assert trace[-1] == "ZeroDivisionError: division by zero"


@pytest.mark.parametrize(
    ("trait", "text"),
    [
        ("max_format_version=1", "supports tables up to"),
        ("columns=('zz',)", "names zz, "),
        ("needs=frozenset({'nope'})", "needs nope, "),
    ],
)
def test_plan_refuses_a_planner_that_does_not_support_the_table(
    error, standing_table, tmp_path, monkeypatch, trait, text
):
    (tmp_path / "narrow.py").write_text(f"""
from dataclasses import dataclass
from strategies.planner import Planner, PlannerTraits
@dataclass(frozen=True)
class Narrow(Planner):
    def traits(self):
        return PlannerTraits({trait})
    def decide(self, state):
        return None
""")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "narrow", raising=False)
    assert f"narrow:Narrow(): {text}" in error(standing_table.location(), "--strategy", "narrow:Narrow")


def test_plan_knows_sort_columns_by_their_whole_names_and_case(told, error, folder):
    properties = catalog_properties(folder)
    catalog = load_catalog("lake", **properties)
    catalog.create_namespace("shop")
    address = StructType(NestedField(3, "City", StringType()))
    schema = Schema(NestedField(1, "OrderId", LongType()), NestedField(2, "address", address))
    place = catalog.create_table("shop.orders", schema).location()
    sorting = [*REWRITE, "--option", "strategy=sort", "--option"]
    for order in ("OrderId DESC", "address.City", "zorder(OrderId)"):
        assert told(place, *sorting, f"sort_order={order}")["plan"]
    refused = error(place, *sorting, "sort_order=orderid")
    assert "names orderid, " in refused
    assert "OrderId, address.City, address" in refused


def test_plan_asks_a_planner_that_remembers_without_a_past(told, standing_table):
    found = told(standing_table.location(), "--strategy", "noting_planner:WhenSettled")
    assert found["plan"] is None


def test_plan_says_that_never_does_nothing(printed, told, standing_table):
    text = printed(standing_table.location(), "--strategy", "never")
    assert "Nothing would change: never() " in text
    assert "Cost" not in text
    found = told(standing_table.location(), "--strategy", "never")
    assert (found["plan"], found["effect"], found["cost"]) == (None, None, None)


def test_plan_says_which_threshold_kept_the_files_out(printed, told, standing_table):
    text = printed(standing_table.location(), *REWRITE, "--option", "options.target-file-size-bytes=128MiB")
    assert "Nothing would change: " in text
    assert all(part in text for part in ("5 of 5", "96 MiB", "230 MiB", "(min-input-files)", "128 MiB"))
    short = told(standing_table.location(), *REWRITE)["shortfall"]
    assert (short["candidates_together_count"], short["thresholds"]["needed_count"]) == (3, 5)


def test_plan_says_that_all_files_have_the_right_size(printed, standing_table):
    sizes = [file["file_size_in_bytes"] for file in standing_table.inspect.files().to_pylist()]
    options = {"min": min(sizes) - 1, "target": max(sizes), "max": max(sizes) + 1}
    given = [
        f"--option=options.{name}-file-size-bytes={size}"
        for name, size in options.items()
        if name != "target"
    ]
    text = printed(
        standing_table.location(), *REWRITE, *given, f"--option=options.target-file-size-bytes={max(sizes)}"
    )
    assert "Nothing would change: 0 of" in text
    assert "in one partition" not in text


def test_plan_one_small_file_alone_is_not_enough(told, folder):
    table = make_table(folder, [{"Oslo": 1}])
    found = told(table.location(), *REWRITE, "--option", "options.min-input-files=1")
    assert found["effect"]["groups"] == 0
    assert found["shortfall"]["thresholds"]["needed_count"] == 2


def test_plan_tells_of_an_empty_table(printed, told, folder):
    table = make_table(folder, [])
    text = printed(table.location(), *REWRITE)
    assert "table version none: " in text
    assert "Nothing would change: " in text
    assert told(table.location(), *REWRITE, "--option", "where=id = 1")["table"]["committed_at"] is None


def test_plan_tells_of_a_table_without_partitions_of_version_1(printed, folder):
    table = make_table(folder, COMMITS, NOT_PARTITIONED, **{"format-version": "1"})
    text = printed(table.location(), *REWRITE, *FEW)
    assert "format version 1 " in text
    assert "partitions not partitioned" in text
    assert "(whole table) 1 3 1 " in text


def test_plan_takes_the_target_file_size_from_the_table(told, folder):
    table = make_table(folder, COMMITS, **{"write.target-file-size-bytes": "1000"})
    found = told(table.location(), *REWRITE)
    assert found["table"]["target_file_size_bytes"] == 1000
    assert found["table"]["file_sizes"][-2]["below_bytes"] == 1800


def test_plan_reads_files_of_an_older_partition_spec(told, printed, folder):
    table = make_table(folder, COMMITS, NOT_PARTITIONED)
    with table.update_spec() as update:
        update.add_identity("city")
    found = told(table.location(), *REWRITE, *FEW)
    assert found["table"]["partition_spec"] == "city"
    assert found["effect"]["files_out_exact"] is False
    assert "into about 1 file: " in printed(table.location(), *REWRITE, *FEW)


def test_plan_counts_files_of_older_partition_specs_as_together(told, folder):
    table = make_table(folder, COMMITS)
    with table.update_spec() as update:
        update.remove_field("city")
    short = told(table.location(), *REWRITE, "--option=options.min-input-files=6")["shortfall"]
    assert (short["candidates_count"], short["candidates_together_count"]) == (5, 5)


def test_plan_narrows_to_the_files_a_filter_may_match(told, standing_table):
    found = told(standing_table.location(), *REWRITE, *FEW, "--option", "where=CITY = 'Oslo'")
    assert found["plan"]["actions"][0].startswith(
        "iceberg.rewrite_data_files(strategy=binpack, where=CITY = 'Oslo'"
    )
    assert [line["partition"] for line in found["effect"]["partitions"]] == ["city=Oslo"]
    assert (found["effect"]["files_removed_count"], found["effect"]["files_after"]) == (3, 3)
    one = told(standing_table.location(), *REWRITE, *FEW, "--option", "where=id > 4")
    assert (one["effect"]["groups"], one["shortfall"]["files_count"]) == (0, 1)
    none = told(standing_table.location(), *REWRITE, *FEW, "--option", "where=id > 400")
    assert (none["effect"]["groups"], none["shortfall"]["files_count"]) == (0, 0)


@pytest.mark.parametrize("where", ["length(city) > 2", "nowhere = 1", "id ="])
def test_plan_refuses_a_filter_it_cannot_read(error, standing_table, where):
    told = error(standing_table.location(), *REWRITE, "--option", f"where={where}")
    assert told.startswith("where: ")


def test_plan_looks_at_a_branch(told, error, table):
    table.manage_snapshots().create_branch(table.metadata.snapshots[0].snapshot_id, "audit").commit()
    place = table.metadata_location
    assert told(place, *REWRITE, "--branch", "audit")["table"]["data_files"] == 2
    assert told(place, *REWRITE, "--branch", "main")["table"]["data_files"] == 5
    found = told(place, *REWRITE, *FEW, "--branch", "audit", "--option", "branch=audit")
    assert found["table"]["data_files"] == 2
    assert error(place, *REWRITE, "--branch", "odit").endswith("known: audit, main")
    assert error(place, *REWRITE, "--option", "branch=audit").endswith("give --branch audit")


def test_plan_refuses_what_metadata_does_not_tell(error, standing_table):
    told = error(standing_table.location(), "--strategy", "iceberg.rewrite_manifests")
    assert told.startswith("iceberg.rewrite_manifests(use_caching=false): ")


def test_plan_counts_the_age_of_a_table_from_its_oldest_snapshot(told, standing_table):
    found = told(
        standing_table.location(), "--strategy", "iceberg.expire_snapshots", "--option", "retain=365d"
    )
    assert found["nothing_because"] == "iceberg.expire_snapshots(retain=365d) would do nothing"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--strategy", "nope"], '--strategy "nope": unknown planner; '),
        (["--strategy", "iceberg.rewrite_data_file"], 'did you mean "iceberg.rewrite_data_files"? '),
        (["--strategy", "no.such:Thing"], "no.such:Thing cannot be imported"),
        ([*REWRITE, "--option", "min-input-files=2"], "min-input-files = 2: unknown key"),
        (
            [*REWRITE, "--option", "options.min-input-file=2"],
            "'min-input-file' is not one of",
        ),
        ([*REWRITE, "--option", "options.target-file-size-bytes=64XB"], "64XB"),
        (
            [*REWRITE, "--option", "options"],
            "--option: options is not",
        ),
        (
            [*REWRITE, "--option", "options.password Zq7-opt"],
            "--option: options.password is not",
        ),
        (
            [*REWRITE, "--strategy", "never", "--option", "options.password Zq7-opt"],
            "--option options.password goes",
        ),
        (
            [*REWRITE, "--option", "type=never"],
            "--option type=never: ",
        ),
        (
            [*REWRITE, "--option", "options.delete-ratio-threshold=2"],
            "delete-ratio-threshold=2.0 must",
        ),
    ],
)
def test_plan_refuses_what_no_planner_takes(error, standing_table, arguments, told):
    text = error(standing_table.location(), *arguments)
    assert told in text
    assert "Zq7" not in text


def test_plan_reads_a_table_as_one_of_the_format_that_is_named(told, error, standing_table):
    place = standing_table.location()
    assert told(place, *REWRITE, "--table-format", "iceberg") == told(place, *REWRITE)
    assert "is not a Hudi table" in error(place, *REWRITE, "--table-format", "hudi")


def test_plan_names_the_strategies_of_a_scenario(error, table, folder):
    scenario = write(folder)
    assert error(table.location(), "--scenario", scenario, "--strategy", "evry-2min").endswith(
        ": never, every-2min"
    )
    refused = error(table.location(), "--scenario", scenario, "--strategy", "every-2min", *FEW)
    assert refused.startswith("--option options.min-input-files is")


def test_strategies_on_different_catalogs_are_not_put_side_by_side(error, folder):
    variant = (
        '[[variants]]\nlabel = "other"\nset = { spark = { "spark.sql.catalog.lake.uri" = "http://b" } }\n'
    )
    lake = '[catalog.properties]\ntype = "rest"\nuri = "http://a"\n'
    scenario = write(folder, f"{SOUND}{lake}{variant}")
    both = ["--strategy", "every-2min", "--strategy", "every-2min @ other"]
    assert "every-2min @ other: " in error("db.t", "--scenario", scenario, *both)


def test_a_strategy_of_a_variant_is_named_as_in_results(told, table, folder):
    variant = '[[variants]]\nlabel = "v3"\nset = { table = { format_version = 3 } }\n'
    scenario = write(folder, SOUND + variant)
    as_it_is, within = (
        told(table.location(), "--scenario", scenario, "--strategy", f"every-2min{suffix}")
        for suffix in ("", " @ v3")
    )
    assert within["planners"] == as_it_is["planners"]


def test_plan_refuses_a_table_that_is_not_there(error, table, folder):
    lake = in_catalog(folder)
    for name in ("shop.visit", "market.visits", "visits"):
        refused = error(name, *lake, *REWRITE)
        assert refused.startswith(f"{name}: ")
        assert refused.endswith("nearest: shop.visits")


def test_plan_refuses_a_catalog_that_holds_no_tables(error, folder):
    load_catalog("lake", **catalog_properties(folder))
    assert error("shop.visits", *in_catalog(folder), *REWRITE).endswith("--catalog")


def test_plan_refuses_a_catalog_nobody_configured(error, monkeypatch):
    monkeypatch.setattr(pyiceberg.catalog, "_ENV_CONFIG", Config())
    told = error("shop.visits", "--catalog", "my-prod", *REWRITE)
    assert told.startswith("--catalog my-prod is not")
    assert "PYICEBERG_CATALOG__MY_PROD__URI" in told
    assert error("shop.visits", *REWRITE).startswith("the default catalog is not")


def test_plan_refuses_a_catalog_that_cannot_be_reached(error):
    told = error("shop.visits", "--catalog-property", "uri=http://127.0.0.1:1/", *REWRITE)
    assert told.startswith("the default catalog: ")
    assert "ConnectionError" in told


@pytest.fixture
def rest_server():
    """Starts a REST catalog that answers any request for a table with `answer`, or with None never."""
    servers = []

    def start(answer):
        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *arguments):
                pass

            def do_GET(self):
                if "config" not in self.path and answer is None:
                    ended.wait()
                    return
                body = json.dumps({"defaults": {}, "overrides": {}} if "config" in self.path else answer)
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body.encode())

        ended = threading.Event()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append((server, ended))
        return (
            "--catalog-property",
            "type=rest",
            "--catalog-property",
            f"uri=http://127.0.0.1:{server.server_port}",
        )

    yield start
    for server, ended in servers:
        ended.set()
        server.shutdown()
        server.server_close()


def test_plan_does_not_show_what_a_catalog_has_vended(error, rest_server):
    vended = {"s3.secret-access-key": "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"}
    lake = rest_server({"metadata-location": "s3://bucket/v1.metadata.json", "config": vended})
    told = error("shop.visits", *lake, *REWRITE)
    assert "metadata: Field required" in told
    assert "EXAMPLEKEY" not in told


def test_plan_names_the_extra_a_catalog_needs(error):
    told = error("shop.visits", "--catalog-property", "type=glue", *REWRITE)
    assert "pip install 'pyiceberg[glue]'" in told


@pytest.mark.parametrize(
    ("properties", "told"),
    [
        (["type=nonsense"], "'nonsense' is not"),
        (["warehouse=/tmp"], "URI missing"),
        (["type"], "--catalog-property: "),
        (["type=hadoop"], "--catalog-property warehouse="),
    ],
)
def test_plan_refuses_properties_that_make_no_catalog(error, properties, told):
    given = [f"--catalog-property={pair}" for pair in properties]
    assert told in error("shop.visits", *given, *REWRITE)


@pytest.mark.parametrize(
    ("properties", "told"),
    [
        (
            {"catalog-impl": "org.apache.Some"},
            "catalog-impl: org.apache.Some ",
        ),
        ({"type": "jdbc", "uri": "jdbc:postgresql://db/x"}, "give --catalog-property type=sql"),
    ],
)
def test_plan_refuses_a_catalog_of_a_scenario_that_only_spark_knows(error, folder, properties, told):
    pairs = ", ".join(f'{key} = "{value}"' for key, value in properties.items())
    scenario = write(folder, f"{SOUND}\n[catalog]\nproperties = {{ {pairs} }}\n")
    assert told in error("visits", "--scenario", scenario, *REWRITE)


def test_plan_never_prints_a_secret(capsys):
    arguments = ["plan", "a.b", *REWRITE, "--catalog-property", "uri=ftp://me:hunter2@host/x"]
    assert main([*arguments, "--catalog-property", "s3.secret-access-key=abcdefg"]) == 2
    assert main(["plan", "a.b", *REWRITE, "--catalog-property", "hunter2"]) == 2
    secrets = ["token=hunter2", "adls.account-key=hunter2", "adls.connection-string=hunter2"]
    for secret in secrets:
        given = ["--catalog-property", "type=hunter2", "--catalog-property", secret]
        assert main(["plan", "a.b", *REWRITE, *given]) == 2
    shown = "".join(capsys.readouterr())
    assert "hunter2" not in shown
    assert "'(hidden)' is not" in shown
    assert "abcdefg" not in shown
    assert "ftp://(hidden)@host" in shown


def test_plan_takes_secrets_of_the_catalog_from_the_environment(error, monkeypatch):
    given = []

    def refuse(address):
        given.append(address.properties)
        raise ScenarioError("no catalog knows token-7f31", code="test")

    monkeypatch.setattr(
        "bench.cli.commands.plan.existing_tables", lambda *_: (None, SimpleNamespace(open=refuse))
    )
    monkeypatch.setenv("LAKE_TOKEN", "token-7f31")
    properties = [
        "--catalog-property",
        "token=env:LAKE_TOKEN",
        "--catalog-property",
        "credential=me:env:LAKE_TOKEN",
    ]
    assert error("a.b", *REWRITE, *properties) == "no catalog knows (hidden)"
    assert given == [{"token": "token-7f31", "credential": "me:token-7f31"}]


@pytest.mark.parametrize(
    ("pair", "told"),
    [
        ("token=env:NO_SUCH", "variable NO_SUCH is not"),
        ("uri=env:HOME", "only a secret"),
    ],
)
def test_plan_refuses_what_is_no_variable_of_a_secret(capsys, pair, told):
    assert main(["plan", "a.b", *REWRITE, "--catalog-property", pair]) == 2
    shown = capsys.readouterr().err
    assert f"--catalog-property: {pair.partition('=')[0]} = " in shown
    assert told in shown


def test_plan_refuses_a_folder_that_is_no_table(error, tmp_path):
    assert error(str(tmp_path), *REWRITE).startswith(
        f"{tmp_path}: not an Iceberg table: its metadata/ folder has no *.metadata.json; "
        "give the table's own folder, "
    )
    missing = tmp_path / "gone.metadata.json"
    assert error(missing, *REWRITE).startswith(f"{missing}: cannot be read: ")


@pytest.mark.parametrize("content", ["{", "[]", '{"format-version": 2}', '{"format-version": 9}', "\xff\x00"])
def test_plan_refuses_damaged_table_metadata(error, tmp_path, content):
    file = tmp_path / "v1.metadata.json"
    file.write_bytes(content.encode("latin-1"))
    assert error(file, *REWRITE).startswith(f"{file}: cannot be read: ")


@pytest.mark.parametrize("suffix", ["-m0.avro", ".avro"])
@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "noise"])
def test_plan_refuses_damaged_manifests(error, table, suffix, damage):
    prefix = "snap-" if suffix == ".avro" else ""
    found = Path(local_path(table), "metadata").glob(f"{prefix}*{suffix}")
    files = [file for file in found if file.name.startswith("snap-") == bool(prefix)]
    assert files
    for file in files:
        whole = file.read_bytes()
        file.unlink()
        if damage != "missing":
            file.write_bytes({"empty": b"", "cut": whole[: len(whole) // 2], "noise": b"x" * 500}[damage])
    told = error(table.location(), *REWRITE)
    assert told.startswith(f"{table.location()}: ")


def test_plan_refuses_a_table_that_lists_a_file_twice(error, table):
    path = table.inspect.files().to_pylist()[0]["file_path"]
    table.add_files([path], check_duplicate_files=False)
    assert "already in the table" in error(table.metadata_location, *REWRITE)


def test_plan_refuses_a_target_file_size_that_is_no_number(error, folder):
    table = make_table(folder, [], **{"write.target-file-size-bytes": "NaN"})
    told = error(table.location(), *REWRITE)
    assert "write.target-file-size-bytes = 'NaN'" in told


def test_plan_takes_texts_of_a_table_as_they_are(printed, folder):
    table = make_table(folder, [{"[bold]%/x": 1, "null": 1}] * 2, BY_CITY)
    text = printed(table.location(), *REWRITE, *FEW)
    assert "city=[bold]%25%2Fx 1 2 1" in text
    assert "city=%6Eull 1 2 1" in text
