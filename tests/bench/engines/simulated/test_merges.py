"""Spark's MERGE on a simulated Iceberg table, in turns and beside compactions."""

import pytest
from coefficients import coefficients
from engine_streams import execute, files, plan, rewrite
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated_tables import CORES, deletes, make
from simulations import simulated_table
from upsert_commits import changes, commit_specs, load

from bench.engines.contract import Batch, CommitConflictError, TableSpec
from bench.engines.iceberg.model.delete_bytes import position_bytes
from bench.engines.iceberg.model.table import IcebergTableModel
from bench.engines.simulated.kind import wrong_rows
from bench.engines.simulated.steps import Operation
from strategies.iceberg.commands import Command
from strategies.iceberg.files import DeleteKind
from strategies.plan import Compact, FileGroup, Native, Rewrite
from strategies.state import MIB

REWRITE_ALL = plan(Native(Command.REWRITE_DATA_FILES, {}, {"rewrite-all": "true"}))


def merging(mode="merge-on-read", **table):
    return make(upsert_mode=mode, **table)


def at_once(mode="merge-on-read", **table):
    spec = TableSpec(8 * MIB, upsert_mode=mode, **table)
    engine = simulated_table(IcebergTableModel, spec, coefficients(), CORES, has_real_clock=True)
    engine.create()
    return engine


def updates(index, rows=100, population=1000):
    return changes(index, population, updates=rows, writers=2)


def begin(engine, spec):
    engine.begin(Batch(spec, (), spec.expected_bytes))


def test_a_merge_deletes_by_position_and_puts_its_rows_into_one_file():
    engine = merging()
    commit_specs(engine, load(1000, 2))
    outcome = commit_specs(engine, updates(1))
    change, work = outcome.change, outcome.work
    assert (change.files_added_count, change.files_removed_count) == (1, 0)
    assert (change.delete_files_added_count, change.delete_files_removed_count) == (2, 0)
    assert (change.added_rows, change.added_delete_rows) == (100, 100)
    assert (work.scanned_files_count, work.scanned_rows) == (2, 1000)
    made = deletes(engine)
    assert {delete.kind for delete in made} == {DeleteKind.POSITION}
    assert {delete.referenced_data_file for delete in made} == {file.path for file in files(engine)[:2]}
    assert [delete.size_bytes for delete in made] == [round(position_bytes(50))] * 2
    assert engine.model.live_rows == 1000


def test_the_next_merge_replaces_the_delete_files_of_the_files_it_hits():
    """As in the first real runs: 3 delete files of 360, then 720, then 1,079 rows for 3 data files."""
    engine = merging()
    commit_specs(engine, load(1000, 2), updates(1))
    outcome = commit_specs(engine, updates(2))
    change = outcome.change
    assert (change.delete_files_added_count, change.delete_files_removed_count) == (3, 2)
    # A tenth of the 900 rows left in the load, and of the 100 of the commit before.
    assert change.added_delete_rows == 100 + 90 + 10
    assert outcome.observed.table.delete_rows == 200
    assert len({delete.referenced_data_file for delete in deletes(engine)}) == 3


def test_an_insert_alone_deletes_nothing():
    engine = merging()
    commit_specs(engine, load(1000, 2))
    outcome = commit_specs(engine, changes(1, 1000, inserts=10))
    assert (outcome.change.files_added_count, outcome.change.delete_files_added_count) == (1, 0)
    assert outcome.work.scanned_files_count == 2


def test_copy_on_write_writes_the_files_it_hits_again():
    engine = merging("copy-on-write")
    commit_specs(engine, load(1000, 2))
    change = commit_specs(engine, updates(1)).change
    assert (change.files_added_count, change.files_removed_count, change.delete_files_added_count) == (
        2,
        2,
        0,
    )
    assert (change.added_rows, change.replaced_rows) == (1000, 1000)
    assert deletes(engine) == []
    assert engine.model.live_rows == engine.model.physical_rows == 1000


def test_copy_on_write_leaves_a_file_alone_that_it_does_not_hit():
    engine = merging("copy-on-write")
    specs = [load(1000, 10), updates(1, rows=1)]
    assert commit_specs(engine, *specs).change.files_removed_count < 10
    assert wrong_rows(engine, specs, is_cdc=True) is None


def test_a_merge_is_priced_as_one_and_said_not_to_be_fitted():
    engine = merging()
    commit_specs(engine, load(1000, 2), updates(1))
    # No operation of round coefficients is fitted. The load is a commit, which no figure with a verdict has.
    assert engine.beyond_fit.unfitted_operations == ("merge",)
    assert Operation.MERGE in coefficients().needed


@settings(max_examples=40)
@given(
    mode=st.sampled_from(["merge-on-read", "copy-on-write"]),
    skew=st.sampled_from(["uniform", "zipf", "recent-first"]),
    hits=st.lists(st.integers(1, 80), min_size=1, max_size=6),
    compacted=st.sets(st.integers(1, 6)),
)
def test_rows_add_up_whatever_is_merged_and_compacted(mode, skew, hits, compacted):
    engine, population, specs = merging(mode), 400, [load(400, 3)]
    commit_specs(engine, *specs)
    for number, hit in enumerate(hits, start=1):
        specs.append(changes(number, population, inserts=3, updates=hit, skew=skew, loaded=400))
        commit_specs(engine, specs[-1])
        population += 3
        paths = {file.path for file in files(engine)}
        live = [delete for delete in deletes(engine) if delete.referenced_data_file in paths]
        assert len({delete.referenced_data_file for delete in live}) == len(live)
        if number in compacted:
            execute(engine, REWRITE_ALL, 60_000 * number)
    assert wrong_rows(engine, specs, is_cdc=True) is None


