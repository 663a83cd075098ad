"""Records as columns in files: what is read is what was written, and damage is named."""

import math
import shutil
from typing import get_args

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from any_records import records_of
from hypothesis import given
from hypothesis import strategies as st
from records import commit, compaction, end, observed, query
from refused import refused
from result_builder import manifest, write_run

from bench.errors import EngineError
from bench.replay.recorder import ColumnRecorder
from bench.results.column_files import read_records
from bench.results.columns import columns_of
from bench.results.folders import load_end, load_run
from bench.results.records import EVENT_TABLES, CommitRecord, QueryRecord, Record, RunRecord
from bench.results.tables import RunRecords
from bench.results.values import Cost
from bench.secrets import Secrets

KINDS = [kind for kind in get_args(get_args(Record)[0]) if kind is not RunRecord]
ANY = st.lists(st.one_of([records_of(kind) for kind in KINDS]), max_size=6)


RUN_ID = manifest().run_id


def fields_of(record):
    added = ("kind", "written_utc", "records_sha256")
    return {name: value for name, value in record if name not in added}


def write(folder, records, secrets=Secrets(), run_id=RUN_ID):  # noqa: B008  immutable
    with ColumnRecorder(folder / EVENT_TABLES, run_id, secrets=secrets) as recorder:
        for record in records:
            recorder.write(type(record), fields_of(record))
    return folder / EVENT_TABLES


@given(ANY, records_of(RunRecord))
def test_records_are_read_as_they_were_written(tmp_path_factory, records, last):
    stored = read_records(write(tmp_path_factory.mktemp("run"), [*records, last]))
    assert list(map(fields_of, stored)) == list(map(fields_of, [*records, last]))
    assert [stored[place].kind for place in range(len(stored))] == [r.kind for r in (*records, last)]
    listed = RunRecords.listed([*records, last])
    for kind in {type(record) for record in records}:
        assert list(map(fields_of, stored.of(kind)[::-1])) == list(map(fields_of, listed.of(kind)[::-1]))
        for column in columns_of(kind):
            values, others = (of.of(kind).column(column.name) for of in (stored, listed))
            if column.name != "written_utc":
                assert values.dtype == others.dtype
                assert np.array_equal(values, others, equal_nan=values.dtype == float)


@given(st.lists(records_of(QueryRecord), max_size=9), st.data())
def test_records_that_are_chosen_are_the_same_as_columns_and_as_objects(tmp_path_factory, records, data):
    queries = read_records(write(tmp_path_factory.mktemp("run"), [*records, end()])).of(QueryRecord)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(records), max_size=len(records))), bool)
    chosen = queries.where(mask)
    assert [record.probe for record in chosen] == chosen.column("probe").tolist()
    assert list(chosen) == [record for record, is_in in zip(queries, mask, strict=True) if is_in]
    assert list(chosen.take(np.arange(len(chosen))[::-1])) == list(chosen)[::-1]


def test_many_records_are_written_in_parts_and_keep_their_order(tmp_path):
    records = [
        record
        for tick in range(1, 12_001)
        for record in (commit(tick=tick, rows=tick), query(tick / 7, tick=tick, version=f"v{tick}"))
    ]
    folder = write(tmp_path, [*records, end(tick=12_000)])
    assert pq.ParquetFile(folder / "commit.parquet").num_row_groups == 3
    stored = read_records(folder)
    for place in (0, 1, 19_999, 20_000, 23_999):
        assert fields_of(stored[place]) == fields_of(records[place])
    assert stored.of(CommitRecord).column("rows").tolist() == list(range(1, 12_001))
    assert fields_of(stored.of(QueryRecord)[-1]) == fields_of(records[-1])


TICKS = [
    record
    for tick in (1, 2, 3)
    for record in (
        commit(tick=tick, started_s=tick, ended_s=tick + 0.5),
        observed(tick=tick, started_s=tick + 0.5, ended_s=tick + 0.5, role="reader"),
        compaction(tick=tick, started_s=tick + 0.5, ended_s=tick + 0.75, role="compactor"),
    )
]
ENDED = [*TICKS, end(tick=3, records_count=len(TICKS))]


