"""Results from before a figure was recorded: it is unknown, and everything else is as it was."""

import json
from dataclasses import fields

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import commit, compaction, end, maintenance, observed, query

from bench.errors import ResultSchemaError
from bench.replay.recorder import ColumnRecorder
from bench.results.column_files import file_of, read_records
from bench.results.columns import column_by_name, columns_of
from bench.results.records import parse_record
from bench.results.values import CommitWork, MaintenanceWork, RewriteWork, SparkWork

RECORDS = (commit(wall_s=2.0), query(0.5), observed(), compaction(), maintenance(), end())
LATER = (
    "added_rows", "replaced_rows", "added_delete_rows",
    *(f"spark_{field.name}" for field in fields(SparkWork)),
    "columns_count", "delete_bytes",
    *(field.name for kind in (CommitWork, MaintenanceWork, RewriteWork) for field in fields(kind)),
)  # fmt: skip


def with_work(record, figures):
    """The record with figures by the names of their columns."""
    tree = record.model_dump(mode="json")
    for name, figure in figures.items():
        *path, last = column_by_name(type(record))[name].path
        place = tree
        for step in path:
            place = place[step]
        place[last] = figure
    return type(record).model_validate(tree)


@given(st.sampled_from(RECORDS), st.data())
def test_a_line_without_later_figures_is_read_as_one_in_which_they_are_unknown(record, data):
    later = [column.name for column in columns_of(type(record)) if column.name in LATER]
    figures = data.draw(st.fixed_dictionaries({name: st.none() | st.integers(0, 2**53) for name in later}))
    full = with_work(record, figures)
    assert parse_record(full.model_dump_json().encode()) == full
    tree = json.loads(full.model_dump_json())
    for name in later:
        *path, last = column_by_name(type(record))[name].path
        place = tree
        for step in path:
            place = place[step]
        del place[last]
    assert parse_record(json.dumps(tree).encode()) == with_work(record, dict.fromkeys(later))


@pytest.fixture
def tables(tmp_path):
    with ColumnRecorder(tmp_path / "events.tables", "run") as recorder:
        for record in RECORDS:
            known = {name for name in LATER if name in column_by_name(type(record))}
            full = with_work(record, dict.fromkeys(known, 7))
            recorder.write(type(record), {name: getattr(full, name) for name in full.model_fields_set})
    return tmp_path / "events.tables"


def without_columns(folder, record, names):
    path = file_of(folder, type(record))
    pq.write_table(pq.read_table(path).drop_columns(list(names)), path)


@pytest.mark.parametrize("record", RECORDS[:-1], ids=lambda record: record.kind)
def test_a_table_without_later_columns_is_read_with_unknown_figures(tables, record):
    later = [column.name for column in columns_of(type(record)) if column.name in LATER]
    assert [int(read_records(tables).of(type(record)).column(name)[0]) for name in later] == [7] * len(later)
    without_columns(tables, record, later)
    (read,) = read_records(tables).of(type(record))
    assert read.model_dump(exclude={"written_utc"}) == record.model_dump(exclude={"written_utc"})


def test_a_column_that_every_result_has_must_not_be_missing(tables):
    without_columns(tables, RECORDS[0], ["wall_s"])
    with pytest.raises(ResultSchemaError) as caught:
        read_records(tables)
    assert caught.value.code == "damaged-record"
