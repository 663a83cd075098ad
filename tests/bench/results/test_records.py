import dataclasses
import errno
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError
from records import commit, compaction, end, maintenance, observed, query, truth
from result_builder import build_results, manifest, write_run

from bench.errors import ResultSchemaError
from bench.replay.recorder import Recorder
from bench.results.folders import load_run, load_runs, stored_runs
from bench.results.records import (
    EVENTS,
    MANIFEST,
    Amount,
    ControlRecord,
    DecisionRecord,
    Int64,
    Moment,
    PhaseRecord,
    Positive,
    QueryRecord,
    Record,
    RoleId,
    WarmUpRecord,
    parse_record,
)
from bench.results.values import Count, Seconds

KINDS = get_args(get_args(Record)[0])
INTEGERS = st.integers(-(2**63), 2**63 - 1)
COUNTS = st.integers(0, 2**53)
SECONDS = st.floats(0, 1e12)
POSITIVE = st.integers(1, 2**63 - 1)
MOMENTS = st.datetimes(datetime(1971, 1, 1), datetime(2999, 1, 1)).map(
    lambda moment: f"{moment.isoformat()}Z"
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


FLOATS = st.floats(allow_nan=False, allow_infinity=False)
VALUES = {
    Moment: MOMENTS, Int64: INTEGERS, Count: COUNTS, Seconds: SECONDS, str: TEXTS, float: FLOATS,
    RoleId: st.sampled_from(["runner", "writer", "compactor-2", "compactor-beside"]),
    list[tuple[Positive, Positive]]: st.lists(st.tuples(POSITIVE, POSITIVE)),
    dict[str, Amount]: st.dictionaries(TEXTS, st.floats(0, 2**53)),
    dict[str, float]: st.dictionaries(TEXTS, FLOATS),
    Mapping[str, Count]: st.dictionaries(TEXTS, COUNTS),
    list[str]: st.lists(TEXTS),
}  # fmt: skip


def records_of(kind):
    """Any record of a kind, or a value that records hold; floats that JSON cannot say are left out."""
    types = get_type_hints(kind, include_extras=True)
    names = kind.model_fields if issubclass(kind, BaseModel) else [field.name for field in fields(kind)]
    return st.builds(kind, **{name: _values(types[name]) for name in names if name != "kind"})


def _values(annotation):
    if type(None) in get_args(annotation):
        (known,) = (part for part in get_args(annotation) if part is not type(None))
        return st.none() | _values(known)
    if annotation in VALUES:
        return VALUES[annotation]
    return records_of(annotation) if is_dataclass(annotation) else st.from_type(annotation)


@given(st.one_of([records_of(kind) for kind in KINDS]))
def test_every_record_is_read_as_it_was_written(record):
    line = record.model_dump_json()
    assert "\n" not in line
    assert parse_record(line.encode()) == record


def test_every_kind_of_record_survives_a_folder(tmp_path):
    step = {"tick": 0, "at_ms": 0, "written_utc": "2026-01-05T09:00:00Z"}
    decision = DecisionRecord(
        **step, status="not_due", strategy="mine", rule=0, trigger="every", planner="never"
    )
    made = [
        PhaseRecord(**step, name="warm_up"), commit(), observed(), query(), ControlRecord(**step), decision,
        compaction(), maintenance(), truth(),
        WarmUpRecord(**step, planner="amoro", round=1, commits_count=5, acted=True), end(),
    ]  # fmt: skip
    assert {type(record) for record in made} == set(KINDS)
    folder = write_run(tmp_path / "run", manifest(description='"ü\n'), made)
    run = load_run(folder)
    assert run.records == tuple(made)
    assert run.manifest == manifest(description='"ü\n')
    assert run.of(QueryRecord) == (made[3],)
    assert run.finished


def test_a_collector_writes_lines_as_they_happen(tmp_path):
    write_run(tmp_path / "run", manifest(), [])
    path = tmp_path / "run" / EVENTS
    with Recorder(path) as recorder:
        recorder.write(commit(tick=1, at_ms=60_000, rows=5))
        (first,) = load_run(tmp_path / "run").records  # before the next, and before it is closed
        recorder.write(commit(tick=2, at_ms=120_000))
    assert (first.rows, first.status) == (5, "ok")
    assert first.written_utc.endswith("Z")
    with Recorder(path) as recorder:  # it appends
        recorder.write(commit(tick=3, at_ms=180_000))
    assert [record.tick for record in load_run(tmp_path / "run").records] == [1, 2, 3]


@pytest.fixture
def run_folder(tmp_path):
    return write_run(tmp_path / "append-small" / "run", manifest(), [commit(), observed(tick=2), end()])


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
    [("tick", 1e30), ("tick", 2**53 + 1), ("tick", -1), ("wall_s", 1e308), ("loop_s", -0.5),
     ("content_bytes", -1), ("file_sizes", [[0, 1]]), ("file_sizes", [[1, 0]])],
)  # fmt: skip
def test_a_number_that_no_run_stores_is_damage(run_folder, field, value):
    events = run_folder / EVENTS
    lines = events.read_text().splitlines()
    lines[-1] = json.dumps(json.loads(lines[-1]) | {field: value})
    events.write_text("\n".join(lines) + "\n")
    with pytest.raises(ResultSchemaError, match=rf"line 3: damaged record \(run\.{field}"):
        load_run(run_folder)


