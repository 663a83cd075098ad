import dataclasses
import errno
import json
import math
import os
import shutil
from pathlib import Path
from typing import get_args

import pytest
from any_records import records_of
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from records import commit, compaction, decision, end, maintenance, observed, query, truth
from refused import refused
from result_builder import build_results, manifest, write_run

from bench.replay.recorder import LineRecorder
from bench.results.folders import load_run, load_runs, missing_positions, stored_runs
from bench.results.records import (
    EVENTS,
    MANIFEST,
    REPLACED,
    CommitRecord,
    ControlRecord,
    PhaseRecord,
    QueryRecord,
    Record,
    RunRecord,
    SpeedRecord,
    WarmUpRecord,
    parse_record,
)
from bench.results.tables import RunRecords
from bench.results.values import Cost, Span

KINDS = get_args(get_args(Record)[0])


@given(st.one_of([records_of(kind) for kind in KINDS]))
def test_every_record_is_read_as_it_was_written(record):
    line = record.model_dump_json()
    assert "\n" not in line
    assert parse_record(line.encode()) == record


@given(st.tuples(*[st.floats(-1, 10) | st.sampled_from([math.nan, math.inf])] * 4))
def test_a_record_that_can_be_written_can_be_read(seconds):
    """Values that an engine has made are checked like those of a file."""
    wall_s, cpu_s, started_s, ended_s = seconds
    try:
        record = type(query(1))(
            **{**dict(query(1)), "cost": Cost(wall_s, cpu_s), "span": Span(started_s, ended_s)}
        )
    except ValidationError:
        assert not all(0 <= value < math.inf for value in seconds)
    else:
        assert parse_record(record.model_dump_json().encode()) == record


def test_every_kind_of_record_survives_a_folder(tmp_path):
    step = {"tick": 0, "at_ms": 0, "written_utc": "2026-01-05T09:00:00Z"}
    made = [
        PhaseRecord(**step, name="warm_up"), ControlRecord(**step), SpeedRecord(**step),
        decision(**step),
        WarmUpRecord(**step, planner="amoro", round=1, commits_count=5, acted=True),
        commit(), observed(), query(), compaction(), maintenance(), truth(), end(),
    ]  # fmt: skip
    assert {type(record) for record in made} == set(KINDS)
    run = load_run(write_run(tmp_path / "run", manifest(description='"ü\n'), made))
    assert (list(run.records), run.manifest) == (made, manifest(description='"ü\n'))
    assert (list(run.of(QueryRecord)), run.finished) == ([made[7]], True)


def test_a_collector_writes_lines_as_they_happen(tmp_path):
    write_run(tmp_path / "run", manifest(), [])
    path = tmp_path / "run" / EVENTS
    with LineRecorder(path, "run") as recorder:
        recorder.write(CommitRecord, {"tick": 1, "at_ms": 60_000, "rows": 5})
        (first,) = load_run(tmp_path / "run").records  # before the next, and before it is closed
        recorder.write(CommitRecord, {"tick": 2, "at_ms": 120_000})
    assert (first.rows, first.status) == (5, "ok")
    assert first.written_utc.endswith("Z")
    with LineRecorder(path, "run") as recorder:  # it appends
        recorder.write(CommitRecord, {"tick": 3, "at_ms": 180_000})
    assert [record.tick for record in load_run(tmp_path / "run").records] == [1, 2, 3]


def test_a_text_that_is_not_utf_8_is_refused_and_leaves_no_line(tmp_path):
    with LineRecorder(tmp_path / EVENTS, "run") as recorder:
        with refused("not-utf-8"):
            recorder.write(CommitRecord, {"tick": 1, "at_ms": 60_000, "error": "\ud800"})
        assert recorder.records_count == 0
    assert (tmp_path / EVENTS).read_bytes() == b""


@pytest.fixture
def run_folder(tmp_path):
    return write_run(tmp_path / "append-small" / "run", manifest(), [commit(), observed(tick=2), end(tick=2)])


def test_a_torn_last_line_is_dropped_and_the_run_is_not_finished(run_folder):
    events = run_folder / EVENTS
    events.write_bytes(events.read_bytes()[:-9])
    run = load_run(run_folder)
    assert [record.tick for record in run.records] == [1, 2]
    assert (run.end, run.finished) == (None, False)


