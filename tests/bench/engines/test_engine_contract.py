"""What every engine must do alike, as far as its capabilities go.

What a format has to say for itself is in its engine's sheet. A gap of one engine is marked, never skipped.
"""

from dataclasses import replace
from datetime import date

import pytest
from change_batches import changing_batches
from engine_factories import SIMULATED, needs, never
from engine_sheet import UNKNOWN_OPTION
from engine_streams import FULL_SCAN, commit_all, content_of, execute, files, plan, rewrite, snapshots

from bench.engines.contract import Batch, Probe, Tag
from bench.engines.registry import FORMATS
from bench.errors import EngineError
from bench.scenario.kept_back import kept_back
from strategies.plan import Capability, Compact, Plan, Reason
from strategies.state import StateError
from workloads.partitioning import Partitioning

COMPACT, REWRITE, DELAYED = Capability.COMPACT, Capability.REWRITE, Capability.DELAYED_COMMIT
KEY_PROBE = Probe("key", "SELECT * FROM orders WHERE order_id = 5")


def test_an_engine_can_do_what_its_format_declares(engine_key, engine):
    assert engine.capabilities == engine_key.capabilities


def test_create_makes_an_empty_table(engine, sheet):
    state = engine.state(0)
    assert (len(state.data_files), len(state.delete_files), dict(state.partitions)) == (0, 0, {})
    assert (state.commits_total_count, state.commits, state.pending) == (0, (), ())
    assert (state.version is not None) == sheet.is_created_with_a_version


@needs(answer="writes_a_file_per_task")
def test_commits_appear_as_their_specs_say(engine, stream, tmp_path):
    outcomes = [engine.commit(batch, batch.spec.at_ms) for batch in stream[:3]]
    tables = [outcome.observed.table for outcome in outcomes]
    assert [(table.data_files_count, table.rows) for table in tables] == [(3, 60), (7, 100), (11, 140)]
    assert (tables[-1].delete_files_count, tables[-1].delete_rows) == (0, 0)
    assert tables[-1].equality_files_count in (0, None)
    assert [(o.change.files_added_count, snapshots(o)) for o in outcomes] == [(3, 1), (4, 1), (4, 1)]
    state = engine.state(120_000)
    assert state.size_bytes == sum(f.size_bytes for f in state.data_files) == tables[-1].live_bytes
    assert state.size_bytes == sum(o.change.added_bytes for o in outcomes)
    assert state.partitions[""].files_count == 11
    assert sorted(f.added_at_ms for f in state.data_files) == [0] * 3 + [60_000] * 4 + [120_000] * 4
    assert content_of(engine, stream[:3], tmp_path / "dump").equal


def test_a_state_knows_the_calendar_of_the_stream(make_engine):
    engine = make_engine(stream_epoch_ms=1_767_225_600_000)
    assert engine.state(86_399_999).calendar_day == date(2026, 1, 1)
    assert engine.state(86_400_000).calendar_day == date(2026, 1, 2)


@needs(answer="writes_a_file_per_task")
def test_commits_of_the_stream_enter_the_history(engine, stream):
    commit_all(engine, stream[1:3])
    state = engine.state(120_000)
    assert state.commits_total_count == 2
    assert [(c.at_ms, c.files_count, c.rows) for c in state.commits] == [(60_000, 4, 40), (120_000, 4, 40)]


def test_the_initial_load_is_no_commit_of_the_stream(engine, stream):
    commit_all(engine, stream[:2])
    assert engine.state(60_000).commits_total_count == 1


@never(*SIMULATED, reason="it neither prepares rows nor reads metadata", raises=AssertionError)
def test_preparing_and_observing_cost_apart_from_the_commit(engine, stream):
    outcome = engine.commit(stream[1], 60_000)
    assert outcome.prepare_s > 0
    assert outcome.observed.cost.wall_s > 0


def test_a_commit_reports_what_it_cost_and_its_metadata(engine, stream):
    outcome = engine.commit(stream[1], 60_000)
    assert 0 < outcome.cost.executor_cpu_s < outcome.cost.cpu_s
    assert outcome.cost.wall_s > 0
    assert outcome.change.metadata_files_count > 0
    table = outcome.observed.table
    assert table.storage_bytes > table.live_bytes  # metadata is on storage too


