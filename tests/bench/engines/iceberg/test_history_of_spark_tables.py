"""Histories of tables that Spark made, replayed to the files that these tables have."""

from dataclasses import replace

import pytest
from histories import described, live, replayed

from bench.engines.existing import TableAddress
from bench.engines.iceberg.existing_table import import_history, open_existing
from strategies.iceberg.preview import preview_action
from strategies.iceberg.procedures import RewriteDataFiles

pytestmark = pytest.mark.spark

REWRITE = "rewrite_data_files(table => '{name}', options => map('min-input-files', '2'))"


@pytest.fixture
def make_table(spark, namespaces):
    """Makes a table by day from statements about `{name}`; one that begins with "call" is a procedure."""

    def make(statements, **properties):
        namespace = next(namespaces)
        name = f"lake.{namespace}.visits"
        spark.sql(f"CREATE NAMESPACE lake.{namespace}")
        pairs = ", ".join(f"'{key}'='{value}'" for key, value in properties.items())
        spark.sql(
            f"CREATE TABLE {name} (id BIGINT, who STRING, day DATE) USING iceberg PARTITIONED BY (day) "
            f"TBLPROPERTIES ({pairs})"
        )
        for statement in statements:
            text = statement.format(name=name)
            spark.sql(f"CALL lake.system.{text[5:]}" if text.startswith("call ") else text)
        rows = spark.sql(f"DESCRIBE EXTENDED {name}").collect()
        location = next(row.data_type for row in rows if row.col_name == "Location")
        return TableAddress(location), spark.table(name).count()

    return make


def insert(number, rows=200):
    return (
        f"INSERT INTO {{name}} SELECT id, sha2(concat(id, 'x{number}'), 256), "
        f"date_add(date'2026-03-01', CAST(id % 2 AS INT)) FROM range({number * 1000}, {number * 1000 + rows})"
    )


MERGE = (
    "MERGE INTO {name} t USING (SELECT id FROM range(0, 2200, 7)) s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET who = 'changed' "
    "WHEN NOT MATCHED THEN INSERT (id, who, day) VALUES (s.id, 'new', date'2026-03-01')"
)
DELETE = "DELETE FROM {name} WHERE id % 10 = 3"
DROP_DAY = "DELETE FROM {name} WHERE day = date'2026-03-02'"
STREAM = [insert(0), insert(1), MERGE, insert(2), DELETE, MERGE, DROP_DAY, insert(3)]
COPIES = {"write.merge.mode": "copy-on-write"}
ON_READ = {f"write.{command}.mode": "merge-on-read" for command in ("delete", "update", "merge")}


def merged_bytes(state):
    """The sizes of the files in each group that the table's compaction would merge in this state."""
    (action,) = RewriteDataFiles(options={"min-input-files": 2}).decide(state).actions
    return sorted(sorted(file.size_bytes for file in g.files) for g in preview_action(action, state).groups)


def state_of(address):
    state = open_existing(address).state
    return described([*state.data_files, *state.delete_files])


@pytest.mark.parametrize("properties", [COPIES, ON_READ, {**ON_READ, "format-version": "3"}])
def test_every_commit_of_spark_is_replayed_to_the_last_file(make_table, tmp_path, properties):
    address, rows = make_table(STREAM, **properties)
    with replayed(import_history(address, None), tmp_path) as engine:
        assert live(engine) == state_of(address)
        assert engine.model.live_rows == rows


@pytest.mark.parametrize("properties", [COPIES, ON_READ])
def test_without_its_compactions_a_table_has_what_the_stream_alone_would_have_made(
    make_table, tmp_path, properties
):
    """And the compaction that ran would merge the same files.

    Once compacted files are changed by copies, nobody knows what the copies would have been.
    """
    stream = (
        [insert(0), insert(1), insert(2), insert(3), DELETE]
        if properties is ON_READ
        else [insert(n) for n in range(5)]
    )
    compacted = [part for statement in stream for part in (statement, f"call {REWRITE}")]
    alone, rows = make_table(stream, **properties)
    address, _ = make_table(compacted, **properties)
    recorded = import_history(address, None)
    assert sum(commit.is_compaction for commit in recorded.commits) >= 3
    with replayed(recorded, tmp_path) as engine:
        state, state_alone = engine.state(0), open_existing(alone).state
        assert described(state.data_files) == described(state_alone.data_files)
        assert merged_bytes(state) == merged_bytes(state_alone) != []
        assert engine.model.live_rows == rows
    with replayed(recorded, tmp_path, undo_compactions=False) as engine:
        assert live(engine) == state_of(address)


@pytest.mark.parametrize("properties", [COPIES, ON_READ])
def test_what_expired_snapshots_committed_is_there_at_the_start(spark, make_table, tmp_path, properties):
    """Three of eight commits are left, and what the others had made is the start."""
    address, rows = make_table(STREAM, **properties)
    whole = import_history(address, None)
    name = ".".join(address.name.split("/")[-2:])
    spark.sql(
        f"CALL lake.system.expire_snapshots(table => '{name}', retain_last => 3, "
        "older_than => TIMESTAMP '2999-01-01 00:00:00')"
    )
    left = import_history(address, None)
    assert (len(whole.commits), len(left.commits)) == (8, 3)
    earlier = replace(whole, commits=whole.commits[:5])
    assert (len(whole.start), len(left.start)) == (0, len(earlier.live_after()))
    assert "older snapshots have expired" in left.facts.notes[0]
    with replayed(left, tmp_path) as engine:
        assert live(engine) == state_of(address)
        assert engine.model.live_rows == rows
