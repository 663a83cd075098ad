from dataclasses import fields
from functools import partial

import pytest
from coefficients import coefficients
from engine_streams import batches, commit_all, execute, files, plan, rewrite
from hudi_tables import hudi_table, slice_files
from replay import batches as stream_of
from scenario_builder import load
from simulations import simulated_table

from bench.engines.contract import TableSpec, Ticket, TicketId
from bench.engines.iceberg.model.table import IcebergTableModel
from bench.replay.active_strategy import ActiveStrategy
from bench.replay.clock import ModelledClock
from bench.replay.execution import forecast
from bench.replay.recorder import LineRecorder
from bench.replay.replay import replay
from bench.results.records import CompactionRecord, parse_record
from bench.results.values import Change
from strategies.hudi.planners import Compaction
from strategies.hudi.preview import preview_action as hudi_preview
from strategies.iceberg.commands import Command
from strategies.iceberg.files import DeleteKind, IcebergDataFile, IcebergDeleteFile, IcebergState
from strategies.iceberg.preview import preview_action
from strategies.plan import Compact, FileGroup, Native, Rewrite
from strategies.preview import preview_plan
from strategies.state import MIB, StateError
from workloads.partitioning import Partitioning
from workloads.schema import ORDERS


def size_model(rows, files_count):
    return 1_000 * files_count + rows


def state(sizes, **fields):
    made = [IcebergDataFile(f"f{n}", size_bytes, 10, "", 1) for n, size_bytes in enumerate(sizes)]
    return IcebergState(60_000, 100 * MIB, made, **fields)


def forecast_of(planned, seen, sizes):
    """The forecast of a plan that is scheduled in this state."""
    preview = preview_plan(planned, seen, preview_action)
    return forecast(Ticket(TicketId(1), planned, preview, 60_000, 60_000), sizes)


def test_a_forecast_has_the_figures_of_a_change_by_their_names():
    told = forecast_of(plan(Compact()), state([MIB] * 6), size_model)
    assert told == {
        "files_removed_count": 6, "files_added_count": 1, "replaced_bytes": 6 * MIB,
        "added_bytes": 1_000 + 60,
    }  # fmt: skip
    assert told.keys() <= {field.name for field in fields(Change)}


def test_each_file_that_comes_out_is_sized_by_its_own_rows():
    # 6 x 60 MiB at a target of 100 MiB: rewritten into tasks of at most about 90 MiB, one file each.
    told = forecast_of(plan(Compact()), state([60 * MIB] * 6), size_model)
    assert told["files_removed_count"] == 6
    assert told["files_added_count"] > 1
    assert told["added_bytes"] == 1_000 * told["files_added_count"] + 60


def test_what_a_merge_with_log_files_writes_is_not_forecast():
    table = hudi_table(slice_files("a"))
    planned = Compaction("UnBounded").decide(table)
    told = forecast(
        Ticket(TicketId(1), planned, preview_plan(planned, table, hudi_preview), 60_000, 60_000), size_model
    )
    assert told == {"files_removed_count": 1, "files_added_count": 1, "replaced_bytes": 5 * MIB}


def test_nothing_to_do_is_forecast_as_nothing():
    told = forecast_of(plan(Compact()), state([MIB] * 4), size_model)
    assert told == dict.fromkeys(
        ("files_removed_count", "files_added_count", "replaced_bytes", "added_bytes"), 0
    )


@pytest.mark.parametrize(
    "actions",
    [
        (Compact(), Compact()),  # the second meets what the first left
        (Native(Command.EXPIRE_SNAPSHOTS, {"older_than_at_ms": "1000"}),),
        (Native(Command.REWRITE_DATA_FILES, {"where": "user_id = 1"}),),
        (Compact(None, {"min-input-files": "none"}),),
    ],
)
def test_what_the_state_does_not_tell_has_no_forecast(actions):
    assert forecast_of(plan(*actions), state([MIB] * 6), size_model) is None