def test_an_empty_commit_changes_nothing(engine, stream):
    commit_all(engine, stream[1:2])
    before = engine.state(60_000)
    empty = replace(stream[2].spec, rows=0, inserts=0, partitions=())
    outcome = engine.commit(Batch(empty), 120_000)
    assert outcome.cost.wall_s == outcome.prepare_s == 0
    assert (snapshots(outcome), outcome.change.metadata_bytes) == (0, 0)
    assert outcome.observed.table.data_files_count == len(before.data_files) > 0
    assert engine.state(120_000).commits_total_count == before.commits_total_count == 1


@needs(answer="writes_a_file_per_task")
def test_a_writer_override_sets_the_files_of_each_commit(make_engine, stream, tmp_path):
    engine = make_engine(files_per_commit=2)
    assert engine.commit(stream[1], 60_000).change.files_added_count == 2
    assert content_of(engine, stream[1:2], tmp_path / "dump").equal


@needs(answer="writes_a_file_per_task")
def test_rows_of_several_commits_are_written_by_as_many_writers_as_those_of_one(engine, stream, tmp_path):
    load, *commits = kept_back(stream[:5], 120_000)
    engine.commit(load, 0)
    outcomes = [engine.commit(batch, batch.spec.at_ms) for batch in commits]
    assert [outcome.change.files_added_count for outcome in outcomes] == [0, 4, 0, 4]
    assert [outcome.observed.table.rows for outcome in outcomes] == [60, 140, 140, 220]
    assert engine.state(240_000).commits_total_count == 2
    assert content_of(engine, stream[:5], tmp_path / "dump").equal


def test_what_is_dumped_includes_a_commit_after_the_last_query(engine, stream, tmp_path):
    commit_all(engine, stream[:2])
    engine.query(KEY_PROBE)
    engine.commit(stream[2], stream[2].spec.at_ms)
    assert content_of(engine, stream[:3], tmp_path / "dump").equal


@needs(COMPACT)
def test_a_scoped_compaction_merges_everything(engine, stream, tmp_path):
    commit_all(engine, stream[:3])
    live_bytes = engine.state(120_000).size_bytes
    outcome = execute(engine, plan(Compact()), 120_000)
    assert (outcome.status, outcome.error) == ("ok", None)
    change = outcome.change
    assert (change.files_removed_count, change.files_added_count) == (11, 1)
    assert (outcome.observed.table.data_files_count, outcome.observed.table.rows) == (1, 140)
    assert change.replaced_bytes == live_bytes
    assert change.added_bytes == outcome.observed.table.live_bytes
    assert outcome.cost.wall_s > 0
    assert content_of(engine, stream[:3], tmp_path / "dump").equal


@needs(COMPACT)
def test_a_scoped_compaction_leaves_other_partitions_alone(make_engine, make_stream, sheet, tmp_path):
    partitioning = Partitioning("bucket", 3)
    engine = make_engine(partitioning=partitioning)
    stream = commit_all(engine, make_stream(partitioning)[:3])
    chosen = ("partition_bucket=0", "partition_bucket=2")
    before = {f.path: f for f in files(engine)}
    assert execute(engine, plan(Compact(chosen, sheet.compact_two)), 120_000).status == "ok"
    after = {f.path for f in files(engine)}
    assert {before[path].partition for path in before.keys() - after} == set(chosen)
    counts = {name: p.files_count for name, p in engine.state(120_000).partitions.items()}
    untouched = sum(f.partition == "partition_bucket=1" for f in before.values())
    assert counts == {"partition_bucket=0": 1, "partition_bucket=1": untouched, "partition_bucket=2": 1}
    assert content_of(engine, stream, tmp_path / "dump").equal


@needs(REWRITE)
def test_an_explicit_rewrite_replaces_exactly_its_files(engine, stream, tmp_path):
    commit_all(engine, stream[:3])
    before = files(engine)
    outcome = execute(engine, rewrite(before[1:3], before[5:8]), 120_000)
    assert (outcome.status, outcome.error) == ("ok", None)
    after = {f.path for f in files(engine)}
    assert {f.path for f in before} - after == {f.path for f in before[1:3] + before[5:8]}
    assert len(after - {f.path for f in before}) == 2  # a file a group: both stay below the target
    assert (outcome.change.files_removed_count, outcome.change.files_added_count) == (5, 2)
    assert content_of(engine, stream[:3], tmp_path / "dump").equal


