"""Content under any rewrites that the veto allows, what the executor refuses, and how it fails."""

import resource
import shutil
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from merge_on_read import BY_CITY, NOT_PARTITIONED, Lake, rewrite_of, row
from pyiceberg.manifest import DataFile, DataFileContent
from pyiceberg.schema import Schema
from pyiceberg.types import (
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IntegerType,
    ListType,
    LongType,
    NestedField,
    StringType,
    StructType,
)

from bench.engines.iceberg.ledger import PLANNING
from bench.engines.iceberg.single_node import written_files
from bench.engines.iceberg.single_node.database import local_path
from strategies.iceberg.delete_planners import ConvertDeletes
from strategies.iceberg.files import DeleteKind
from strategies.plan import Compact, FileGroup, Plan, Reason, Rewrite
from strategies.preview import preview_plan
from strategies.state import MIB

CITIES = (None, "", "Oslo", "São Paulo", "100% a/b", "*?[x]{a,b}", "'q\"", "..", "null", "a\\b")
KEYS = st.none() | st.integers(0, 5)
STEPS = st.sampled_from(["append", "upsert", "upsert", "equality", "position", "rewrite", "convert"])


class Model:
    """The rows of a table as a list, each with the number of the commit that wrote it."""

    def __init__(self):
        self.rows = []

    @property
    def counted(self):
        return Counter((r["id"], r["city"], r["n"]) for r in self.rows)

    def delete(self, where):
        self.rows = [one for one in self.rows if not where(one)]


@given(data=st.data(), is_partitioned=st.booleans(), place=st.sampled_from(["orders", "o *[x]'é%20{a,b}"]))
def test_content_stays_under_any_rewrites_that_the_veto_allows(data, is_partitioned, place):
    with TemporaryDirectory() as folder:
        spec = BY_CITY if is_partitioned else NOT_PARTITIONED
        with closing(Lake(Path(folder), spec=spec, place=place)) as lake:
            model = Model()
            add(lake, model, data)
            for _ in range(data.draw(st.integers(2, 8), label="steps")):
                step = data.draw(STEPS, label="step")
                DO[step](lake, model, data)
                assert lake.rows() == model.counted, step


def add(lake, model, data):
    rows = data.draw(
        st.lists(st.builds(row, KEYS, st.sampled_from(CITIES), st.integers(0, 99)), min_size=1, max_size=6)
    )
    lake.append(*rows)
    model.rows += rows


def partitions(lake):
    """(The partition, whether a row is in it) of the data files there are."""
    is_partitioned = bool(lake.load().spec().fields)
    for file in lake.data_files():
        city = file.partition[0] if is_partitioned else None
        yield (city,) if is_partitioned else (), lambda r, city=city: not is_partitioned or r["city"] == city


def delete_keys(lake, model, data):
    """An equality delete of one partition, by one column or by two."""
    known = list(partitions(lake))
    if not known:
        return
    partition, is_inside = data.draw(st.sampled_from(known))
    names = data.draw(st.sampled_from([("id",), ("id", "n"), ("n",)]))
    keys = data.draw(st.lists(st.tuples(*(KEYS for _ in names)), min_size=1, max_size=3))
    lake.delete_equal(names, keys, partition)
    model.delete(lambda one: is_inside(one) and tuple(one[name] for name in names) in keys)


def upsert(lake, model, data):
    """Rows of one partition replace those of their keys; of the new rows one is deleted by its position."""
    known = list(partitions(lake))
    if not known:
        return
    partition, is_inside = data.draw(st.sampled_from(known))
    city = st.just(*partition) if partition else st.sampled_from(CITIES)
    rows = data.draw(st.lists(st.builds(row, KEYS, city, st.integers(0, 99)), min_size=1, max_size=3))
    gone = data.draw(st.sets(st.integers(0, len(rows) - 1), max_size=1))
    keys = [(one["id"],) for one in rows]
    lake.upsert(rows, ["id"], keys, gone, partition)
    model.delete(lambda one: is_inside(one) and (one["id"],) in keys)
    model.rows += [one for number, one in enumerate(rows) if number not in gone]