def test_a_last_line_without_its_newline_counts_when_it_is_whole(run_folder):
    events = run_folder / EVENTS
    events.write_bytes(events.read_bytes()[:-1])
    assert load_run(run_folder).finished


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tick", 2**53 + 1),
        ("tick", -1),
        ("wall_s", 1e308),
        ("wall_s", float("nan")),
        ("file_sizes", [[0, 1]]),
    ],
)
def test_a_number_that_no_run_stores_is_damage(run_folder, field, value):
    with refused("damaged-record", f"{run_folder / EVENTS}, line 3"):
        _load_lines(run_folder, lambda lines: [*lines[:2], json.dumps(json.loads(lines[2]) | {field: value})])


@pytest.mark.parametrize("kind", KINDS)
def test_a_status_that_no_step_has_is_damage(kind):
    record = {"kind": kind.model_fields["kind"].default, "status": "banana"}
    with pytest.raises(ValidationError, match=r"\.status\n  Input should be '"):
        parse_record(json.dumps(record).encode())


@pytest.mark.parametrize("name", [EVENTS, MANIFEST])
def test_a_folder_in_place_of_a_file_is_named(run_folder, name):
    (run_folder / name).unlink()
    (run_folder / name).mkdir()
    with refused("unreadable", run_folder / name):
        load_runs(run_folder)


@pytest.mark.parametrize(
    "damage", ["{}", "garbage", '{"kind": "commit"}', '{"kind": "other", "tick": 1}', "[]", "\0\0"]
)
def test_a_damaged_line_is_named(run_folder, damage):
    with refused("damaged-record", f"{run_folder / EVENTS}, line 2"):
        _load_lines(run_folder, lambda lines: [lines[0], damage, lines[2]])


def test_a_damaged_last_line_with_a_newline_was_no_kill(run_folder):
    with refused("damaged-record", f"{run_folder / EVENTS}, line 4"):
        _load_lines(run_folder, lambda lines: [*lines, "garbage"])


def test_bytes_that_are_no_text_are_damage_too(run_folder):
    events = run_folder / EVENTS
    events.write_bytes(b"\xff\xfe\n" + events.read_bytes())
    with refused("damaged-record", f"{events}, line 1"):
        load_run(run_folder)


REPLAYED = [
    observed(tick=1, after="commit", role="reader", started_s=0, ended_s=1),
    query(tick=1, role="reader", started_s=1, ended_s=2),
    compaction(tick=1, role="compactor", started_s=1.5, ended_s=3),
    observed(tick=2, role="reader", started_s=2, ended_s=3),
    query(tick=2, role="reader", started_s=3, ended_s=4),
    observed(tick=3, role="reader", started_s=4, ended_s=5),
    end(tick=3),
]


@pytest.mark.parametrize(
    ("order", "line"),
    [
        pytest.param((0, 1, 1, 2, 3, 4, 5, 6), 3, id="a doubled line"),
        pytest.param((1, 0, 2, 3, 4, 5, 6), 2, id="two lines out of order"),
        pytest.param((0, 2, 1, 4, 3, 5, 6), 5, id="two lines of a later tick out of order"),
        pytest.param((0, 3, 1, 2, 4, 5, 6), 3, id="a line of an earlier tick"),
        pytest.param((0, 1, 2, 5, 6), 4, id="a missing tick"),
        pytest.param((0, 1, 2, 6), 4, id="missing ticks before the end"),
        pytest.param((3, 4, 5, 6), 1, id="missing ticks at the start"),
        pytest.param((0, 1, 2, 3, 4, 5, 6, 6), 8, id="two ends"),
        pytest.param((0, 1, 2, 3, 4, 5, 6, 0, 1), 8, id="two copies in one file"),
    ],
)
def test_lines_that_are_doubled_missing_or_out_of_order_are_damage(tmp_path, order, line):
    whole = write_run(tmp_path / "whole", manifest(), REPLAYED)
    assert list(load_run(whole).records) == REPLAYED
    damaged = write_run(tmp_path / "damaged", manifest(), [REPLAYED[place] for place in order])
    with refused("damaged-record", f"{damaged / EVENTS}, line {line}"):
        load_run(damaged)


def test_a_line_that_is_missing_within_a_tick_is_damage(tmp_path):
    records = [*REPLAYED[:-1], end(tick=3, records_count=len(REPLAYED) - 1)]
    assert load_run(write_run(tmp_path / "whole", manifest(), records)).finished
    damaged = write_run(tmp_path / "damaged", manifest(), [*records[:1], *records[2:]])
    with refused("damaged-record", f"{damaged / EVENTS}, line {len(REPLAYED) - 1}"):
        load_run(damaged)