@pytest.mark.parametrize(
    ("strategies", "problem"),
    [
        ({}, "strategies: Input should be"),
        ([5], "strategies.0: Input should be"),
        ([{"label": "never", "rules": [{}]}], "strategies.0.rules.0.trigger: Field required"),
        (
            [{"label": "never", "rules": [{"trigger": {"type": "every"}, "planner": {"type": []}}]}],
            "strategies.0.rules.0.planner.type: Input should be",
        ),
    ],
)
def test_a_manifest_with_strategies_of_no_scenario_is_damaged(run_folder, strategies, problem):
    path = run_folder / MANIFEST
    content = json.loads(path.read_text()) | {"scenario_text": {"strategies": strategies}}
    path.write_text(json.dumps(content))
    with pytest.raises(ResultSchemaError, match=f"{MANIFEST}: scenario_text: {problem}"):
        load_run(run_folder)


VARIANT = {"label": "delta", "set": {"table.format": "delta"}, "versions": None}
IN_VARIANT = {"strategy": "never @ delta", "format": "delta", "variant": VARIANT}


def test_a_manifest_of_a_variant_is_read(run_folder):
    path = run_folder / MANIFEST
    table = {"scenario_text": {"table": {"format": "delta"}}}
    path.write_text(json.dumps(json.loads(path.read_text()) | IN_VARIANT | table))
    assert load_run(run_folder).manifest.variant_label == "delta"


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"format": "hudi", "scenario_text": {"table": {"format": "delta"}}},
         "format: 'hudi', but scenario_text.table.format is 'delta'"),
        ({**IN_VARIANT, "format": "iceberg"},
         "format: 'iceberg', but variant.set.\"table.format\" is 'delta'"),
        ({"scenario_text": {"table": 5}}, "scenario_text: table: Input should be an object"),
        ({**IN_VARIANT, "strategy": "never-d"}, "strategy: 'never-d' is not one of variant 'delta'"),
        ({**IN_VARIANT, "variant": VARIANT | {"label": "zzz"}},
         "strategy: 'never @ delta' is not one of variant 'zzz'"),
        ({**IN_VARIANT, "variant": VARIANT | {"label": "x" * 5000}}, "variant: label: String should match"),
        ({**IN_VARIANT, "variant": {"label": "delta"}}, "variant: set: Field required"),
        ({**IN_VARIANT, "variant": VARIANT | {"set": [1]}}, "variant: set: Input should be an object"),
        ({**IN_VARIANT, "variant": VARIANT | {"versions": {"a": 1}}}, "variant: versions: Input should be"),
        ({**IN_VARIANT, "variant": VARIANT | {"more": 1}}, "variant: more: Extra inputs"),
    ],
)  # fmt: skip
def test_a_manifest_that_contradicts_itself_is_damaged(run_folder, changes, problem):
    path = run_folder / MANIFEST
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(ResultSchemaError) as refusal:
        load_run(run_folder)
    assert str(refusal.value).startswith(f"{path}: {problem}")
    assert str(refusal.value).endswith("; restore the file or delete its run folder")


@pytest.mark.parametrize("kind", KINDS)
def test_a_status_that_no_step_has_is_damage(kind):
    record = {"kind": kind.model_fields["kind"].default, "status": "banana"}
    with pytest.raises(ValidationError, match=r"\.status\n  Input should be '"):
        parse_record(json.dumps(record).encode())


@pytest.mark.parametrize("name", [EVENTS, MANIFEST])
def test_a_folder_in_place_of_a_file_is_named(run_folder, name):
    (run_folder / name).unlink()
    (run_folder / name).mkdir()
    with pytest.raises(ResultSchemaError, match=rf"{name}: cannot be read \(Is a directory\); restore"):
        load_runs(run_folder)


@pytest.mark.parametrize("field", ["duration_ms", "commit_interval_ms"])
def test_a_manifest_without_duration_is_damaged(run_folder, field):
    file = run_folder / MANIFEST
    file.write_text(json.dumps(json.loads(file.read_text()) | {field: 0}))
    with pytest.raises(ResultSchemaError, match=rf"{field}: Input should be greater than 0; restore"):
        load_run(run_folder)


@pytest.mark.parametrize(
    "damage", ["{}", "garbage", '{"kind": "commit"}', '{"kind": "other", "tick": 1}', "[]", '{"kind": "comm']
)
def test_a_damaged_line_names_its_file_and_number(run_folder, damage):
    events = run_folder / EVENTS
    lines = events.read_text().splitlines()
    lines[1] = damage
    events.write_text("\n".join(lines) + "\n")
    with pytest.raises(ResultSchemaError) as caught:
        load_runs(run_folder)
    assert str(caught.value).startswith(f"{events}, line 2: damaged record (")
    assert "--resume" in str(caught.value)


