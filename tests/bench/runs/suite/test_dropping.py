from types import SimpleNamespace

import pytest
from records import commit, end, observed
from refused import refused
from result_builder import manifest, write_run
from scenario_builder import load

from bench.engines.journal import Journal
from bench.errors import EngineError, ScenarioError
from bench.results.folders import load_run, load_runs
from bench.runs.jobs import DropJob, SentScenario
from bench.runs.settings import NAMESPACE_NOTES, STAGING_NOTES
from bench.runs.suite import suite
from bench.runs.suite.dropping import TABLES, drop_left_by, left_by
from bench.runs.worker import main
from bench.runs.worker.main import drop_noted


def left(folder, name, *records, **changes):
    """A run that has left a namespace."""
    made = write_run(folder / "demo" / name, manifest(run_id=name, **changes), list(records))
    Journal(made / NAMESPACE_NOTES).note(f"bench_{name}")
    return made


def unwanted(folder):
    return [run.folder.name for run in load_runs(folder) if left_by(run.folder, kept_too=False)]


def test_what_is_unwanted_was_not_to_be_kept(tmp_path):
    left(tmp_path, "interrupted", commit())
    left(tmp_path, "finished", commit(), observed(), end())  # and could not drop its tables
    write_run(tmp_path / "demo" / "clean", manifest(run_id="clean"), [commit()])
    (left(tmp_path, "kept", commit()) / TABLES).mkdir()
    assert unwanted(tmp_path) == ["finished", "interrupted"]


def test_staged_files_are_never_to_be_kept(tmp_path, monkeypatch):
    run = left(tmp_path, "kept", commit())
    (run / TABLES).mkdir()
    Journal(run / STAGING_NOTES).note("staged files")
    assert unwanted(tmp_path) == ["kept"]
    assert left_by(run, kept_too=False) == ["staged files"]
    assert left_by(run) == ["bench_kept", "staged files"]
    asked = []
    monkeypatch.setattr(main, "engine_kind", lambda *of: SimpleNamespace(drop_left=asked.append))
    catalog = {"properties": {"type": "hadoop", "warehouse": "file:///nowhere"}}
    scenario = load(tmp_path, catalog=catalog, spark={"staging": "file:///nowhere"})
    for tables_too in (False, True):
        drop_noted(scenario, job_for(run, tables_too=tables_too))
    without, with_tables = asked
    assert without.catalog.journal is None
    assert with_tables.catalog.journal == Journal(run / NAMESPACE_NOTES)
    assert without.spark.staging_journal == with_tables.spark.staging_journal == Journal(run / STAGING_NOTES)


def job_for(run_folder, *, tables_too):
    return DropJob(
        scenario=SentScenario(file="demo.toml", document={}, variant=None), run_folder=run_folder,
        work_folder=run_folder, tables_too=tables_too,
    )  # fmt: skip


def test_a_note_that_no_run_of_the_scenario_can_have_left_is_named(tmp_path):
    run = load_run(left(tmp_path, "mine", commit()))
    with refused("no-catalog", run.folder / NAMESPACE_NOTES):
        drop_left_by(run, load(tmp_path), tmp_path / "work")
    assert left_by(run.folder) == ["bench_mine"]
    assert not (tmp_path / "work").exists()


def test_the_notes_of_a_renamed_folder_are_not_trusted(tmp_path):
    run = load_run(left(tmp_path, "mine", commit()).rename(tmp_path / "demo" / "prod"))
    with refused("copied-run", run.folder):
        drop_left_by(run, load(tmp_path), tmp_path / "work")


class Warned:
    def __init__(self):
        self.texts = []

    def dropping(self, run, left):
        pass

    def warned(self, text):
        self.texts.append(text)


def test_a_run_whose_tables_cannot_be_dropped_keeps_no_other(tmp_path, monkeypatch):
    for name in ("a", "b"):
        left(tmp_path, name, commit(), scenario="demo")
    tried, watcher = [], Warned()

    def drop(run, scenario, work_folder, *, kept_too):
        assert not kept_too
        tried.append(run.folder.name)
        if run.folder.name == "a":
            raise EngineError("bench_a: the catalog does not answer", code="test")

    monkeypatch.setattr(suite, "drop_left_by", drop)
    suite.drop_left(load_runs(tmp_path), [load(tmp_path)], tmp_path, watcher)
    assert tried == ["a", "b"]
    assert watcher.texts == ["bench_a: the catalog does not answer"]


def test_the_last_line_of_a_worker_says_what_could_not_be_dropped(capsys):
    def fails():
        raise EngineError("bench_a: no catalog\nat org.apache.Catalog", code="test")

    with pytest.raises(SystemExit) as ended:
        main._or_reason(fails)
    assert ended.value.code == "bench_a: no catalog"


def test_a_variant_that_a_scenario_does_not_have_is_named(tmp_path):
    with pytest.raises(ScenarioError, match="has no variant 'v3'"):
        load(tmp_path).in_variant("v3")