def delete_positions(lake, model, data):
    files = lake.data_files()
    if not files:
        return
    file = data.draw(st.sampled_from(files))
    stored = pq.ParquetFile(file.file_path.removeprefix("file://")).read().to_pylist()
    position = data.draw(st.integers(0, len(stored) - 1))
    before = lake.rows()
    lake.delete_positions([(file.file_path, position)], file.partition, with_bounds=data.draw(st.booleans()))
    gone = before - lake.rows()  # nothing, if an older delete has the row
    assert gone.total() <= 1
    for one in gone:
        model.rows.remove(row(*one))


def rewrite(lake, model, data):
    """A rewrite of some files into files of few bytes, and conversions and drops of deletes besides."""
    state, groups = lake.state(), []
    for partition in sorted({file.partition for file in state.data_files}):
        paths = data.draw(
            st.permutations(sorted(f.path for f in state.data_files if f.partition == partition))
        )
        end = data.draw(st.integers(0, len(paths)))
        converted = data.draw(st.integers(end, len(paths)))
        if converted:
            groups.append(FileGroup(tuple(paths[:end]), partition, tuple(paths[end:converted])))
    removed = data.draw(st.lists(st.sampled_from([d.key for d in state.delete_files]), unique=True)
                        if state.delete_files else st.just([]))  # fmt: skip
    if not groups and not removed:
        return
    target_bytes = data.draw(st.sampled_from([1, 2500, MIB]))
    execute(lake, Plan((Rewrite(tuple(groups), target_bytes, tuple(removed)),), Reason.OTHER, ""))


def convert(lake, model, data):
    plan = ConvertDeletes().decide(lake.state())
    if plan is not None:
        assert execute(lake, plan)
        kinds = {delete.kind for delete in lake.state().delete_files}
        assert kinds <= {DeleteKind.POSITION}


def execute(lake, plan):
    state = lake.state()
    veto = PLANNING.veto(plan, preview_plan(plan, state, PLANNING.preview), state)
    event("vetoed" if veto else "executed")
    if veto:
        return False
    for action in plan.actions:
        lake.rewrite(action)
    return True


DO = {
    "append": add, "equality": delete_keys, "upsert": upsert, "position": delete_positions,
    "rewrite": rewrite, "convert": convert,
}  # fmt: skip


def test_the_veto_is_what_keeps_deleted_rows_away(lake):
    """So that the property above would fail without it."""
    lake.append(row(1), row(2))
    deleted = lake.delete_equal(["id"], [(1,)], ("Oslo",))
    lake.rewrite(Rewrite((), MIB, (deleted,)))
    assert lake.rows().total() == 2


def test_a_file_without_any_delete_keeps_its_rows_in_their_order(lake):
    lake.append(*(row(n) for n in range(5)))
    lake.append(*(row(n) for n in range(5, 9)))
    paths = [file.file_path for file in lake.data_files()]
    lake.rewrite(Rewrite((FileGroup(tuple(paths), "Oslo"),), MIB))
    (file,) = lake.data_files()
    assert pq.read_table(file.file_path.removeprefix("file://"))["id"].to_pylist() == list(range(9))


def test_columns_are_found_by_their_ids_after_the_table_has_changed(make_lake):
    """Renamed, swapped, dropped, added and promoted ones, in data files and in delete files."""
    schema = Schema(
        NestedField(1, "a", IntegerType()), NestedField(2, "b", FloatType()),
        NestedField(3, "c", StringType()), NestedField(4, "d", DecimalType(4, 2)),
        NestedField(5, "e", LongType()),
    )  # fmt: skip
    lake = make_lake(schema=schema, spec=NOT_PARTITIONED)
    lake.append(*({"a": n, "b": n / 3, "c": str(n), "d": n, "e": n} for n in range(4)))
    lake.delete_equal(["a"], [(2,)])
    with lake.load().update_schema() as update:
        update.rename_column("a", "x").rename_column("e", "a").delete_column("c")
    with lake.load().update_schema() as update:
        update.update_column("x", LongType()).update_column("b", DoubleType())
        update.update_column("d", DecimalType(30, 2)).add_column("c", DateType())
    lake.append({"x": 2**40, "b": 1e300, "d": 2, "a": 7, "c": None})
    lake.delete_equal(["c", "x"], [(None, 3)])
    expected = lake.rows()
    assert expected.total() == 3
    lake.convert_all()
    assert lake.rows() == expected
    lake.rewrite_all()
    assert lake.rows() == expected
    (file,) = lake.data_files()
    stored = pq.read_schema(file.file_path.removeprefix("file://"))
    assert {int(f.metadata[b"PARQUET:field_id"]): f.name for f in stored} == {
        1: "x", 2: "b", 4: "d", 5: "a", 6: "c"
    }  # fmt: skip