def test_a_damaged_last_line_with_a_newline_was_no_kill(run_folder):
    events = run_folder / EVENTS
    events.write_text(events.read_text() + "garbage\n")
    with pytest.raises(ResultSchemaError, match="line 4: damaged"):
        load_run(run_folder)


def test_bytes_that_are_no_text_are_damage_too(run_folder):
    events = run_folder / EVENTS
    events.write_bytes(b"\xff\xfe\n" + events.read_bytes())
    with pytest.raises(ResultSchemaError, match="line 1: damaged"):
        load_run(run_folder)


@pytest.mark.parametrize("found", [0, 1, 2, 3, 5, "4", None])
def test_another_schema_version_is_refused_with_the_remedy(run_folder, found):
    file = run_folder / MANIFEST
    file.write_text(json.dumps(json.loads(file.read_text()) | {"schema_version": found}))
    with pytest.raises(ResultSchemaError) as caught:
        load_runs(run_folder)
    assert f"{file}: schema_version {found!r}, but this compactbench reads 4" in str(caught.value)
    assert "read it with the version that wrote it" in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[]", "5", '{"schema_version": 4}', "\ufeff{}"])
def test_a_damaged_manifest_is_named(run_folder, text):
    (run_folder / MANIFEST).write_text(text)
    with pytest.raises(ResultSchemaError) as caught:
        load_runs(run_folder)
    assert str(caught.value).startswith(f"{run_folder / MANIFEST}: ")
    assert "attribute" not in str(caught.value)


def test_a_manifest_with_an_unknown_key_is_refused(run_folder):
    file = run_folder / MANIFEST
    file.write_text(json.dumps(json.loads(file.read_text()) | {"extra": 1}))
    with pytest.raises(ResultSchemaError, match="extra"):
        load_run(run_folder)


def test_a_folder_that_is_missing_or_empty_says_what_to_do(tmp_path):
    with pytest.raises(ResultSchemaError, match="no such folder; name one that `compactbench run` wrote"):
        load_runs(tmp_path / "nowhere")
    with pytest.raises(
        ResultSchemaError, match="contains no runs; create some with `compactbench run SCENARIO --out"
    ):
        load_runs(tmp_path)


def test_a_folder_of_results_folders_names_them(tmp_path):
    for name in ("mine", "other"):
        build_results(tmp_path / name, {"never": None}, 1, 2)
    with pytest.raises(ResultSchemaError) as refused:
        load_runs(tmp_path)
    found = f"{tmp_path / 'mine'}, {tmp_path / 'other'}"
    assert f"contains no runs itself; results folders in it: {found}; name one of them" in str(refused.value)


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
    cut_off = dataclasses.replace(run, records=(*run.records, commit()))
    assert (cut_off.end, cut_off.finished) == (None, False)
    assert dataclasses.replace(run, records=()).end is None


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        ("manifest.json", "2026-01-05T08:58:00Z", "undated", "started_utc"),
        ("manifest.json", '"variant": null', '"variant": {"set": {}}', "variant"),
        ("events.jsonl", '"wall_s": 1.0', '"wall_s": NaN', "wall_s"),
        ("events.jsonl", '"wall_s": 1.0', '"wall_s": Infinity', "wall_s"),
        ("events.jsonl", '"status": "finished"', '"status": "over"', "status"),
    ],
)
def test_what_no_run_writes_is_one_error_that_names_it(tmp_path, file, old, new, told):
    folder = write_run(
        tmp_path / "run",
        manifest(started_utc="2026-01-05T08:58:00Z"),
        [query(1.0), commit(), observed(), end()],
    )
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1))
    with pytest.raises(ResultSchemaError, match=rf"{file}.*{told}"):
        load_run(folder)


def test_a_copy_of_a_run_is_no_repetition(tmp_path):
    folder = write_run(tmp_path / "demo" / "run", manifest(), [commit(), observed(), end()])
    assert len(load_runs(tmp_path, folder)) == 1  # the same folder twice
    shutil.copytree(folder, tmp_path / "demo" / "backup")
    with pytest.raises(ResultSchemaError, match="are copies of one run, which would count twice"):
        load_runs(tmp_path)


def test_a_copy_that_has_lost_a_record_is_no_repetition_either(tmp_path):
    records = [commit(), commit(tick=2), observed(), end()]
    folder = write_run(tmp_path / "demo" / "run", manifest(), records)
    copy = shutil.copytree(folder, tmp_path / "demo" / "backup") / EVENTS
    copy.write_text("".join(copy.read_text().splitlines(keepends=True)[1:]))
    with pytest.raises(ResultSchemaError, match="are copies of one run"):
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
    assert str(stored.damages[0]).startswith(
        f"{tmp_path / 'other'}: cannot be listed (Permission denied), so "
    )
