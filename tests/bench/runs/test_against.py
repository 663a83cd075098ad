"""`run --against`: runs of another compactbench, here copies of this one, in one suite with ours."""

import copy
import json
import os
import shutil
import signal
import sys
from pathlib import Path

import pytest
from scenario_builder import SOUND, write

import bench
from bench.cli.main import main
from bench.errors import ScenarioError
from bench.results.folders import load_runs
from bench.results.records import SCHEMA_VERSION, CommitRecord, CompactionRecord
from bench.results.rows import rows
from bench.runs import against
from bench.runs.against import meet, problems, program_at
from bench.runs.facts import facts
from bench.runs.processes import Program
from bench.scenario.scenario import load_scenario
from reports.render import markdown_text

pytestmark = pytest.mark.processes

ROOT = Path(bench.__file__).parents[1]
OWN_HAND = (
    'self._append(f"{record',
    'self._append(f" {record',
)  # each of its records begins with a space
CODE = ("bench", "reports", "strategies", "workloads")


@pytest.fixture
def checkout(tmp_path):
    """A copy of this code, as another checkout has it."""
    made = tmp_path / "elsewhere"
    for name in CODE:
        shutil.copytree(ROOT / name, made / name, ignore=shutil.ignore_patterns("__pycache__", "examples"))
    return made


@pytest.fixture
def demo(tmp_path):
    file = write(tmp_path)
    return {file: load_scenario(file)}