def recorded(folder, records):
    """A run of this name with the checksum of its records."""
    write_run(folder, manifest(run_id=folder.name), [])
    with LineRecorder(folder / EVENTS, folder.name) as recorder:
        for made in records:
            fields = {name: value for name, value in made if name not in ("kind", "written_utc")}
            recorder.write(type(made), fields)
    return folder


@pytest.mark.parametrize("taken", [{0}, {1}, {0, 1}, {0, 1, 2}])
def test_lines_of_another_run_are_damage(tmp_path, taken):
    """Lines of the same steps, one by one or all of them: runs of one scenario differ in figures alone."""
    ended = end(records_count=2)
    ours, theirs = (
        recorded(tmp_path / f"run-{rows}", [commit(rows=rows), observed(rows=rows), ended]) for rows in (1, 2)
    )
    assert load_run(ours).finished
    others = (theirs / EVENTS).read_text().splitlines()
    with refused("damaged-record", f"{ours / EVENTS}, line 3"):
        _load_lines(ours, lambda lines: [(lines, others)[n in taken][n] for n in range(3)])


def test_a_checksum_covers_what_an_earlier_recorder_has_written(tmp_path):
    run = recorded(tmp_path / "run", [commit()])
    with LineRecorder(run / EVENTS, run.name) as recorder:
        recorder.write(RunRecord, {"tick": 1, "at_ms": 60_000, "status": "failed"})
    assert load_run(run).end is not None
    with refused("damaged-record", f"{run / EVENTS}, line 2"):
        _load_lines(run, lambda lines: [lines[0].replace('"rows":1', '"rows":2'), lines[1]])


def test_records_of_one_kind_are_in_order_whoever_wrote_them(tmp_path):
    written = (
        observed(tick=1, after="commit", role="writer", started_s=0, ended_s=1),
        observed(tick=1, after="compaction", role="compactor", started_s=1, ended_s=2),
        end(tick=1),
    )
    assert load_run(write_run(tmp_path / "whole", manifest(), written)).finished
    at_once = {"notes": {"clock": "real"}}
    overlapping = (
        decision(tick=1, role="compactor-1", started_s=0, ended_s=0.4),
        decision(tick=1, role="compactor-2", started_s=0.2, ended_s=0.5),
        written[0],
        observed(tick=1, after="compaction", role="compactor", started_s=0.5, ended_s=2),
    )
    assert load_run(write_run(tmp_path / "live", manifest(**at_once), [*overlapping, end(tick=1)])).finished
    exchanged = write_run(tmp_path / "damaged", manifest(), [written[1], written[0], written[2]])
    with refused("damaged-record", f"{exchanged / EVENTS}, line 2"):
        load_run(exchanged)


@pytest.mark.parametrize(
    ("text", "reason"),
    [("a backup ran\n", "a backup ran"), (" two\nlines ", "two lines"), ("", "no reason was given")],
)
def test_a_run_may_be_marked_as_replaced(run_folder, text, reason):
    assert load_run(run_folder).replaced is None
    (run_folder / REPLACED).write_text(text)
    assert load_run(run_folder).replaced == reason


def test_positions_that_no_run_has_are_known(tmp_path):
    build_results(tmp_path, {"never": None, "every-2min": 2}, 3, 2)
    build_results(tmp_path, {"never": None}, 1, 2, scenario="other")
    folder = tmp_path / "append-small"
    assert missing_positions(load_runs(tmp_path)) == ()
    for position in (1, 2, 5):  # nobody knows of the last one
        shutil.rmtree(folder / f"run-iceberg-00{position}")
    for folders in ([tmp_path], [folder], [tmp_path, folder / "run-iceberg-003"]):
        assert missing_positions(load_runs(*folders)) == ((folder, (1, 2)),)
    assert missing_positions(load_runs(folder / "run-iceberg-003")) == ()  # one run of a suite


def test_records_without_a_manifest_are_a_damaged_run(tmp_path):
    write_run(tmp_path / "scenario" / "whole", manifest(), REPLAYED)
    damaged = write_run(tmp_path / "scenario" / "damaged", manifest(), REPLAYED) / MANIFEST
    damaged.unlink()
    with refused("unreadable", damaged):
        load_runs(tmp_path)


def _load_lines(folder, changed):
    events = folder / EVENTS
    events.write_text("".join(f"{line}\n" for line in changed(events.read_text().splitlines())))
    return load_run(folder)


@pytest.mark.parametrize("version", [3, 6, "5", None])
def test_another_schema_version_is_refused(run_folder, version):
    _change_manifest(run_folder, schema_version=version)
    with refused("another-schema-version", run_folder / MANIFEST):
        load_runs(run_folder)