@pytest.fixture
def run_folder(tmp_path):
    folder = write_run(tmp_path / "run", manifest(mode="simulated"), [])
    (folder / "events.jsonl").unlink()
    write(folder, ENDED)
    return folder


def test_a_run_has_its_records_and_its_end(run_folder):
    assert list(map(fields_of, load_run(run_folder).records)) == list(map(fields_of, ENDED))
    assert fields_of(load_end(run_folder).end) == fields_of(ENDED[-1])
    assert len(load_end(run_folder).records) == 1


def cut(path):
    path.write_bytes(path.read_bytes()[:-40])


def flip(path):
    content = bytearray(path.read_bytes())
    content[60] ^= 0xFF  # within the first page
    path.write_bytes(content)


def with_a_name_that_is_no_text(path):
    path.write_bytes(path.read_bytes().replace(b"at_ms", b"at\xff\xff\xff"))


def foreign(path):
    pq.write_table(pa.table({"serial": [0], "tick": [1]}), path)


def rewritten(path, change):
    table = pq.ParquetFile(path).read()
    pq.write_table(change(table), path)


@pytest.mark.parametrize(
    ("name", "damage", "place"),
    [
        ("commit.parquet", cut, "commit.parquet"),
        ("observe.parquet", flip, "observe.parquet"),
        ("observe.parquet", lambda path: path.write_bytes(b""), "observe.parquet"),
        ("run.parquet", cut, "run.parquet"),
        ("run.parquet", with_a_name_that_is_no_text, "run.parquet"),
        ("run.parquet", lambda path: rewritten(path, lambda table: table.slice(0, 0)), "run.parquet"),
        ("commit.parquet", foreign, "commit.parquet"),
        ("other.parquet", foreign, "other.parquet"),
        ("commit.parquet", lambda path: path.unlink(), ""),
        ("commit.parquet", lambda path: rewritten(path, lambda table: table.slice(0, 2)), ""),
        (
            "commit.parquet",
            lambda path: rewritten(path, lambda table: table.drop(["rows"])),
            "commit.parquet",
        ),
        (
            "observe.parquet",
            lambda path: rewritten(path, lambda table: table.take([1, 0, 2])),
            "observe.parquet",
        ),
    ],
)
def test_damage_is_named(run_folder, name, damage, place):
    damage(run_folder / EVENT_TABLES / name)
    path = run_folder / EVENT_TABLES / place if place else run_folder / EVENT_TABLES
    with refused("damaged-record", path) as refusal:
        _ = [*load_run(run_folder).records]
    assert "run --resume" in str(refusal.value)


def test_missing_records_are_told_from_records_that_are_there_twice(run_folder):
    file = run_folder / EVENT_TABLES / "commit.parquet"
    shutil.copy(file, run_folder / "whole")
    rewritten(file, lambda table: table.slice(0, 2))
    with refused("damaged-record") as refusal:
        _ = [*load_run(run_folder).records]
    assert "1 record missing" in str(refusal.value)
    shutil.copy(run_folder / "whole", file)
    observed = run_folder / EVENT_TABLES / "observe.parquet"
    rewritten(observed, lambda table: table.set_column(0, table.field(0), pq.read_table(file).column(0)))
    with refused("damaged-record") as refusal:
        _ = [*load_run(run_folder).records]
    assert "3 records twice" in str(refusal.value)


@pytest.mark.parametrize(
    ("records", "place"),
    [
        ([*TICKS[:3], *TICKS[6:]], "commit.parquet, row 2"),  # a tick is missing
        ([*TICKS, commit(tick=3, started_s=2.0, ended_s=2.5)], "commit.parquet, row 4"),
        ([*TICKS, end(tick=3, records_count=8)], "run.parquet, row 1"),
    ],
)
def test_records_out_of_order_are_damage(tmp_path, records, place):
    folder = write_run(tmp_path / "run", manifest(mode="simulated"), [])
    ending = [] if isinstance(records[-1], RunRecord) else [end(tick=3)]
    write(folder, [*records, *ending])
    with refused("damaged-record", f"{folder / EVENT_TABLES}/{place}"):
        load_run(folder)