@pytest.fixture
def run(tmp_path, capsys, monkeypatch):
    """`compactbench run` into results/: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
    before = signal.getsignal(signal.SIGTERM)

    def call(*arguments):
        code = main(["run", write(tmp_path), "--out", "results", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    yield call
    signal.signal(signal.SIGTERM, before)


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    return facts({"demo": write(tmp_path_factory.mktemp("ours"))}, [])


def replaced(checkout, file, old, new):
    """Change the code of the other checkout."""
    path = checkout / file
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def test_a_copy_may_stand_beside_its_original(checkout, demo):
    other = meet(checkout, demo, (), "simulated")
    assert other.program.checkout == checkout
    assert other.hashes == {"demo": next(iter(demo.values())).hash}
    assert "variant" in other.program.job_keys


def test_both_run_in_one_suite_and_are_compared_in_pairs(run, checkout, tmp_path, capsys):
    replaced(checkout, "bench/replay/recorder.py", *OWN_HAND)
    # Two of each, so that there are pairs.
    code, out, err = run("--simulate", "--against", "elsewhere", "--repetitions", "2")
    assert code == 0, err
    runs = load_runs(tmp_path / "results")
    labels = {"never", "never @ against", "every-2min", "every-2min @ against"}
    assert {run.manifest.strategy for run in runs} == labels
    assert len(runs) == 8
    assert all(run.finished for run in runs)
    # It is the other code that wrote the other runs.
    for one in runs:
        first = (one.folder / "events.jsonl").read_text()[0]
        assert (first == " ") is one.manifest.strategy.endswith(" @ against")
    by_label = {run.manifest.strategy: run for run in runs}
    mine, theirs = by_label["every-2min"], by_label["every-2min @ against"]
    assert mine.manifest.variant is None
    assert theirs.manifest.variant["label"] == "against"
    assert set(theirs.manifest.variant["set"]) == {"compactbench"}
    for field in ("scenario_hash", "change_log_hash", "suite_id", "strategy_hash"):
        assert getattr(mine.manifest, field) == getattr(theirs.manifest, field)
    for kind in (CommitRecord, CompactionRecord):
        assert [r.added_bytes for r in mine.of(kind)] == [r.added_bytes for r in theirs.of(kind)] != []
    assert [(row.strategy, row.variant, row.runs) for row in rows(runs)] == [
        ("never", None, 2), ("never @ against", "against", 2),
        ("every-2min", None, 2), ("every-2min @ against", "against", 2),
    ]  # fmt: skip
    assert "never @ against" in out
    page = markdown_text(runs)
    assert "against: compactbench =" in page
    assert main(["compare", "results", "--baseline", "every-2min", "--metric", "files_end"]) == 0
    assert "every-2min @ against" in capsys.readouterr().out


def test_resume_makes_what_is_missing_on_either_side(run, checkout, tmp_path):
    assert run("--simulate", "--against", "elsewhere", "--only", "variant=against")[0] == 0
    assert len(load_runs(tmp_path / "results")) == 2
    code, out, _ = run("--simulate", "--against", "elsewhere", "--resume", "--dry-run")
    assert (code, out.splitlines()[-1]) == (0, "2 runs planned; nothing was run")
    assert run("--simulate", "--against", "elsewhere", "--resume")[0] == 0
    assert len(load_runs(tmp_path / "results")) == 4


def test_resume_refuses_runs_of_yet_another_compactbench(run, checkout, tmp_path):
    assert run("--simulate", "--against", "elsewhere", "--only", "strategy=never")[0] == 0
    (theirs,) = (one for one in load_runs(tmp_path / "results") if one.manifest.variant)
    file = theirs.folder / "manifest.json"
    told = theirs.manifest.variant["set"]["compactbench"]
    file.write_text(file.read_text().replace(json.dumps(told), json.dumps("0.0.1")))
    code, _, err = run("--simulate", "--against", "elsewhere", "--resume")
    assert code == 2
    assert f"was made by another compactbench than --against, which is {told}; choose another --out" in err
    assert run("--simulate", "--resume", "--dry-run")[0] == 0  # ours are not concerned


def test_a_run_that_fails_there_fails_alone(run, checkout, tmp_path):
    replaced(
        checkout,
        "bench/replay/loop.py",
        "    def run(self",
        "    def run(self, *_): raise OSError('no')\n    def x(self",
    )
    code, _, err = run("--simulate", "--against", "elsewhere")
    assert code == 1
    ends = {run.manifest.strategy: run.end.status for run in load_runs(tmp_path / "results")}
    assert ends == {
        "never": "finished", "every-2min": "finished",
        "never @ against": "failed", "every-2min @ against": "failed",
    }  # fmt: skip
    assert "never @ against" in err


def test_a_worker_that_cannot_start_there_is_reported(run, checkout):
    (checkout / "bench" / "runs" / "worker.py").write_text("raise SystemExit('not today')\n")
    code, _, err = run("--simulate", "--against", "elsewhere", "--only", "variant=against")
    assert code == 1
    assert "the run could not start: not today" in err


def test_another_version_of_results_is_refused_before_anything_runs(run, checkout, tmp_path):
    replaced(
        checkout,
        "bench/results/records.py",
        f"\nSCHEMA_VERSION = {SCHEMA_VERSION}\n",
        "\nSCHEMA_VERSION = 999\n",
    )
    code, out, err = run("--simulate", "--against", "elsewhere")
    assert (code, out) == (2, "")
    assert "writes results of schema_version 999" in err
    assert f"reads schema_version {SCHEMA_VERSION} only" in err
    assert not (tmp_path / "results").exists()


def test_another_stream_is_refused_before_anything_runs(run, checkout, tmp_path):
    replaced(
        checkout,
        "workloads/append.py",
        "            first_row += rows\n",
        "            first_row += rows + 1\n",
    )
    code, _, err = run("--simulate", "--against", "elsewhere")
    assert code == 2
    assert "it would replay another stream for demo" in err
    assert not (tmp_path / "results").exists()


def test_what_has_no_compactbench_is_refused(demo, tmp_path):
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "empty", tmp_path / "demo.toml", tmp_path / "nowhere"):
        with pytest.raises(
            ScenarioError, match="give a checkout of compactbench, or the Python of an environment"
        ):
            program_at(path)
    bare = tmp_path / "python"
    bare.write_text("#!/bin/sh\necho 'No module named bench' >&2\nexit 1\n")
    bare.chmod(0o755)
    with pytest.raises(
        ScenarioError, match="has no compactbench that this one can ask: No module named bench"
    ):
        meet(bare, demo, (), "real")


@pytest.mark.parametrize(
    "said", ["hello", "[]", "{}", '{"schema_version": 3, "folder": "/x", "version": null}']
)
def test_what_answers_something_else_is_refused(demo, tmp_path, said):
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\ncat > /dev/null\necho '{said}'\n")
    program.chmod(0o755)
    with pytest.raises(ScenarioError, match="has no compactbench that this one can ask: it says"):
        meet(program, demo, (), "real")


def test_a_label_that_the_other_side_would_have_too_is_refused(run, checkout, tmp_path, monkeypatch):
    text = SOUND + '[[strategies]]\nlabel = "never @ against"\n'
    monkeypatch.chdir(tmp_path)
    code = main(["run", write(tmp_path, text, "twice.toml"), "--simulate", "--against", "elsewhere"])
    assert code == 2
    assert not (tmp_path / "results" / "twice").exists()


def test_an_environment_is_named_by_its_folder_or_its_python(tmp_path):
    (tmp_path / "env" / "bin").mkdir(parents=True)
    (tmp_path / "env" / "bin" / "python").symlink_to(sys.executable)
    for path in (tmp_path / "env", tmp_path / "env" / "bin" / "python"):
        assert program_at(path) == Program(tmp_path / "env" / "bin" / "python")


def test_the_import_path_of_the_other_has_its_code_and_not_ours(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), "/plug/ins", ""]))
    assert Program(checkout=tmp_path).environment()["PYTHONPATH"] == f"{tmp_path}{os.pathsep}/plug/ins"
    assert Program().environment()["PYTHONPATH"] == "/plug/ins"
    monkeypatch.delenv("PYTHONPATH")
    assert Program().environment()["PYTHONPATH"] == ""


def test_secrets_stay_out_of_what_the_other_says(demo, tmp_path):
    shouting = tmp_path / "python"
    shouting.write_text("#!/bin/sh\ncat >&2\nexit 1\n")  # repeats the question
    shouting.chmod(0o755)
    with pytest.raises(ScenarioError) as caught:
        meet(shouting, demo, ("spark.password=Zq7planted",), "real")
    assert "Zq7planted" not in str(caught.value)


def changed(ours, change, *path):
    """What the other says if one part of what we say is changed."""
    answer = copy.deepcopy(ours)
    place = answer
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = change
    return answer


def test_the_same_answer_has_no_problems(ours):
    assert json.loads(json.dumps(ours)) == ours
    assert list(problems(ours, ours, "simulated")) == []


@pytest.mark.parametrize(
    ("change", "path", "problem"),
    [
        ({"type": "string"}, ("manifest", "properties", "mood"), "Manifest has the field mood, which is not"),
        ({"type": "array"}, ("manifest", "properties", "seed"), "Manifest.seed may hold array, which is not"),
        (
            {"enum": ["not_due", "later"], "type": "string"},
            ("records", "$defs", "QueryRecord", "properties", "wall_s"),
            "QueryRecord.wall_s may hold 'later', 'not_due', which is not known here",
        ),
        ({"properties": {"kind": {}}}, ("records", "$defs", "MoodRecord"), "MoodRecord is not known here"),
        (["mode", "mood"], ("job", "required"), "need what this compactbench does not tell them: mood"),
        (["never"], ("scenarios", "demo", "strategies"), "it sees other strategies in demo: never"),
        ("other", ("scenarios", "demo", "commits"), "it would replay another stream for demo"),
        ("other", ("scenarios", "demo", "shapes"), "it describes the stream of demo differently"),
        (0, ("schema_version",), "writes results of schema_version 0, and compactbench"),
    ],
)  # fmt: skip
def test_what_would_not_be_comparable_is_said(ours, change, path, problem):
    (found,) = problems(ours, changed(ours, change, *path), "simulated")
    assert problem in found


def test_a_real_run_does_not_go_by_the_details_of_shapes(ours):
    assert list(problems(ours, changed(ours, "other", "scenarios", "demo", "shapes"), "real")) == []


def test_fields_and_values_that_the_other_does_not_have_are_no_problem(ours):
    older = copy.deepcopy(ours)
    del older["manifest"]["properties"]["variant"]
    del older["records"]["$defs"]["CommitRecord"]["properties"]["waited_s"]
    older["job"]["properties"].pop("variant")
    assert list(problems(ours, older, "simulated")) == []


def test_a_job_is_told_only_the_keys_that_the_other_knows(run, checkout, tmp_path):
    replaced(checkout, "bench/runs/jobs.py", "    strategy_index: int | None = None\n", "")
    replaced(checkout, "bench/runs/manifest.py", "        strategy_index=job.strategy_index,\n", "")
    code, _, err = run("--simulate", "--against", "elsewhere", "--only", "variant=against")
    assert code == 0, err
    indexes = {run.manifest.strategy: run.manifest.strategy_index for run in load_runs(tmp_path / "results")}
    assert indexes == {"never @ against": 1, "every-2min @ against": 3}


def test_a_scenario_that_the_other_cannot_read_is_said(demo, checkout):
    replaced(
        checkout,
        "bench/scenario/schema.py",
        "    seed: int = Field(",
        "    sed: int = 0\n    seed: str = Field(",
    )
    with pytest.raises(ScenarioError, match=r"it cannot read the scenario: ScenarioError: .*seed"):
        meet(checkout, demo, (), "real")


def test_the_other_reads_our_file_of_a_shipped_scenario():
    assert against.file_of("quickstart").parent == ROOT / "workloads" / "scenarios"


REAL = (
    SOUND.replace('duration = "10min"', 'duration = "2min"\nwarm_up_rounds = 1')
    + '[spark]\ndriver_memory = "1GiB"\n'
)


@pytest.mark.spark
def test_real_runs_of_both_end_with_the_same_content(checkout, tmp_path, monkeypatch, capsys):
    replaced(checkout, "bench/replay/recorder.py", *OWN_HAND)
    monkeypatch.chdir(tmp_path)
    before = signal.getsignal(signal.SIGTERM)
    try:
        file = write(tmp_path, REAL)
        only = ("--only", "strategy=every-2min")
        assert main(["run", file, "--out", "results", *only, "--against", str(checkout)]) == 0, (
            capsys.readouterr()
        )
    finally:
        signal.signal(signal.SIGTERM, before)
    runs = {run.manifest.strategy: run for run in load_runs(tmp_path / "results")}
    assert set(runs) == {"every-2min", "every-2min @ against"}
    mine, theirs = runs["every-2min"], runs["every-2min @ against"]
    assert mine.manifest.change_log_hash == theirs.manifest.change_log_hash
    assert mine.manifest.scenario_hash == theirs.manifest.scenario_hash
    assert [len(run.of(CompactionRecord)) for run in (mine, theirs)] == [1, 1]
    # It is the other code that wrote the other run.
    assert [(run.folder / "events.jsonl").read_text()[0] for run in (mine, theirs)] == ["{", " "]