def test_a_run_that_shared_its_jvm_is_refused(run_folder):
    _change_manifest(run_folder, options={"shared_jvm": True})
    with refused("shared-jvm", run_folder / MANIFEST):
        load_runs(run_folder)


def _change_manifest(folder, **changes):
    path = folder / MANIFEST
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.mark.parametrize("text", ["", "{", "[]", "5", '{"schema_version": 4}', "\ufeff{}"])
def test_a_damaged_manifest_is_named(run_folder, text):
    (run_folder / MANIFEST).write_text(text)
    with refused("damaged-manifest", run_folder / MANIFEST):
        load_runs(run_folder)


@pytest.mark.parametrize(
    "changes",
    [
        {"extra": 1}, {"duration_ms": 0}, {"started_utc": "undated"}, {"query_weights": [1.0, 1.0]},
        {"query_weights": [-1.0] * 60},
    ],
)  # fmt: skip
def test_a_manifest_with_a_key_or_value_that_no_run_writes_is_refused(run_folder, changes):
    _change_manifest(run_folder, **changes)
    with refused("damaged-manifest", run_folder / MANIFEST):
        load_run(run_folder)


def test_a_folder_that_is_missing_or_empty_is_named(tmp_path):
    with refused("no-such-folder", tmp_path / "nowhere"):
        load_runs(tmp_path / "nowhere")
    with refused("no-runs", tmp_path):
        load_runs(tmp_path)


def test_a_folder_of_results_folders_names_them(tmp_path):
    for name in ("mine", "other"):
        build_results(tmp_path / name, {"never": None}, 1, 2)
    with refused("no-runs", tmp_path) as refusal:
        load_runs(tmp_path)
    assert f"{tmp_path / 'mine'}, {tmp_path / 'other'}" in str(refusal.value)


def test_a_run_whose_worker_never_started_is_no_run(run_folder):
    (run_folder.parent / "dead").mkdir()
    (run_folder.parent / "dead" / "log.txt").write_text("Killed")
    assert [run.folder for run in load_runs(run_folder.parent)] == [run_folder]


def test_runs_are_found_from_any_level_and_once(run_folder, tmp_path):
    for folders in [(tmp_path,), (run_folder.parent,), (run_folder,), (tmp_path, run_folder)]:
        assert [run.folder for run in load_runs(*folders)] == [run_folder]


def test_runs_are_ordered_by_scenario_and_id(tmp_path):
    build_results(tmp_path, {"never": None, "b": 1}, repetitions=2, ticks=2)
    build_results(tmp_path, {"never": None}, repetitions=1, ticks=2, scenario="a-first")
    loaded = [(run.manifest.scenario, run.manifest.run_id) for run in load_runs(tmp_path)]
    assert loaded == [("a-first", "run-000"), *(("append-small", f"run-00{n}") for n in range(4))]


@pytest.mark.parametrize(("status", "finished"), [("finished", True), ("failed", False)])
def test_a_run_is_finished_when_its_last_record_says_so(tmp_path, status, finished):
    run = load_run(write_run(tmp_path / "run", manifest(), [commit(), observed(), end(status)]))
    assert run.end is not None
    assert run.finished is finished
    cut_off = dataclasses.replace(run, records=RunRecords.listed([*run.records, commit()]))
    assert (cut_off.end, cut_off.finished) == (None, False)
    assert dataclasses.replace(run, records=RunRecords.listed([])).end is None


def test_a_copy_of_a_run_is_no_repetition_even_if_it_has_lost_a_record(tmp_path):
    records = [commit(), commit(tick=2), observed(tick=2), end(tick=2)]
    folder = write_run(tmp_path / "demo" / "run", manifest(), records)
    assert len(load_runs(tmp_path, folder)) == 1  # the same folder twice
    backup = shutil.copytree(folder, tmp_path / "demo" / "backup")
    with refused("copied-run"):
        load_runs(tmp_path)
    _load_lines(backup, lambda lines: [lines[0], *lines[2:]])
    with refused("copied-run"):
        load_runs(tmp_path)


def test_a_folder_that_cannot_be_listed_is_named(tmp_path, monkeypatch):
    write_run(tmp_path / "demo" / "run", manifest(), [commit(), observed(), end()])
    (tmp_path / "other").mkdir()

    def scandir(path, listed=os.scandir):
        if Path(path).name == "other":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    stored = stored_runs(tmp_path)
    assert len(stored.runs) == 1
    (damage,) = stored.damages
    assert (damage.code, damage.path) == ("unreadable", str(tmp_path / "other"))