def test_delete_files_that_a_rewrite_drops_are_replaced_too():
    deletes = [
        IcebergDeleteFile(f"d{n}", size_bytes=7 + n, rows=1, kind=DeleteKind.EQUALITY) for n in range(3)
    ]
    seen = state([MIB] * 2, delete_files=deletes)
    action = Rewrite((FileGroup(("f0", "f1")),), MIB * 8, ("d0", "d2"))
    assert forecast_of(plan(action), seen, size_model)["replaced_bytes"] == 2 * MIB + 7 + 9


def test_bytes_are_not_forecast_where_deletes_are_converted():
    action = Rewrite((FileGroup(("f0", "f1"), convert_paths=("f2",)),), MIB * 8)
    told = forecast_of(plan(action), state([MIB] * 3), size_model)
    assert told == {"files_removed_count": 2, "files_added_count": 1}


def test_a_rewrite_of_a_file_that_is_gone_has_no_forecast():
    assert forecast_of(rewrite([IcebergDataFile("gone", MIB, 1)]), state([MIB]), size_model) is None


def test_a_state_that_breaks_icebergs_rules_is_an_error_and_no_missing_forecast():
    delete = IcebergDeleteFile("dv", 1, 1, kind=DeleteKind.DELETION_VECTOR)
    with pytest.raises(StateError, match="deletion vector dv does not name its data file"):
        forecast_of(plan(Compact()), state([MIB] * 6, delete_files=[delete]), size_model)


@pytest.mark.parametrize("by", ["none", "bucket"])
def test_a_forecast_is_what_a_simulated_table_then_does(by):
    partitioning = Partitioning(by, 3)
    engine = simulated_table(IcebergTableModel, TableSpec(8 * MIB, partitioning), coefficients())
    engine.create()
    commit_all(engine, batches(None, partitioning))
    for planned in (
        plan(Compact(None, {"min-input-files": "3"})),
        plan(Compact(None, {"rewrite-all": "true"})),
    ):
        told = forecast_of(planned, engine.state(360_000), partial(coefficients().table_bytes, ORDERS))
        change = execute(engine, planned, 360_000).change
        assert told == {
            "files_removed_count": change.files_removed_count, "files_added_count": change.files_added_count,
            "replaced_bytes": change.replaced_bytes, "added_bytes": change.added_bytes,
        }  # fmt: skip
        assert told["files_removed_count"] > 0
    assert len(files(engine)) == len(engine.state(360_000).partitions)


@pytest.mark.parametrize(("count", "told"), [(4, True), (5, False)])
def test_a_rewrite_of_delete_files_is_not_forecast_for_only_their_rows_tell_what_comes_out(count, told):
    deletes = tuple(IcebergDeleteFile(f"d{n}", 1, 1, kind=DeleteKind.POSITION) for n in range(count))
    planned = plan(Native(Command.REWRITE_POSITION_DELETE_FILES))  # 5 files are enough to merge
    found = forecast_of(planned, IcebergState(0, MIB, delete_files=deletes), size_model)
    assert (found is not None) == told
    assert not any((found or {}).values())


@pytest.mark.parametrize("with_model", [True, False])
def test_the_replay_records_a_forecast_where_it_has_a_size_model(tmp_path, with_model):
    scenario = load(tmp_path, duration="2min")
    engine = simulated_table(IcebergTableModel, TableSpec(8 * MIB), coefficients())
    engine.create()
    _, every = scenario.strategies
    with LineRecorder(tmp_path / "events.jsonl", "run") as recorder:
        model = size_model if with_model else None
        strategy = ActiveStrategy(every.strategy)
        replay(scenario, strategy, engine, stream_of(scenario), recorder, ModelledClock(), size_model=model)
    records = [parse_record(line) for line in (tmp_path / "events.jsonl").read_bytes().splitlines()]
    (compaction,) = (r for r in records if isinstance(r, CompactionRecord))
    assert (compaction.change.files_removed_count, compaction.change.files_added_count) == (16, 1)
    expected = {"files_removed_count": 16, "files_added_count": 1, "added_bytes": 1_000 + 160}
    if with_model:
        assert compaction.forecast == {**expected, "replaced_bytes": compaction.change.replaced_bytes}
    else:
        assert compaction.forecast is None
