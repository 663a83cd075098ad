"""What Iceberg's real and its simulated engine must do alike, and no other format does."""

import pytest
from engine_factories import of_format
from engine_streams import commit_all, execute, plan, snapshots

from strategies.iceberg.commands import Command
from strategies.plan import Compact, Native

pytestmark = of_format("iceberg")


@pytest.fixture
def stream(make_stream):
    """The initial load (60 rows, 3 files) and six commits of 40 rows and 4 files."""
    return make_stream()


def test_the_files_of_each_commit_have_its_sequence_number(engine, stream):
    commit_all(engine, stream[:3])
    numbers = sorted(f.data_sequence_number for f in engine.state(120_000).data_files)
    assert numbers == [1] * 3 + [2] * 4 + [3] * 4


def test_an_empty_table_has_no_snapshot(engine):
    assert engine.state(0).version is None


def test_four_small_files_are_too_few_for_a_compaction_without_options(engine, stream):
    commit_all(engine, stream[1:2])
    outcome = execute(engine, plan(Compact()), 60_000)  # min-input-files is 5
    assert (outcome.status, outcome.error) == ("noop", None)
    assert snapshots(outcome) == 0
    assert outcome.cost.wall_s > 0
    assert [c.status for c in engine.state(60_000).compactions] == ["noop"]


@pytest.mark.parametrize(("needed_count", "status"), [(8, "noop"), (7, "ok")])
def test_a_command_counts_small_files_against_min_input_files(engine, stream, needed_count, status):
    commit_all(engine, stream[:2])  # 7 small files
    command = Native(Command.REWRITE_DATA_FILES, {}, {"min-input-files": str(needed_count)})
    assert execute(engine, plan(command), 60_000).status == status
