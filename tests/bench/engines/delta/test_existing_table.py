"""Existing tables that delta-rs wrote, and logs written by hand."""

import json
import re

import pyarrow as pa
import pytest
from delta_logs import add, described, dv, info, write_checkpoint, write_commit
from delta_tables import data_file, delta_table
from deltalake import DeltaTable, write_deltalake
from refused import refused

from bench.engines.contract import CatalogSettings
from bench.engines.delta.existing_table import is_table_at, open_existing
from bench.engines.delta.format import FORMAT
from bench.engines.existing import TableAddress
from bench.errors import ScenarioError
from bench.preview.figures import table_figures
from bench.preview.preview import named_planners, preview_strategy
from strategies.delta.commands import Command
from strategies.delta.files import ZCube
from strategies.delta.planners import Optimize
from strategies.plan import Compact, Native
from strategies.state import GIB

DAYS = ("2026-01-05", "2026-01-06", None)


FIELDS = [
    {"name": "day", "type": "string", "metadata": {"delta.columnMapping.physicalName": "col-1"}},
    {"name": "s", "type": {"type": "struct", "fields": [{"name": "x", "type": "long"}]}},
]
ADD = {"path": "a", "size": 1, "partitionValues": {"col-1": "x"}, "modificationTime": 9, "stats": None}
PROTOCOL = {"minReaderVersion": 2, "minWriterVersion": 5}
MANAGED = {"minReaderVersion": 3, "readerFeatures": ["deletionVectors", "catalogManaged"]}


def written(folder, fields=FIELDS, add=ADD, protocol=PROTOCOL, **metadata):
    """A table of one commit; None leaves an action out."""
    (folder / "_delta_log").mkdir()
    schema = json.dumps({"type": "struct", "fields": fields})
    described = {"schemaString": schema, "partitionColumns": ["day"], "createdTime": 5, **metadata}
    actions = {"protocol": protocol, "metaData": described if fields else None, "add": add}
    lines = (json.dumps({name: action}) for name, action in actions.items() if action is not None)
    (folder / "_delta_log" / f"{0:020}.json").write_text("\n".join(lines))
    return TableAddress(str(folder))


@pytest.fixture
def place(tmp_path):
    """A table of two files a day, three days one of which is null, after a checkpoint."""
    for _ in range(2):
        rows = pa.table({"id": list(range(6)), "day": [DAYS[n % 3] for n in range(6)]})
        write_deltalake(str(tmp_path), rows, mode="append", partition_by=["day"])
    DeltaTable(str(tmp_path)).create_checkpoint()
    return str(tmp_path)


def optimize(where):
    return Native(Command.OPTIMIZE, {"where": where})


def paths(state):
    return sorted(file.partition for file in state.data_files)


def test_a_table_is_described_by_its_log(place):
    table = open_existing(TableAddress(place))
    facts, state = table.facts, table.state
    assert table_figures(place, table)["rows"] == 12
    assert (facts.version, facts.columns, facts.partition_spec) == ("1", ("id", "day"), "day")
    assert facts.metadata.endswith(f"_delta_log/{1:020}.json")
    assert facts.committed_at.endswith("+00:00")
    assert state.target_file_size_bytes == GIB
    assert paths(state) == ["day=2026-01-05"] * 2 + ["day=2026-01-06"] * 2 + ["day=null"] * 2
    assert sum(stats.rows for stats in state.partitions.values()) == 12
    assert all(0 <= file.added_at_ms <= state.observed_at_ms for file in state.data_files)


def test_the_checkpoint_may_be_the_only_version(place, tmp_path):
    for version in (0, 1):
        (tmp_path / "_delta_log" / f"{version:020}.json").unlink()
    assert len(open_existing(TableAddress(place)).state.data_files) == 6


def test_a_predicate_selects_partitions(place):
    where = "`day` >= '2026-01-05' AND day <> '2026-01-06'"
    action, state = open_existing(TableAddress(place)).narrowed(optimize(where))
    assert action == Native(Command.OPTIMIZE, {})
    assert set(paths(state)) == {"day=2026-01-05"}