@needs(REWRITE)
def test_a_sorted_rewrite_writes_the_files_it_says(engine, stream, tmp_path):
    commit_all(engine, stream[:3])
    small = files(engine)
    target_bytes = sum(f.size_bytes for f in small) // 3 + 1
    sorting = rewrite(small, target_bytes=target_bytes, sort_columns=("user_id", "order_id"))
    outcome = execute(engine, sorting, 120_000)
    assert (outcome.status, outcome.error) == ("ok", None)
    assert len(files(engine)) == 3
    assert content_of(engine, stream[:3], tmp_path / "dump").equal


@needs(answer="merge_from")
def test_a_native_command_runs_with_its_options(engine, stream, sheet, tmp_path):
    commit_all(engine, stream[:2])  # 7 small files
    assert execute(engine, plan(sheet.merge_from(8)), 60_000).status == "noop"
    assert execute(engine, plan(sheet.merge_from(7)), 60_000).status == "ok"
    assert len(files(engine)) == 1
    assert content_of(engine, stream[:2], tmp_path / "dump").equal


@never(*SIMULATED, reason="no command runs that could answer", raises=AssertionError)
@needs(COMPACT)
def test_a_command_answers_with_its_own_counts(engine, stream, sheet):
    commit_all(engine, stream[:2])
    answer = execute(engine, plan(Compact()), 60_000).answer
    assert [answer.get(name) for name in sheet.removed_and_added] == [7, 1]


@needs(COMPACT)
def test_a_noop_is_reported_and_commits_nothing(engine, stream, sheet):
    commit_all(engine, stream[1:2])
    merging = plan(Compact(None, sheet.compact_two))
    assert execute(engine, merging, 60_000).status == "ok"
    outcome = execute(engine, merging, 60_000)  # of one file
    assert (outcome.status, outcome.error) == ("noop", None)
    assert snapshots(outcome) == 0
    assert outcome.cost.wall_s > 0


@needs(COMPACT)
def test_compacting_an_empty_table_is_a_noop(engine):
    assert execute(engine, plan(Compact()), 60_000).status == "noop"


def test_every_commit_returns_the_version_it_made_under_its_own_tag(engine, stream):
    outcomes = [engine.commit(batch, batch.spec.at_ms) for batch in stream[:3]]
    check_versions_follow(engine, outcomes)
    steps = (("load", 0, 60), ("commit-1", 60_000, 40), ("commit-2", 120_000, 40))
    assert [outcome.versions[0].tag for outcome in outcomes] == [Tag("writer", *step) for step in steps]


def test_every_way_to_change_rows_returns_a_version_under_its_own_tag(engine_key, make_engine, tmp_path):
    """Whatever commits, a trigger that counts commits has to see it, and no other step may be credited."""
    writer = FORMATS[engine_key.table_format].writer
    model = FORMATS[engine_key.table_format].table.keys
    keys = model.model_validate({"format": engine_key.table_format, "target_file_size": "8MiB"})
    able = [mode for mode in writer.upsert_modes if writer.needs(keys, mode) <= engine_key.capabilities]
    assert able
    for mode in able:
        engine = make_engine(upsert_mode=mode)
        for count, batch in enumerate(changing_batches(engine_key.is_real, tmp_path / mode), 1):
            outcome = engine.commit(batch, batch.spec.at_ms)
            tag = Tag.of_commit(batch.spec, batch.spec.at_ms)
            assert [version.tag for version in outcome.versions] == [tag], mode
            assert outcome.change.files_added_count + outcome.change.delete_files_added_count > 0
            assert engine.state(batch.spec.at_ms).commits_total_count == count, mode
        engine.drop()