@pytest.mark.parametrize("execute", [Lake.rewrite_all, Lake.convert_all])
def test_a_delete_spares_rows_of_its_own_commit_and_later_ones_but_not_older_ones(lake, execute):
    lake.append(row(1), row(2))
    lake.upsert([row(1, n=1), row(1, n=2)], ["id"], [(1,)], {1}, ("Oslo",))
    lake.append(row(1, n=3))
    lake.upsert([row(3)], ["id"], [(1,), (3,)], (), ("Oslo",))
    lake.append(row(1, n=4), row(3, n=4))
    expected = Counter([(2, "Oslo", 0), (3, "Oslo", 0), (1, "Oslo", 4), (3, "Oslo", 4)])
    assert lake.rows() == expected
    execute(lake)
    assert lake.rows() == expected


def test_a_position_delete_applies_to_rows_of_its_own_commit(lake):
    lake.append(row(1))
    lake.upsert([row(2), row(3)], ["id"], [(2,), (3,)], {1}, ("Oslo",))
    expected = lake.rows()
    assert expected.total() == 2
    lake.rewrite(rewrite_of(lake.data_files()[1:]))
    assert lake.rows() == expected


def test_the_same_file_name_in_a_folder_that_the_path_matches_is_another_file(make_lake):
    lake = make_lake(place="o*")
    lake.append(row(1))
    lake.append(row(2))
    folder = lake.folder / "warehouse" / "shop"
    shutil.copytree(folder / "o*", folder / "other")
    lake.rewrite_all()
    assert lake.rows().total() == 2


def test_an_equality_delete_without_a_partition_reaches_files_of_all_partitions(lake):
    lake.append(row(1), row(1, "Rome"), row(2, "Rome"))
    table = lake.load()
    with table.update_spec() as update:
        update.remove_field("city")
    lake.delete_equal(["id"], [(1,)])
    with lake.load().update_spec() as update:
        update.add_identity("city")
    assert lake.load().spec().spec_id == 0
    expected = lake.rows()
    assert expected.total() == 1
    lake.rewrite_all()
    assert lake.rows() == expected
    assert len(lake.data_files()) == 1


def test_files_of_one_partition_may_be_of_another_place(lake):
    """Positions in a delete file are compared with whole locations, of which one may begin another."""
    lake.append(row(1), row(2))
    lake.append(row(3), row(4))
    first, second = lake.data_files()
    lake.delete_positions([(first.file_path, 0), (second.file_path, 1), ("file:///gone", 0)], ("Oslo",))
    expected = lake.rows()
    assert expected.total() == 2
    lake.rewrite_all()
    assert lake.rows() == expected


def check_refused(lake, action, match):
    """Staging fails, and nothing is left of it."""
    stored, before = lake.stored(), lake.load().metadata_location
    with pytest.raises(ValueError, match=match):
        lake.executor.stage(action, 0)
    assert lake.stored() == stored
    assert lake.load().metadata_location == before


@pytest.mark.parametrize(
    "kind", [FixedType(4), ListType(2, LongType()), StructType(NestedField(2, "x", LongType()))]
)
def test_types_that_it_cannot_write_are_refused(make_lake, kind):
    lake = make_lake(schema=Schema(NestedField(1, "odd", kind)), spec=NOT_PARTITIONED)
    lake.append({"odd": None})
    check_refused(lake, rewrite_of(lake.data_files()), "column odd is of type")


def test_columns_that_differ_in_case_only_are_refused(make_lake):
    schema = Schema(NestedField(1, "id", LongType()), NestedField(2, "ID", LongType()))
    lake = make_lake(schema=schema, spec=NOT_PARTITIONED)
    lake.append({"id": 1, "ID": 2})
    check_refused(lake, rewrite_of(lake.data_files()), "differ in case only")