@pytest.mark.parametrize(
    ("kind", "where"), [("string", "id = 1"), ("string", "day ="), ("string", "1/0"), ("interval", "day = 1")]
)
def test_a_predicate_that_cannot_be_evaluated_is_refused(tmp_path, kind, where):
    fields = [{**FIELDS[0], "type": kind}, {"name": "id", "type": "long"}]
    table = open_existing(written(tmp_path, fields))
    with refused("unsupported", "where"):
        table.narrowed(optimize(where))


def previewed(place, name, *options):
    return preview_strategy(named_planners(name, options, None), open_existing(TableAddress(place)), FORMAT)


def test_plans_have_a_dry_run(place):
    result = previewed(place, "delta.optimize", "where=\"day = '2026-01-05'\"")
    assert (result.preview.files_removed_count, result.preview.files_added_count) == (2, 1)
    assert result.cpu_s > 0
    for planner, *options in (("delta.optimize",), ("delta.zorder", 'columns=["id"]')):
        assert previewed(place, planner, *options).preview.files_removed_count == 6


def test_the_thresholds_that_exclude_files_from_merging(place):
    result = previewed(place, "delta.optimize", "options.minFileSize=10")
    assert result.preview.groups == ()
    short = result.shortfall
    assert (short.files_count, short.candidates_count, short.thresholds["min_file_bytes"]) == (6, 0, 10)
    table = open_existing(TableAddress(place))
    assert table.shortfall(Compact(), table.state).candidates_together_count == 2
    assert table.shortfall(Native(Command.REORG), table.state) is None


def test_the_thresholds_that_exclude_files_from_clustering(place):
    table, cube = open_existing(TableAddress(place)), ZCube("a", ("x",))
    files = [data_file(path, 2 * GIB, clustering_provider="liquid", z_cube=cube) for path in "12"]
    other = data_file("3", GIB, clustering_provider="liquid", z_cube=ZCube("b", ("y",)))
    state = delta_table([*files, other], clustering_columns=("x",))
    short = table.shortfall(Compact(), state)
    assert (short.files_count, short.candidates_count, short.candidates_together_count) == (3, 2, 2)
    assert short.together_in == "Z-cube"
    assert short.thresholds == {"min_cube_bytes": 100 * GIB, "max_cube_bytes": 150 * GIB}


@pytest.mark.parametrize(
    ("name", "option", "problem"),
    [
        ("delta.optimize", "where=id = 1", "partition columns"),
        ("delta.zorder", 'columns=["day"]', "no statistics"),
        ("delta.zorder", 'columns=["nowhere"]', "nowhere"),
        ("delta.optimize", "days_ago=[1]", "by day"),
    ],
)
def test_what_delta_would_refuse_is_refused(place, tmp_path, name, option, problem):
    if "days_ago" in option:
        assert open_existing(TableAddress(place)).planner_problem(Optimize(days_ago=(1,))) is None
        place = str(tmp_path / "plain")
        write_deltalake(place, pa.table({"id": [1], "n": [1]}), partition_by=["n"])
    with pytest.raises(ScenarioError, match=problem):
        previewed(place, name, option)


def test_names_of_columns_may_be_mapped(tmp_path):
    table = open_existing(written(tmp_path))
    assert paths(table.state) == ["day=x"]
    assert table.facts.columns == ("day", "s", "s.x")
    assert [(file.added_at_ms, file.has_rows_count) for file in table.state.data_files] == [(4, False)]
    assert table_figures("t", table)["rows"] is None


def test_a_table_is_recognized_by_its_log(place, tmp_path):
    assert is_table_at(place)
    others = (str(tmp_path / "nothing"), "db.orders", "nosuchscheme://bucket/table")
    assert not any(map(is_table_at, others))