def test_a_merge_in_which_a_rewrite_of_its_files_commits_loses_and_leaves_nothing():
    engine = at_once()
    commit_specs(engine, load(1000, 2), updates(1))
    ticket = engine.schedule(REWRITE_ALL, 60_000, 60_000)
    begin(engine, updates(2))
    assert engine.complete(ticket, 70_000).status == "ok"
    before = engine.state(0).size_bytes
    with pytest.raises(CommitConflictError) as caught:
        engine.commit(Batch(updates(2)), 120_000)
    assert "missing data files" in caught.value.reason
    # It has read three files, and written one, with a delete file for each that it has read.
    task_s = caught.value.cost.executor_cpu_s
    assert task_s > 0.5 + 3 * 2.0
    assert engine.state(0).size_bytes == before
    begin(engine, updates(2))
    outcome = commit_specs(engine, updates(2))
    assert outcome.change.added_delete_rows == 100
    assert engine.model.live_rows == 1000


def test_one_that_copies_on_write_loses_as_well():
    engine = at_once("copy-on-write")
    commit_specs(engine, load(1000, 2), updates(1))
    ticket = engine.schedule(REWRITE_ALL, 60_000, 60_000)
    begin(engine, updates(2))
    engine.complete(ticket, 70_000)
    with pytest.raises(CommitConflictError) as caught:
        engine.commit(Batch(updates(2)), 120_000)
    assert "missing required files to delete" in caught.value.reason


@pytest.mark.parametrize("mode", ["merge-on-read", "copy-on-write"])
def test_a_rewrite_of_other_files_is_no_conflict(mode):
    """The commit changes one row, of one of the ten files."""
    engine = at_once(mode)
    commit_specs(engine, load(1000, 10))
    one = updates(1, rows=1)
    hit = {place[0] for place in engine.model._contents.losing(one, engine.model.ledger.data_files.runs)}
    others = [file for file in files(engine) if file.path not in hit]
    assert 2 <= len(others) < 10
    ticket = engine.schedule(rewrite(others), 0, 0)
    begin(engine, one)
    assert engine.complete(ticket, 1).status == "ok"
    assert commit_specs(engine, one).change.added_rows is not None


def test_a_merge_loses_against_a_conversion_of_deletes():
    engine = at_once()
    commit_specs(engine, load(1000, 2), updates(1))
    data = files(engine)[:2]
    group = FileGroup((), "", tuple(file.path for file in data))
    dropped = tuple(delete.path for delete in deletes(engine))
    ticket = engine.schedule(plan(Rewrite((group,), 8 * MIB, dropped)), 60_000, 60_000)
    begin(engine, updates(2))
    assert engine.complete(ticket, 70_000).status == "ok"
    with pytest.raises(CommitConflictError) as caught:
        engine.commit(Batch(updates(2)), 120_000)
    assert "found new conflicting delete files" in caught.value.reason


@pytest.mark.parametrize("command", [REWRITE_ALL, plan(Compact(None, {"rewrite-all": "true"}))])
@pytest.mark.parametrize(
    ("mode", "problem"),
    [("merge-on-read", "found new position delete"), ("copy-on-write", "missing required files to delete")],
)
def test_a_command_in_which_a_merge_commits_is_a_conflict(command, mode, problem):
    """It rewrites the files that were there when it began, although it plans and commits in one call."""
    engine = at_once(mode)
    commit_specs(engine, load(1000, 2), updates(1))
    ticket = engine.schedule(command, 60_000, 60_000)
    commit_specs(engine, updates(2))
    outcome = engine.complete(ticket, 180_000)
    assert (outcome.status, outcome.versions) == ("conflict", ())
    assert problem in outcome.error
    assert outcome.cost.cpu_s > 0


def test_with_equality_deletes_nobody_loses():
    engine = at_once("equality-delete")
    commit_specs(engine, load(1000, 2), updates(1))
    ticket = engine.schedule(REWRITE_ALL, 60_000, 60_000)
    begin(engine, updates(2))
    assert engine.complete(ticket, 70_000).status == "ok"
    assert commit_specs(engine, updates(2)).versions


def test_in_turns_a_command_plans_with_what_is_there_when_it_is_completed():
    engine = merging()
    commit_specs(engine, load(1000, 2), updates(1))
    ticket = engine.schedule(REWRITE_ALL, 60_000, 60_000)
    commit_specs(engine, updates(2))
    outcome = engine.complete(ticket, 180_000)
    assert (outcome.status, outcome.change.files_removed_count) == ("ok", 4)


def test_commands_for_different_files_are_all_planned_as_they_begin():
    """Actions of one plan that share files are not: each changes what the next one finds."""
    engine = at_once()
    commit_specs(engine, load(1000, 4), updates(1))
    first, second = files(engine)[:2], files(engine)[2:4]
    both = plan(*rewrite(first).actions, *rewrite(second).actions, Native(Command.REWRITE_MANIFESTS))
    ticket = engine.schedule(both, 60_000, 60_000)
    assert ticket.expected.wall_s > 0
    commit_specs(engine, updates(2))
    assert engine.complete(ticket, 180_000).status == "conflict"
    twice = plan(*REWRITE_ALL.actions, *REWRITE_ALL.actions)
    ticket = engine.schedule(twice, 180_000, 180_000)
    commit_specs(engine, updates(3))
    assert engine.complete(ticket, 240_000).status == "ok"