def test_actions_that_are_no_rewrite_are_refused(lake):
    lake.append(row(1))
    check_refused(lake, Compact(), "explicit rewrites only")


def test_a_table_without_rows_is_refused(lake):
    check_refused(lake, Rewrite((FileGroup(("nowhere",)),), MIB), "no snapshot")


@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("encryption.key-id", "k", "decrypt"),
        ("write.format.default", "orc", "Parquet only"),
        ("write.parquet.row-group-size-bytes", "0", "must be > 0"),
        ("write.parquet.compression-level", "99", "no level of zstd"),
        ("schema.name-mapping.default", '[{"field-id": 1, "names": ["id"]}]', "field ids"),
    ],
)
def test_properties_of_tables_that_it_would_misread_are_refused(lake, name, value, match):
    lake.append(row(1))
    with lake.load().transaction() as transaction:
        transaction.set_properties({name: value})
    check_refused(lake, rewrite_of(lake.data_files()), match)


def test_format_version_3_is_refused(lake, monkeypatch):
    lake.append(row(1))
    table = lake.load()
    of_version_3 = table.metadata.model_copy(update={"format_version": 3})
    executor = replace(lake.executor, load=lambda: replace_metadata(table, of_version_3))
    with pytest.raises(ValueError, match="format version 3"):
        executor.stage(rewrite_of(lake.data_files()), 0)


def replace_metadata(table, metadata):
    table.metadata = metadata
    return table


def test_files_of_an_older_partition_spec_are_refused(lake):
    lake.append(row(1))
    with lake.load().update_spec() as update:
        update.remove_field("city")
    check_refused(lake, rewrite_of(lake.data_files()), "partition spec 0, the table of 1")


def test_groups_of_several_partitions_are_refused(lake):
    lake.append(row(1), row(2, "Rome"))
    paths = tuple(file.file_path for file in lake.data_files())
    check_refused(lake, Rewrite((FileGroup(paths),), MIB), "several partitions")


@pytest.mark.parametrize("location", ["s3://lake/data/a.parquet", "file://host/data/a.parquet"])
def test_files_that_are_not_on_this_machine_are_refused(location):
    with pytest.raises(ValueError, match="not a local file"):
        local_path(location)


def test_an_equality_delete_that_compares_floats_is_refused(make_lake):
    schema = Schema(NestedField(1, "price", DoubleType()))
    lake = make_lake(schema=schema, spec=NOT_PARTITIONED)
    lake.append({"price": 0.0})
    lake.delete_equal(["price"], [(-0.0,)])
    check_refused(lake, rewrite_of(lake.data_files()), "column price, which is a double")


def test_an_equality_delete_of_a_dropped_column_is_refused(make_lake):
    lake = make_lake(spec=NOT_PARTITIONED)
    lake.append(row(1))
    lake.delete_equal(["n"], [(0,)])
    with lake.load().update_schema() as update:
        update.delete_column("n")
    check_refused(lake, rewrite_of(lake.data_files()), "compares column 3, which the table does not have")


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("damage", ["cut", "pages"])
def test_a_damaged_file_is_named_and_nothing_is_left(lake, place, damage):
    for number in range(3):
        lake.append(*(row(number * 1000 + n) for n in range(1000)))
    path = Path(lake.data_files()[place].file_path.removeprefix("file://"))
    whole = path.read_bytes()
    path.write_bytes(whole[:300] if damage == "cut" else whole[:4] + b"\xff" * 200 + whole[204:])
    check_refused(lake, rewrite_of(lake.data_files()), path.name)
    path.write_bytes(whole)
    lake.rewrite_all()
    assert lake.rows().total() == 3000


def test_a_missing_file_is_named_and_nothing_is_left(lake):
    lake.append(row(1))
    lake.append(row(2))
    for file in lake.data_files():
        path = Path(file.file_path.removeprefix("file://"))
        away = path.rename(path.with_suffix(".away"))
        check_refused(lake, rewrite_of(lake.data_files()), path.name)
        away.rename(path)


def test_a_damaged_delete_file_is_named_and_nothing_is_left(lake):
    lake.append(row(1))
    path = Path(lake.delete_equal(["id"], [(1,)], ("Oslo",)).removeprefix("file://"))
    path.write_bytes(b"PAR1 and no more")
    check_refused(lake, rewrite_of(lake.data_files()), path.name)