@pytest.mark.parametrize("within", ["_delta_log", f"_delta_log/{0:020}.json"])
def test_a_path_within_the_log_is_refused(place, within):
    assert is_table_at(f"{place}/{within}")
    with refused("not-a-table", f"{place}/{within}"):
        open_existing(TableAddress(f"{place}/{within}"))


@pytest.mark.parametrize(
    ("address", "code", "path"),
    [
        (TableAddress("/nowhere/at/all"), "not-a-table", "/nowhere/at/all"),
        (TableAddress("nosuchscheme://orders"), "unreadable", "nosuchscheme://orders"),
        (TableAddress("x", branch="b"), "no-effect", "--branch"),
        (TableAddress("x", catalog="c"), "no-effect", "--catalog"),
        (TableAddress("x", properties={"type": "rest"}), "no-effect", "--catalog-property"),
    ],
)
def test_an_address_without_a_delta_table_is_refused(address, code, path):
    with refused(code, path):
        open_existing(address)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"protocol": None}, "protocol"),
        ({"protocol": {"minReaderVersion": 99}}, "99"),
        ({"protocol": MANAGED}, "catalogManaged"),
        ({"fields": None}, "metaData"),
        ({"fields": [{"name": "day"}]}, "schemaString.*fields.0.type"),
        ({"partitionColumns": [1]}, "line 2.*partitionColumns.0"),
    ],
)
def test_a_table_that_cannot_be_read_correctly_is_refused(tmp_path, changed, problem):
    with refused("damaged") as caught:
        open_existing(written(tmp_path, **changed))
    assert re.search(problem, str(caught.value))


@pytest.mark.parametrize("content", ["", "\n"])
def test_an_empty_commit_is_named(tmp_path, content):
    address = written(tmp_path)
    commit = tmp_path / "_delta_log" / f"{1:020}.json"
    commit.write_text(content)
    with refused("damaged") as caught:
        open_existing(address)
    assert str(caught.value).startswith(f"{commit} is empty")


def test_the_catalog_of_a_scenario_is_ignored(place):
    assert open_existing(TableAddress(place, scenario_catalog=CatalogSettings())).state.version == "1"


def test_a_planner_for_a_table_without_columns(tmp_path):
    schema = json.dumps({"type": "struct", "fields": []})
    address = written(tmp_path, add=None, schemaString=schema, partitionColumns=[])
    assert open_existing(address).planner_problem(Optimize()) is None


def test_a_deletion_vector_is_as_old_as_its_commit_and_its_data_file_older(tmp_path):
    vector = {"storageType": "u", "pathOrInlineDv": "v", "offset": 1, "sizeInBytes": 40, "cardinality": 2}
    address = written(tmp_path, protocol={"minReaderVersion": 3, "readerFeatures": ["deletionVectors"]})
    remove = {"path": "a", "dataChange": True, "deletionTimestamp": 1005}
    marked = {"remove": remove}, {"add": {**ADD, "deletionVector": vector}}

    def times(info):
        lines = (json.dumps(action) for action in ({"commitInfo": info}, *marked))
        (tmp_path / "_delta_log" / f"{1:020}.json").write_text("\n".join(lines))
        state = open_existing(address).state
        return [file.added_at_ms for file in (*state.data_files, *state.delete_files)]

    assert times({"timestamp": 1005}) == [4, 1000]
    assert times({}) == [4, None]


def test_the_age_of_a_deletion_vector_in_a_checkpoint_is_unknown(tmp_path):
    (tmp_path / "_delta_log").mkdir()
    protocol, metadata = described("day")
    protocol["protocol"] |= {"minReaderVersion": 3, "readerFeatures": ["deletionVectors"]}
    write_commit(tmp_path, 5, info())
    write_checkpoint(tmp_path, 5, protocol, metadata, add("a", vector=dv()))
    write_commit(tmp_path, 6, add("b", vector=dv("w")), {"commitInfo": {"timestamp": 9}})
    vectors = open_existing(TableAddress(str(tmp_path))).state.delete_files
    assert {vector.data_file: vector.added_at_ms for vector in vectors} == {"a": None, "b": 2}