@needs(COMPACT, REWRITE)
def test_every_compaction_returns_the_version_it_made_under_its_own_tag(engine, stream):
    commits = [engine.commit(batch, batch.spec.at_ms) for batch in stream[:3]]
    merged = execute(engine, plan(Compact()), 120_000)
    rewritten = execute(engine, rewrite(files(engine)), 120_000)
    check_versions_follow(engine, [*commits, merged, rewritten])
    tags = [outcome.versions[0].tag for outcome in (merged, rewritten)]
    assert tags == [Tag("compactor", f"compaction-{number}", 120_000) for number in (1, 2)]


def check_versions_follow(engine, outcomes):
    """Each outcome made one version of its own, and is observed at it; the state is of the last."""
    ids = [version.id for outcome in outcomes for version in outcome.versions]
    assert {len(outcome.versions) for outcome in outcomes} == {1}
    assert len(set(ids)) == len(ids)
    assert [outcome.observed.version for outcome in outcomes] == ids
    assert engine.state(120_000).version == ids[-1]


@needs(answer="maintenance")
def test_maintenance_is_tagged_as_such(engine, stream, sheet):
    commit_all(engine, stream[:3])
    before = files(engine)
    outcome = execute(engine, Plan((sheet.maintenance,), Reason.MAINTENANCE), 120_000)
    assert {version.tag.role for version in outcome.versions} == {"maintainer"}
    assert outcome.change.metadata_bytes > 0
    assert files(engine) == before


@needs(COMPACT)
@pytest.mark.parametrize("rule", ["preview", "resurrection"])
@pytest.mark.parametrize("error", [ValueError, StateError])
def test_a_plan_is_vetoed_where_it_cannot_be_judged(engine, stream, sheet, monkeypatch, rule, error):
    commit_all(engine, stream[:2])

    def unreadable(*args):
        raise error("two deletion vectors for one file")

    monkeypatch.setattr(engine, "planning", replace(engine.planning, **{rule: unreadable}))
    before = files(engine)
    outcome = execute(engine, plan(Compact(None, sheet.compact_two)), 60_000)
    if (rule, error) == ("preview", ValueError):  # an effect that is not known is no reason to refuse a plan
        assert outcome.status in ("ok", "failed")
        return
    assert (outcome.status, outcome.versions) == ("vetoed", ())
    assert "two deletion vectors" in outcome.error
    assert files(engine) == before


def test_what_the_engine_cannot_do_is_vetoed_and_not_done(engine, stream, tmp_path):
    commit_all(engine, stream[:3])
    before = files(engine)
    engine.capabilities = engine.capabilities - {COMPACT}
    outcome = execute(engine, plan(Compact()), 120_000)
    assert (outcome.status, "compact" in outcome.error) == ("vetoed", True)
    assert files(engine) == before
    assert content_of(engine, stream[:3], tmp_path / "dump").equal


def test_a_command_that_fails_is_an_outcome_with_its_error(engine, stream, sheet, tmp_path):
    commit_all(engine, stream[:2])
    outcome = execute(engine, plan(sheet.faulty), 60_000)
    assert outcome.status == "failed"
    assert UNKNOWN_OPTION in outcome.error
    assert "\n" not in outcome.error
    assert content_of(engine, stream[:2], tmp_path / "dump").equal


def scheduled(engine, chosen):
    """The ticket of a plan that is pending for two minutes, on a table of seven files."""
    ticket = engine.schedule(chosen, 60_000, 180_000)
    pending = engine.state(60_000).pending
    assert [(plan.scheduled_at_ms, plan.due_at_ms) for plan in pending] == [(60_000, 180_000)]
    assert len(files(engine)) == 7  # nothing is committed yet
    return ticket


@needs(REWRITE, DELAYED)
def test_a_scheduled_rewrite_is_pending_until_it_completes(engine, stream, tmp_path):
    commit_all(engine, stream[:2])
    chosen = files(engine)[:5]
    ticket = scheduled(engine, rewrite(chosen))
    assert engine.state(60_000).pending[0].paths == {f.path for f in chosen}
    landed = engine.commit(stream[2], 120_000)
    assert snapshots(landed) == 1
    outcome = engine.complete(ticket, 180_000)
    assert (outcome.status, outcome.error) == ("ok", None)
    assert engine.state(180_000).pending == ()
    assert len(files(engine)) == 7 + 4 - 5 + 1
    assert content_of(engine, stream[:3], tmp_path / "dump").equal