@pytest.mark.parametrize("place", ["footer", "_described"])
def test_files_of_a_rewrite_that_fails_later_are_deleted(lake, monkeypatch, place):
    """Those of earlier groups, and the one that was being written."""
    lake.append(row(1), row(2, "Rome"))
    target = written_files if place == "footer" else written_files.Writer
    real, calls = getattr(target, place), []

    def fail_at_the_second(*args):
        calls.append(args)
        if len(calls) == 2:
            raise OSError(28, "No space left on device", "/lake/a.parquet")
        return real(*args)

    monkeypatch.setattr(target, place, fail_at_the_second)
    check_refused(lake, rewrite_of(lake.data_files()), "No space left on device.*/lake/a.parquet")
    assert len(calls) == 2


def test_a_disk_that_takes_no_more_bytes_fails_the_rewrite_with_the_files_name(lake):
    """A limit of 100 bytes a file stands for the full disk: a file fails while it is being written."""
    lake.append(row(1), row(2, "Rome"))
    unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, unlimited[1]))
    try:
        check_refused(lake, rewrite_of(lake.data_files()), r"/data/.*\.parquet.*File too large")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
    lake.rewrite_all()


def test_an_encrypted_file_is_refused(lake, monkeypatch):
    lake.append(row(1))
    monkeypatch.setattr(DataFile, "key_metadata", property(lambda file: b"key"))
    check_refused(lake, rewrite_of(lake.data_files()), "is encrypted, and this executor cannot decrypt it")


def test_a_conversion_reads_only_the_key_column_of_data_files(make_lake):
    """The pages of another column are damaged: a conversion does not notice, a rewrite does."""
    lake = make_lake(spec=NOT_PARTITIONED)
    lake.append(*(row(number, n=number) for number in range(1000)))
    (file,) = lake.data_files()
    path = Path(local_path(file.file_path))
    column = pq.ParquetFile(path).metadata.row_group(0).column(2)
    assert column.path_in_schema == "n"
    start = column.dictionary_page_offset or column.data_page_offset
    with path.open("r+b") as opened:
        opened.seek(start)
        opened.write(b"\xff" * column.total_compressed_size)
    deleted = lake.delete_equal(["id"], [(7,)])
    lake.convert_all(removed_deletes=[deleted])
    (own,) = (e.data_file for e in lake.entries() if e.data_file.content != DataFileContent.DATA)
    assert own.record_count == 1
    with pytest.raises(ValueError, match="cannot be read"):
        lake.rewrite_all()


def test_memory_is_bounded_and_the_spill_goes_with_the_executor(make_lake, tmp_path):
    lake = make_lake(memory_bytes=128 * MIB)
    lake.append(row(1))
    lake.rewrite_all()
    ((limit,),) = lake.executor._database.run("SELECT current_setting('memory_limit')")
    assert limit == "128.0 MiB"
    ((threads,),) = lake.executor._database.run("SELECT current_setting('threads')")
    assert threads == 1
    scratch = lake.folder / "scratch"
    assert [path.name.startswith("spill-") for path in scratch.iterdir()] == [True]
    lake.executor.close()
    assert list(scratch.iterdir()) == []
    lake.rewrite_all()  # it opens another database


def test_a_rewrite_with_many_deleted_keys_fits_into_little_memory(make_lake):
    lake = make_lake(memory_bytes=16 * MIB)
    rows = 200_000
    columns = {"id": range(rows), "city": ["Oslo"] * rows, "n": range(rows)}
    lake.add_file(pa.table(columns, schema=lake.load().schema().as_arrow()), ("Oslo",))
    lake.delete_equal(["id", "n"], [(n, n) for n in range(0, rows, 2)], ("Oslo",))
    lake.rewrite_all()
    assert sum(file.record_count for file in lake.data_files()) == rows // 2


def test_a_rewrite_for_which_the_memory_does_not_suffice_is_refused_and_leaves_nothing(make_lake):
    lake = make_lake(memory_bytes=MIB // 4)
    lake.append(*(row(n) for n in range(10_000)))
    check_refused(lake, rewrite_of(lake.data_files()), "^set compaction_memory higher: Out of Memory")
