"""What Iceberg's real and its simulated engine must do alike, and no other format does."""

from engine_factories import of_format
from engine_streams import commit_all, execute, plan

from strategies.plan import Compact

pytestmark = of_format("iceberg")


def test_the_files_of_each_commit_have_its_sequence_number(engine, stream):
    commit_all(engine, stream[:3])
    numbers = sorted(f.data_sequence_number for f in engine.state(120_000).data_files)
    assert numbers == [1] * 3 + [2] * 4 + [3] * 4


def test_an_empty_table_has_no_snapshot(engine):
    assert engine.state(0).version is None


def test_four_small_files_are_too_few_for_a_compaction_without_options(engine, stream):
    commit_all(engine, stream[1:2])
    assert execute(engine, plan(Compact()), 60_000).status == "noop"  # min-input-files is 5