def check_what_is_taken(engine, stream, sheet, action, folder):
    """Schedule an action that merges all files, let a commit land, and complete it."""
    commit_all(engine, stream[:2])
    ticket = scheduled(engine, plan(action))
    engine.commit(stream[2], 120_000)
    outcome = engine.complete(ticket, 180_000)
    taken_count = 7 if type(action) in sheet.settled_on_schedule else 7 + 4
    assert (outcome.status, outcome.change.files_removed_count) == ("ok", taken_count)
    assert engine.state(180_000).pending == ()
    assert content_of(engine, stream[:3], folder).equal


@needs(COMPACT, DELAYED)
def test_a_scheduled_compaction_takes_the_files_its_format_says(engine, stream, sheet, tmp_path):
    check_what_is_taken(engine, stream, sheet, Compact(), tmp_path / "dump")


@needs(DELAYED, answer="merge_from")
def test_a_scheduled_command_takes_the_files_its_format_says(engine, stream, sheet, tmp_path):
    check_what_is_taken(engine, stream, sheet, sheet.merge_from(2), tmp_path / "dump")


@needs(COMPACT, REWRITE)
def test_a_conflicting_rewrite_fails_and_loses_nothing(engine, stream, tmp_path):
    commit_all(engine, stream[:3])
    ticket = engine.schedule(rewrite(files(engine)[:4]), 120_000, 180_000)
    assert execute(engine, plan(Compact()), 120_000).status == "ok"
    after = files(engine)
    outcome = engine.complete(ticket, 180_000)
    assert (outcome.status, bool(outcome.error)) == ("failed", True)
    assert files(engine) == after
    assert engine.state(180_000).pending == ()
    assert content_of(engine, stream[:3], tmp_path / "dump").equal


@needs(COMPACT, REWRITE)
def test_a_rewrite_of_a_file_that_is_gone_fails_when_completed(engine, stream):
    commit_all(engine, stream[:3])
    stale = rewrite(files(engine)[:2])
    execute(engine, plan(Compact()), 120_000)
    outcome = execute(engine, stale, 120_000)
    assert outcome.status == "failed"
    assert "no longer live" in outcome.error


@needs(COMPACT)
def test_actions_run_in_order_until_one_fails(engine, stream, sheet, tmp_path):
    commit_all(engine, stream[:3])
    outcome = execute(engine, plan(Compact(), sheet.faulty, Compact()), 120_000)
    assert outcome.status == "failed"
    assert outcome.change.files_removed_count == 11  # the first action's
    assert content_of(engine, stream[:3], tmp_path / "dump").equal


@never(*SIMULATED, reason="it has no rows to dump", raises=EngineError)
@pytest.mark.parametrize("name", ["a b", "a%20b", "a+b#c", "ü"])
def test_a_dump_goes_where_it_is_told(engine, stream, tmp_path, name):
    commit_all(engine, stream[:1])
    engine.dump(tmp_path / name / "dump")
    assert content_of(engine, stream[:1], tmp_path / name / "again").equal


@never(*SIMULATED, reason="it has no rows to dump", raises=EngineError)
@needs(COMPACT)
def test_a_dump_is_as_large_as_a_compacted_table(engine, stream, tmp_path):
    commit_all(engine, stream)
    engine.dump(tmp_path / "dump")
    (dumped,) = (tmp_path / "dump").glob("*.parquet")
    execute(engine, plan(Compact()), 360_000)
    (compacted,) = files(engine)
    assert dumped.stat().st_size == pytest.approx(compacted.size_bytes, rel=0.1)


@needs(answer="writes_a_file_per_task")
def test_a_full_scan_opens_all_files_and_a_key_probe_fewer(engine, stream, sheet):
    commit_all(engine, stream[:3])
    full, key = engine.query(FULL_SCAN), engine.query(KEY_PROBE)
    state = engine.state(120_000)
    assert (full.work.files_count, full.work.opened_bytes) == (len(state.data_files), state.size_bytes)
    assert full.work.delete_files_count == 0
    # order_id 5 is row 4 of the initial load, whose first of three files holds rows 0 to 19.
    assert key.work.files_count == 1
    assert key.work.opened_bytes in {f.size_bytes for f in state.data_files}
    for outcome in (full, key):
        assert outcome.planning_s > 0
        assert outcome.execution_s > 0
        assert outcome.planning_s + outcome.execution_s <= outcome.cost.wall_s
        read_count = outcome.work.metadata_files_count
        assert read_count > 0 if sheet.reports_metadata_files else read_count is None