@pytest.mark.parametrize("name", ["commit.parquet", ""])
def test_records_of_another_run_are_damage(run_folder, tmp_path, name):
    """A file for one kind of record, or all of them. Runs of one scenario differ in figures alone."""
    others = [
        record.model_copy(update={"rows": 7}) if record.kind == "commit" else record for record in ENDED
    ]
    other = tmp_path / "other"
    other.mkdir()
    write(other, others, run_id="another-run")
    tables = run_folder / EVENT_TABLES
    if name:
        shutil.copy(other / EVENT_TABLES / name, tables / name)
    else:
        shutil.rmtree(tables)
        shutil.copytree(other / EVENT_TABLES, tables)
    with refused("damaged-record", tables):
        load_run(run_folder)


def test_a_checksum_is_no_secret(tmp_path, monkeypatch):
    monkeypatch.setattr("bench.replay.recorder.checksum", lambda run_id, stored: "hunter2")
    *_, last = read_records(write(tmp_path, [commit(), end()], Secrets.of_values(["hunter2"])))
    assert last.records_sha256 == "hunter2"


def test_a_run_without_its_end_leaves_no_records(tmp_path):
    folder = write_run(tmp_path / "run", manifest(mode="simulated"), [])
    write(folder, TICKS)
    assert not (folder / EVENT_TABLES).exists()
    assert [path.name for path in folder.glob("events.*")] == ["events.jsonl"]
    assert load_run(folder).end is None


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"cost": Cost(wall_s=math.nan)}, "not-storable"),
        ({"cost": Cost(cpu_s=-1.0)}, "not-storable"),
        ({"cost": Cost(jit_cpu_s=math.inf)}, "not-storable"),
        ({"rows": 2**60}, "not-storable"),
        ({"error": "\ud800"}, "not-utf-8"),
    ],
)
def test_what_could_not_be_read_again_fails_the_run_and_leaves_its_end_alone(tmp_path, fields, code):
    step = {"tick": 1, "at_ms": 0}
    with ColumnRecorder(tmp_path / EVENT_TABLES, "run") as recorder:
        recorder.write(CommitRecord, step | fields)
        with pytest.raises(EngineError) as caught:
            recorder.write(RunRecord, step | {"status": "finished", "records_count": 1})
        assert caught.value.code == code
        failed = step | {"status": "failed", "error": "x", "records_count": recorder.records_count}
        recorder.write(RunRecord, failed)
    stored = read_records(tmp_path / EVENT_TABLES)
    assert [(record.status, record.error) for record in stored] == [("failed", "x")]


def test_a_field_that_a_record_does_not_have_is_an_error(tmp_path):
    with ColumnRecorder(tmp_path / EVENT_TABLES, "run") as recorder:
        recorder.write(CommitRecord, {"tick": 1, "at_ms": 0, "colour": "red"})
        with pytest.raises(TypeError, match="colour"):
            recorder.write(RunRecord, {"tick": 1, "at_ms": 0, "status": "finished"})


def test_texts_are_stored_without_secrets_but_for_words_of_ours(tmp_path):
    secrets = Secrets.of_values(["hunter2", "first-order"])
    made = compaction(error="at hunter2", actions=["a hunter2", "b"], reason="hunter2", version="7")
    stored = read_records(write(tmp_path, [made, query(probe="first-order"), end()], secrets))
    cleaned, asked, _ = stored
    assert (cleaned.error, cleaned.actions) == ("at (hidden)", ["a (hidden)", "b"])
    assert (cleaned.reason, cleaned.version, asked.probe) == ("hunter2", "7", "first-order")