def test_every_kind_of_session_opens_the_same_files(engine, engine_key, stream, monkeypatch):
    commit_all(engine, stream[:3])
    assert engine.sessions == ("new", "long-lived")
    new = engine.query(FULL_SCAN)
    if engine_key.is_real:
        monkeypatch.setattr(engine, "_forget", None)  # a long-lived session keeps what it knows
    for session in engine.sessions[1:]:
        assert engine.query(FULL_SCAN, session).work == new.work


@needs(COMPACT)
def test_a_probe_sees_what_a_compaction_left(engine, stream):
    commit_all(engine, stream[:3])
    execute(engine, plan(Compact()), 120_000)
    full = engine.query(FULL_SCAN)
    assert (full.work.files_count, full.work.opened_bytes) == (1, engine.state(120_000).size_bytes)


def test_the_control_query_reads_a_table_that_the_stream_does_not_change(engine, engine_key, stream):
    assert engine.control() is None  # nothing to read yet
    engine.make_control(FULL_SCAN, stream[1:3])
    commit_all(engine, stream)
    before = engine.query(FULL_SCAN).work
    cost = engine.control()
    if engine_key.is_real:
        assert cost.wall_s > 0
        assert cost.cpu_s > 0
    else:
        assert cost is None  # modelled times need no control
    # The probe still finds the table of the stream, whose files are those of all commits.
    assert engine.query(FULL_SCAN).work.files_count == before.files_count == len(files(engine))
    assert engine.state(0).commits_total_count == 6
    engine.drop_control()
    assert engine.control() is None
    assert len(files(engine)) == before.files_count


@never(*SIMULATED, reason="it has no control query", raises=AssertionError)
def test_the_control_query_does_the_same_work_whatever_the_table_holds(engine, stream, monkeypatch):
    engine.make_control(FULL_SCAN, stream[1:3])
    opened = []
    query = type(engine).query

    def watched(asked, probe):
        outcome = query(asked, probe)
        opened.append((probe, outcome.work.files_count))
        return outcome

    monkeypatch.setattr(type(engine), "query", watched)
    engine.control()
    commit_all(engine, stream)
    engine.control()
    assert [probe for probe, _ in opened] == [FULL_SCAN] * 2
    assert opened[0] == opened[1]
    assert opened[0][1] > 0


def test_a_sibling_is_another_table_of_the_same_kind(engine, stream, tmp_path):
    scratch = engine.sibling("scratch")
    scratch.create()
    commit_all(scratch, stream[:1])
    assert scratch.query(FULL_SCAN).work.files_count == len(files(scratch)) > 0
    scratch.drop()
    assert len(engine.state(0).data_files) == 0
    commit_all(engine, stream[1:2])
    assert content_of(engine, stream[1:2], tmp_path / "dump").equal


def test_a_dropped_table_can_be_made_anew(make_engine, stream, tmp_path):
    dropped = make_engine()
    commit_all(dropped, stream[:1])
    dropped.drop()
    engine = make_engine()
    commit_all(engine, stream[1:2])
    assert content_of(engine, stream[1:2], tmp_path / "dump").equal


@needs(REWRITE)
def test_a_state_has_its_version_and_its_files_the_time_they_came_in(engine, stream):
    commit_all(engine, stream[:3])
    before = engine.state(120_000)
    assert {f.added_at_ms for f in before.data_files} == {b.spec.at_ms for b in stream[:3]}
    version, kept = before.version, files(engine)[2:]
    execute(engine, rewrite(files(engine)[:2]), 180_000)
    after = engine.state(180_000)
    assert after.version not in (None, version)
    times = {f.path: f.added_at_ms for f in after.data_files}
    assert all(times.pop(f.path) == f.added_at_ms for f in kept)
    assert set(times.values()) == {180_000}
