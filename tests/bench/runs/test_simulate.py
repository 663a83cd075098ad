"""`run --simulate` from the command line on, in this process: it needs no Java."""

import json
import os
import resource
import subprocess
import sys
from functools import partial

import pytest
import tomlkit
from coefficients import shipped_with
from histories import commit as history_commit
from histories import data, positions, written
from records import commit, end, observed
from refused import printed_codes
from result_builder import manifest, write_run
from scenario_builder import SOUND, maintenance, toml, write

from bench.cli.main import main
from bench.engines.iceberg.model.coefficients import IcebergCoefficients
from bench.engines.iceberg.model.table import IcebergTableModel
from bench.engines.simulated.costs import shipped_file
from bench.engines.simulated.engine import SimulatedEngine
from bench.engines.simulated.live_rows import LiveRows
from bench.errors import MissingRuntimeError
from bench.results.folders import load_runs
from bench.results.records import (
    CommitRecord,
    CompactionRecord,
    DecisionRecord,
    MaintenanceRecord,
    PhaseRecord,
    QueryRecord,
)
from bench.results.rows import run_figures
from bench.runs.preflight import checks
from bench.runs.suite import suite
from bench.scenario.load import load_scenario
from reports.data.group import run_groups
from reports.page.render import markdown_text
from reports.verdicts.unmodelled import unmodelled
from workloads.schema import SCHEMAS

FEW = ("--set", "duration=4min")
FILTERED = (
    '{ trigger = { type = "every", interval = "2min" }, '
    'planner = { type = "iceberg.rewrite_data_files", where = "user_id = 1" } }'
)


@pytest.fixture(autouse=True)
def no_java(monkeypatch):
    """A machine without Java: whoever asks for it fails."""

    def missing(*asked):
        raise MissingRuntimeError("no Java here", code="test")

    monkeypatch.setattr(checks.runtime, "java_home", missing)
    monkeypatch.setattr(checks.runtime, "jars", missing)


@pytest.fixture
def simulate(tmp_path, capsys, monkeypatch):
    """`compactbench run --simulate` of the sound scenario into results/: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))  # planners of the working folder append to it

    def call(*arguments, scenario=None):
        code = main(["run", scenario or write(tmp_path), "--simulate", "--out", "results", *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def results(tmp_path):
    """What `simulate` has made so far, by strategy."""
    return lambda: {run.manifest.strategy: run for run in load_runs(tmp_path / "results")}


def test_quickstart_is_simulated_from_end_to_end(simulate, results, tmp_path, capsys):
    code, out, err = simulate(scenario="quickstart")
    assert code == 0
    assert "quickstart: append on iceberg, simulated" in out
    labels = ["never", "every-1min", "every-4min"]
    table, answer = out.split("\n\n")
    assert [line.split()[0] for line in table.splitlines() if line.startswith(tuple(labels))] == labels
    assert answer.startswith("As modelled, no strategy stands out. ")
    assert "FAILED" not in err
    made = results()
    assert sorted(made) == sorted(labels)  # one run each, whatever the scenario's repetitions
    for run in made.values():
        assert (run.manifest.mode, run.manifest.repetition, run.finished) == ("simulated", 1, True)
        assert len(run.of(CommitRecord)) == 8
        assert not run.of(PhaseRecord)
        assert run.manifest.notes["times"] == "modelled"
        assert run.manifest.options["coefficients"]["format"] == "iceberg"
        assert run.manifest.options["cores"] == {"writer": 2, "compactor": 2, "reader": 2}
        assert "java" not in run.manifest.versions
        assert "--simulate" in run.manifest.command
        assert run.end.measured_s == run.end.observe_s == 0.0
        assert run.end.own_s == run.end.loop_s > 0
    rounds = {label: len(run.of(CompactionRecord)) for label, run in made.items()}
    assert rounds == {"never": 0, "every-1min": 8, "every-4min": 2}
    # Apart from the results nothing is left but the lock.
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == [".lock", "quickstart"]
    assert main(["show", "results", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["strategy"], row["mode"], row["runs"]) for row in rows] == [
        (label, "simulated", 1) for label in labels
    ]


def test_readers_who_ask_at_a_changing_rate_weight_the_means(simulate, results, tmp_path, capsys):
    """Of ten minutes every other one has three times the queries of the one before."""
    bursts = {"type": "bursts", "every": "2min", "length": "1min", "factor": 3.0}
    scenario = write(tmp_path, SOUND + f"[queries]\narrival = {toml(bursts)}\n")
    code, _, err = simulate(scenario=scenario)
    assert code == 0, err
    assert main(["compare", "results", "--baseline", "never"]) == 0
    assert "readers ask at a changing rate (queries.arrival)" in capsys.readouterr().out
    for run in results().values():
        settled = [
            query
            for query in run.of(QueryRecord)
            if query.primary and query.when == "settled" and query.session == "long-lived"
        ]
        weighted = sum(query.cost.wall_s * (1.5 if query.tick % 2 else 0.5) for query in settled)
        assert len(settled) == 10
        assert run_figures(run)["query_mean_s"] == pytest.approx(weighted / 10)
        assert run.manifest.notes["queries"] == "at a changing rate"


def test_a_narrow_table_is_simulated_with_the_probes_it_has_columns_for(simulate, results, tmp_path):
    assert simulate(*FEW, "--set", "workload.columns=3")[0] == 0
    run = results()["every-2min"]
    assert {record.probe for record in run.of(QueryRecord)} == {"min_order", "key_lookup"}
    # By workloads/schema.py: 8 files of 10 rows with 1,315 bytes, less 19 for dates of a minute.
    added_bytes = round(3 * IcebergCoefficients.read().data.bytes_per_column)
    assert {r.change.added_bytes for r in run.of(CommitRecord)} == {8 * (1_296 + added_bytes)}
    assert (
        run.of(CompactionRecord)[0].change.added_bytes
        == SCHEMAS[3].dated(wide=False).expected_bytes(160) + added_bytes
    )
    page = markdown_text(load_runs(tmp_path / "results"))
    for words, is_there in (("key_lookup", True), ("aggregate", False), ("nothing was measured", True)):
        assert (words in page) is is_there, words


DELAYED = """
from dataclasses import dataclass

from strategies.plan import FileGroup, Plan, Reason, Rewrite


@dataclass(frozen=True)
class Oldest:
    files: int

    def decide(self, state):
        busy = frozenset().union(*(pending.paths for pending in state.pending))
        free = [file.path for file in state.data_files if file.path not in busy]
        group = FileGroup(tuple(free[: self.files]))
        return Plan((Rewrite((group,), state.target_file_size_bytes),), Reason.OTHER) if free else None
"""
BY_NAME = """
[[strategies]]
label = "delayed"
[[strategies.rules]]
trigger = { type = "after_commits", commits = 1 }
planner = { type = "delayed_oldest:Oldest", files = 12 }
"""


@pytest.fixture
def delayed(tmp_path):
    """A scenario whose compactions name their files and commit 90 s later; they overlap."""
    (tmp_path / "delayed_oldest.py").write_text(DELAYED)
    start = SOUND.index("[table]")
    head, tail = SOUND[:start], SOUND[start : SOUND.index("[[strategies]]")]
    return write(tmp_path, f'{head}compaction_delay = "90s"\n{tail}{BY_NAME}', "delayed.toml")


VARIANTS = """
[[variants]]
label = "small"
set = { table = { target_file_size = "4KiB" } }
[[variants]]
label = "city"
set = { table = { partitioning = "city" } }
"""


def test_variants_are_simulated_in_one_suite_and_compared(simulate, results, tmp_path, capsys):
    assert simulate(*FEW, scenario=write(tmp_path, SOUND + VARIANTS, "varied.toml"))[0] == 0
    made = results()
    labels = [
        f"{label}{within}" for label in ("never", "every-2min") for within in ("", " @ small", " @ city")
    ]
    assert set(made) == set(labels)
    assert {run.manifest.scenario_hash for run in made.values()} == {made["never"].manifest.scenario_hash}
    assert {run.manifest.change_log_hash for run in made.values()} == {made["never"].manifest.change_log_hash}
    assert made["never"].manifest.variant is None
    assert made["never @ small"].manifest.variant == {
        "label": "small", "set": {"table.target_file_size": "4KiB"},
    }  # fmt: skip
    assert made["never @ small"].manifest.target_file_size_bytes == 4096
    # Of files of 6 KB none is too small for a target of 4 KiB.
    first = [made[label].of(CompactionRecord)[0] for label in ("every-2min", "every-2min @ small")]
    assert [(record.status, record.change.files_added_count) for record in first] == [("ok", 1), ("noop", 0)]
    assert made["never @ city"].of(CommitRecord)[0].change.files_added_count > 8
    assert main(["show", "results", "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["strategy"], row["variant"]) for row in shown] == [
        (label, label.partition(" @ ")[2] or None) for label in labels
    ]
    assert main(["compare", "results", "--baseline", "every-2min", "--metric", "files_end"]) == 0
    assert "every-2min @ small" in capsys.readouterr().out
    page = markdown_text(load_runs(tmp_path / "results"))
    assert 'small: table.target_file_size = "4KiB"' in page.replace("\\", "")
    out = simulate(*FEW, "--resume", "--dry-run", scenario=str(tmp_path / "varied.toml"))[1]
    assert out.startswith("0 runs")


def test_of_a_scenario_with_a_variant_that_is_not_modelled_the_rest_is_simulated(simulate, results):
    code, _, err = simulate(*FEW, scenario="executor-cache")
    assert (code, printed_codes(err)) == (2, ["no-effect"])
    assert simulate(*FEW, "--only", "variant=base", scenario="executor-cache")[0] == 0
    assert sorted(results()) == ["never", "spark-4min-deletes"]


def test_delayed_rewrites_commit_when_they_are_due(simulate, results, delayed):
    assert simulate(scenario=delayed)[0] == 0
    made = results()["delayed"].of(CompactionRecord)
    ended = [(record.tick, record.scheduled_at_ms, record.status) for record in made]
    # Planned at each commit and due 90 s later, so they end at the next but one; the last two at the end.
    assert ended == [(min(n + 2, 10), 60_000 * n, "ok") for n in range(1, 11)]
    assert [record.change.files_removed_count for record in made[:3]] == [8, 8, 8 + 1]


def made_in(folder):
    """The records of each run, without what the moment they were made has to do with."""
    moment = {"written_utc", "loop_s", "own_s", "records_sha256"}
    return {
        run.manifest.strategy: [record.model_dump(exclude=moment) for record in run.records]
        for run in load_runs(folder)
    }


@pytest.mark.parametrize(("name", "runs_count"), [("quickstart", 3), ("delayed", 1), ("changes", 3)])
def test_two_simulations_are_the_same_but_for_their_moment(simulate, delayed, tmp_path, name, runs_count):
    scenario = {"delayed": delayed, "changes": write(tmp_path, CHANGES)}.get(name, name)
    for out in ("first", "second"):
        assert simulate("--out", out, scenario=scenario)[0] == 0
    first, second = made_in(tmp_path / "first"), made_in(tmp_path / "second")
    assert first == second
    assert len(first) == runs_count
    assert all(len(records) > 8 for records in first.values())


@pytest.mark.parametrize(
    "name",
    ["append-bursts-partitions", "append-layered", "append-only", "append-traffic", "example", "trust"],
)
def test_shipped_scenarios_can_be_simulated(simulate, results, name):
    scenario = load_scenario(name)
    # Their first minutes: enough for a compaction, and quick.
    code, _, err = simulate("--set", f"duration={12 * scenario.commit_interval_ms}ms", scenario=name)
    assert code == 0, err
    assert all(run.finished for run in results().values())
    assert len(results()) == len(scenario.strategies)


def test_real_and_simulated_runs_share_a_folder_and_leave_each_other_alone(
    simulate, results, tmp_path, capsys
):
    scenario = load_scenario(write(tmp_path))
    never = scenario.strategies[0]
    fields = {"scenario": scenario.name, "scenario_hash": scenario.hash, "strategy_hash": never.hash}
    real = tmp_path / "results" / scenario.name / "real-never"
    write_run(real, manifest("never", **fields), [commit(), observed(), end()])
    code, out, _ = simulate("--dry-run")  # the real run is no earlier one of these
    assert (code, out.splitlines()[-1]) == (0, "2 runs planned; nothing was run")
    code, out, _ = simulate()
    assert (code, "simulated" in out, "iceberg, real" in out) == (0, True, False)
    code, out, err = simulate()
    assert code == 2
    assert "already contains 2 runs: add --resume" in err
    code, out, _ = simulate("--resume", "--dry-run")
    assert (code, out) == (0, "0 runs planned; nothing was run\n")
    assert main(["run", write(tmp_path), "--out", "results", "--dry-run"]) == 2
    assert "already contains 1 run" in capsys.readouterr().err
    assert main(["run", write(tmp_path), "--out", "results", "--dry-run", "--resume"]) == 0
    assert "1 run planned; nothing was run" in capsys.readouterr().out  # every-2min
    assert main(["show", "results", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["strategy"], row["mode"]) for row in rows] == [
        ("never", "real"), ("never", "simulated"), ("every-2min", "simulated"),
    ]  # fmt: skip


def test_more_repetitions_are_made_when_asked_for(simulate, results, tmp_path):
    assert simulate("--repetitions", "2", *FEW)[0] == 0
    assert len(load_runs(tmp_path / "results")) == 4


def test_a_dry_run_says_simulated_and_writes_nothing(simulate, tmp_path):
    code, out, err = simulate("--dry-run")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == "  1. demo never #1: 10 commits, no compaction; simulated"
    assert not (tmp_path / "results").exists()


def test_coefficients_of_ones_own_are_used_and_recorded(simulate, results, tmp_path):
    old = "[operations.noop.wall]\n"
    file = shipped_with(tmp_path, old, f"{old}s_per_delete_file = 7.0\n")
    assert simulate("--coefficients", str(file), *FEW)[0] == 0
    stored = results()["never"].manifest
    assert stored.options["coefficients"]["operations"]["noop"]["wall"]["s_per_delete_file"] == 7.0
    assert f"--coefficients {file}" in stored.command


def test_a_warm_jvm_takes_less_cpu_for_the_same_files(simulate, tmp_path):
    cold, warm = (
        load_runs(tmp_path / name)
        for name, settings in (("cold", ()), ("warm", ("--set", "jvm=warm")))
        if simulate("--out", str(tmp_path / name), *settings)[0] == 0
    )
    for one, other in zip(cold, warm, strict=True):
        assert other.manifest.notes["jvm"] == "warm"
        commits, warm_commits = one.of(CommitRecord), other.of(CommitRecord)
        assert (warm_commits.column("cpu_s") < commits.column("cpu_s")).all()
        assert (warm_commits.column("added_bytes") == commits.column("added_bytes")).all()


def test_a_query_beside_a_compaction_is_slower_on_shared_cores(simulate, tmp_path):
    """Commits come so often that each is made while the compaction before it runs."""
    settings = ("--set", "clock=real", "--set", "commit_interval=2s", "--set", "duration=40s")
    own, shared = (
        {run.manifest.strategy: run for run in load_runs(tmp_path / name)}
        for name, more in (("own", ()), ("shared", ("--set", "resources.shared_cores=1")))
        if simulate("--out", str(tmp_path / name), *settings, *more)[0] == 0
    )
    for label, run in own.items():
        assert (run.manifest.notes["cores"], shared[label].manifest.notes["cores"]) == (
            "of each role",
            "shared",
        )
        kinds = (CommitRecord, CompactionRecord, QueryRecord)
        alone, beside = (
            [one.of(kind).column("wall_s").sum() for kind in kinds] for one in (run, shared[label])
        )
        assert all(beside_s >= alone_s * 0.999 for alone_s, beside_s in zip(alone, beside, strict=True))
        if len(run.of(CompactionRecord)):
            assert beside[2] > alone[2] * 1.1


def test_faster_cores_take_less_time_for_the_same_files(simulate, tmp_path):
    one, fast = (
        sorted(load_runs(tmp_path / name), key=lambda run: run.manifest.strategy)
        for name, settings in (("one", ()), ("fast", ("--set", "resources.core_speed=2")))
        if simulate("--out", str(tmp_path / name), "--set", "jvm=warm", *settings)[0] == 0
    )
    for slow_run, fast_run in zip(one, fast, strict=True):
        assert fast_run.manifest.notes["core_speed"] == "given"
        for kind in (CommitRecord, QueryRecord, CompactionRecord):
            slow, quick = slow_run.of(kind), fast_run.of(kind)
            for field in ("wall_s", "cpu_s"):
                assert quick.column(field) == pytest.approx(slow.column(field) / 2)
        queries, quick_queries = (run.of(QueryRecord) for run in (slow_run, fast_run))
        assert quick_queries.column("planning_s") == pytest.approx(queries.column("planning_s") / 2)
        added = (run.of(CommitRecord).column("added_bytes") for run in (slow_run, fast_run))
        assert len({tuple(own) for own in added}) == 1


@pytest.mark.parametrize(
    ("arguments", "place", "error"),
    [
        (["--keep-tables"], "--keep-tables and --simulate", "exclusive"),
        (["--verify", "each"], "--verify each and --simulate", "exclusive"),
        (["--coefficients", "none.toml"], "none.toml", "unreadable"),
        (["--coefficients", "bad.toml"], "bad.toml: data.serial_m", "invalid"),
        (["--only", "strategy=nver"], "--only strategy=nver", "unknown-name"),
    ],
)
def test_what_cannot_be_simulated_is_refused_before_anything_is_written(
    simulate, tmp_path, arguments, place, error
):
    shipped_with(tmp_path, "[data]", "[data]\nserial_m = 1.0").rename(tmp_path / "bad.toml")
    code, out, err = simulate(*arguments)
    assert (code, out, printed_codes(err)) == (2, "", [error])
    assert err.startswith(f"error: {place}: ")
    assert not any((tmp_path / "results").rglob("manifest.json"))


def test_coefficients_are_for_simulation_alone(tmp_path, capsys):
    file = shipped_with(tmp_path, "[data]", "[data]")
    assert main(["run", write(tmp_path), "--coefficients", str(file), "--out", str(tmp_path / "out")]) == 2
    assert printed_codes(capsys.readouterr().err) == ["exclusive"]
    assert not (tmp_path / "out").exists()


def test_a_full_disk_fails_the_runs_it_meets_and_keeps_what_is_there(
    simulate, results, tmp_path, file_size_limit
):
    assert simulate("--only", "strategy=never")[0] == 0
    before = results()["never"]
    file_size_limit((before.folder / "manifest.json").stat().st_size + 500)
    code, _, err = simulate("--resume")
    assert code == 1
    (told,) = (line for line in err.splitlines() if "FAILED" in line)
    assert "OSError: [Errno 27]" in told
    assert "File too large" in told
    assert list(results()["never"].records) == list(before.records)
    file_size_limit(resource.RLIM_INFINITY)
    assert simulate("--resume")[0] == 0
    ends = [run.end for run in load_runs(tmp_path / "results") if run.manifest.strategy == "every-2min"]
    assert sorted(end.status if end else "cut off" for end in ends) == ["failed", "finished"]


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (
            "raise ZeroDivisionError('of its own')",
            "ZeroDivisionError: of its own (rule 1 of strategy broken)",
        ),
        (r"raise ValueError('\ud800')", r"ValueError: \ud800 (rule 1 of strategy broken)"),
        pytest.param(
            "raise ValueError('long ' * 20_000)",
            f"{('ValueError: ' + 'long ' * 20_000)[:10_000]}... (the rest is in log.txt)",
            id="long",
        ),
        (
            "from strategies.plan import Plan, Reason; return Plan((), Reason.OTHER)",
            "a plan needs at least one action; return None to do nothing (rule 1 of strategy broken); "
            "correct the planner",
        ),
        (
            "from strategies.plan import Compact, Plan, Reason; "
            r"return Plan((Compact(),), Reason.OTHER, '\ud800')",
            "EngineError: cannot store a DecisionRecord",
        ),
    ],
)
def test_a_planner_that_fails_makes_a_failed_run_and_the_others_go_on(
    simulate, results, tmp_path, monkeypatch, failure, error
):
    monkeypatch.delitem(sys.modules, "broken", raising=False)
    (tmp_path / "broken.py").write_text(
        "from dataclasses import dataclass\n\n@dataclass(frozen=True)\nclass Broken:\n"
        f"    def decide(self, state):\n        {failure}\n"
    )
    broken = (
        '[[strategies]]\nlabel = "broken"\n[[strategies.rules]]\n'
        'trigger = { type = "after_commits", commits = 2 }\nplanner = { type = "broken:Broken" }\n'
        '[[strategies]]\nlabel = "last"\n'
    )
    code, _, err = simulate(scenario=write(tmp_path, SOUND + broken))
    assert code == 1
    assert "broken #1" in err
    assert f"FAILED: {error}" in " ".join(err.split())
    failed = results()["broken"]
    assert failed.end.status == "failed"
    assert failed.end.error.startswith(error)
    assert "Traceback" in (failed.folder / "log.txt").read_text()
    assert str(failed.folder / "log.txt") in err
    assert results()["last"].finished


def test_a_planner_is_told_what_compactions_cost_by_the_coefficients_of_the_run(
    simulate, results, tmp_path, monkeypatch
):
    monkeypatch.delitem(sys.modules, "asking", raising=False)
    (tmp_path / "asking.py").write_text(
        "from dataclasses import dataclass\nfrom strategies.planner import Answer\n"
        "@dataclass(frozen=True)\n"
        "class Asking:\n    def decide(self, state):\n"
        "        return Answer(None, None, {'fixed_s': state.cost_priors[state.executor].fixed_cpu_s})\n"
    )
    asking = (
        '[[strategies]]\nlabel = "asking"\n[[strategies.rules]]\n'
        'trigger = { type = "after_commits", commits = 2 }\nplanner = { type = "asking:Asking" }\n'
    )
    rewrite = "[operations.rewrite.driver]\ns = "
    dearer = shipped_with(tmp_path, rewrite, f"{rewrite}1")  # 10 s and some
    code, _, _ = simulate(
        "--coefficients", str(dearer), "--only", "strategy=asking", *FEW,
        scenario=write(tmp_path, SOUND + asking),
    )  # fmt: skip
    figures = [decision.figures for decision in results()["asking"].of(DecisionRecord) if decision.figures]
    assert (code, len(figures)) == (0, 2)
    assert all(told["fixed_s"] == pytest.approx(10.132, abs=0.01) for told in figures)


def test_a_run_without_a_manifest_is_told_in_one_line(simulate, tmp_path, monkeypatch):
    def gone(load_before_suite):
        raise OSError("the disk is gone")

    monkeypatch.setattr("bench.runs.worker.provenance.machine", gone)
    code, _, err = simulate()
    assert code == 1
    assert "the run could not start: OSError: the disk is gone" in " ".join(err.split())
    (log,) = (tmp_path / "results").glob("*/*/log.txt")
    assert "Traceback" in log.read_text()


def jam(*arguments):
    raise RuntimeError("the catalog does not answer")


def test_a_table_with_too_few_rows_fails_its_run_whatever_the_clean_up_meets(simulate, results, monkeypatch):
    outputs = IcebergTableModel._outputs
    monkeypatch.setattr(IcebergTableModel, "_outputs", lambda *args: list(outputs(*args))[1:])
    monkeypatch.setattr(SimulatedEngine, "drop", jam)
    assert simulate(*FEW)[0] == 1
    assert results()["never"].finished
    assert results()["every-2min"].end.error == (
        "EngineError: after commit 4 the simulated table has 0 rows, not 320"
    )
    assert simulate(*FEW, "--verify", "off", "--out", "unchecked")[0] == 0


CHANGES = (
    SOUND[: SOUND.index("[workload]")]
    + """
[workload]
type = "upsert"
rows_per_commit = 400
files_per_commit = 4
initial_rows = 400000
repeat_share = 0.05
[[strategies]]
label = "never"
[[strategies]]
label = "amoro"
rules = [{ trigger = { type = "every", interval = "1min" }, planner = { type = "amoro" } }]
[[strategies]]
label = "threshold"
[[strategies.rules]]
trigger = { type = "every", interval = "2min" }
planner = { type = "iceberg.rewrite_data_files", options = { "delete-file-threshold" = 6 } }
"""
)


def test_a_stream_of_changes_is_simulated_under_each_kind_of_strategy(simulate, results, tmp_path):
    code, _, err = simulate(scenario=write(tmp_path, CHANGES))
    assert code == 0, err
    never, amoro, threshold = (results()[label] for label in ("never", "amoro", "threshold"))
    commits = [record for record in never.of(CommitRecord) if not record.is_initial]
    # Of each of ten commits four writers write a data file and an equality-delete file, some a third.
    assert {record.change.files_added_count for record in commits} == {4}
    assert all(4 < record.change.delete_files_added_count <= 8 for record in commits)
    probes = [q for q in never.of(QueryRecord) if q.primary and q.when == "settled" and q.session == "new"]
    assert [q.work.delete_files_count for q in probes] == sorted({q.work.delete_files_count for q in probes})
    converted = [record for record in amoro.of(CompactionRecord) if record.status == "ok"]
    assert {record.reason for record in converted} >= {"small_files"}
    assert last_probe(amoro).work.delete_files_count < last_probe(never).work.delete_files_count / 10
    assert [record.status for record in threshold.of(CompactionRecord)] == ["ok"] * 5
    assert last_probe(threshold).work.delete_files_count == 0
    assert never.manifest.options["upsert_mode"] == "equality-delete"


def last_probe(run):
    return [query for query in run.of(QueryRecord) if query.primary][-1]


OF_ROWS = SOUND + f'[[strategies]]\nlabel = "filtered"\nrules = [{FILTERED}]\n'
MERGING = CHANGES.replace('label = "never"', 'label = "never"\nwriter.upsert_mode = "merge-on-read"')
OF_VECTORS = CHANGES.replace("[table]", "[table]\nformat_version = 3").replace('"amoro" }', '"never" }')


@pytest.mark.parametrize(
    ("need", "text"),
    [
        ("row_filter (where)", OF_ROWS),
        ("vectors (table.format_version)", OF_VECTORS),
    ],
)
def test_what_the_simulated_engine_does_not_support_is_refused_before_anything_runs(
    simulate, tmp_path, need, text
):
    code, _, err = simulate(scenario=write(tmp_path, text))
    assert (code, printed_codes(err)) == (2, ["unsupported"])
    assert f"needs {need}" in err
    assert list((tmp_path / "results").iterdir()) == [tmp_path / "results" / ".lock"]


def test_a_table_of_changes_with_too_few_rows_fails_its_run(simulate, results, tmp_path, monkeypatch):
    live_count = LiveRows.kept
    monkeypatch.setattr(LiveRows, "kept", lambda *args: live_count(*args) * 9 // 10)
    assert simulate("--only", "strategy=threshold", scenario=write(tmp_path, CHANGES))[0] == 1
    assert "the simulated table has" in results()["threshold"].end.error


def test_expiring_snapshots_lowers_storage(simulate, results):
    expiry = f"maintenance={toml([maintenance('iceberg.expire_snapshots', retain='1min')])}"
    assert simulate("--only", "strategy=every-2min", "--out", "unexpired")[0] == 0
    assert simulate("--set", expiry)[0] == 0
    compacted = results()["every-2min"]
    first, second = compacted.of(MaintenanceRecord)
    assert min(first.freed_bytes, second.freed_bytes) > 10_000
    (unexpired,) = load_runs(compacted.folder.parents[2] / "unexpired")
    with_expiry, without = (run_figures(run)["space_amplification"] for run in (compacted, unexpired))
    assert with_expiry < without
    # Without compaction every file is live, so that expiry can free metadata alone.
    assert all(record.freed_bytes < first.freed_bytes for record in results()["never"].of(MaintenanceRecord))


def test_the_compactors_cores_change_wall_time_and_nothing_else(simulate, tmp_path):
    text = SOUND.replace('target_file_size = "8MiB"', 'target_file_size = "256KiB"')
    text = text.replace("rows_per_commit = 80", "rows_per_commit = 8000")
    made = []
    for cores in (1, 4):
        setting = f"resources.compactor.cores={cores}"
        assert simulate("--out", f"{cores}", "--set", setting, scenario=write(tmp_path, text))[0] == 0
        made.append({run.manifest.strategy: run for run in load_runs(tmp_path / f"{cores}")}["every-2min"])
    pairs = list(zip(*(run.of(CompactionRecord) for run in made), strict=True))
    assert len(pairs) == 5
    assert all((slow.cost.cpu_s, slow.change) == (fast.cost.cpu_s, fast.change) for slow, fast in pairs)
    parallel = [(slow, fast) for slow, fast in pairs if slow.change.files_added_count > 1]
    assert parallel
    assert all(slow.cost.wall_s > fast.cost.wall_s for slow, fast in parallel)
    slow_s, fast_s = ([query.cost.wall_s for query in run.of(QueryRecord)] for run in made)
    assert slow_s == fast_s


@pytest.mark.processes
def test_results_are_utf_8_whatever_the_locale(tmp_path):
    scenario = write(tmp_path, f'description = "Größe"\n{SOUND}')
    command = ["run", scenario, "--simulate", "--out", str(tmp_path / "out")]
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "bench.cli", *command],
        capture_output=True, text=True, timeout=120, env=os.environ | ascii_only,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert {run.manifest.description for run in load_runs(tmp_path / "out")} == {"Größe"}


def test_simulating_loads_neither_spark_nor_charts(tmp_path):
    code = (
        "import sys; from bench.cli.main import main; "
        f"code = main(['run', 'quickstart', '--simulate', '--out', {str(tmp_path / 'out')!r}]); "
        "heavy = {'pyspark', 'py4j', 'pyiceberg', 'matplotlib', 'pandas'} & set(sys.modules); "
        "sys.exit(f'{code} {sorted(heavy)}' if code or heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_a_table_that_cannot_be_dropped_after_all_was_measured_fails_no_run(simulate, results, monkeypatch):
    monkeypatch.setattr(SimulatedEngine, "drop", jam)
    assert simulate(*FEW)[0] == 0
    run = results()["never"]
    assert run.finished
    assert "RuntimeError: the catalog does not answer" in (run.folder / "log.txt").read_text()


def test_why_java_was_ended_explains_a_run_better_than_what_followed(simulate, results, monkeypatch):
    verdict = "Java has not answered for 600 s, and was ended"
    monkeypatch.setattr(suite, "execute", partial(suite.execute, verdict=lambda: verdict))
    monkeypatch.setattr(SimulatedEngine, "create", jam)
    assert simulate(*FEW)[0] == 1
    failed = results()["never"]
    assert failed.end.error == verdict
    assert "the catalog does not answer" in (failed.folder / "log.txt").read_text()


def test_labels_of_one_folder_name_make_two_runs(simulate, tmp_path):
    twins = '[[strategies]]\nlabel = "a b"\n[[strategies]]\nlabel = "a_b"\n'
    assert simulate(*FEW, scenario=write(tmp_path, SOUND + twins))[0] == 0
    finished = [run.manifest.strategy for run in load_runs(tmp_path / "results") if run.finished]
    assert sorted(finished) == ["a b", "a_b", "every-2min", "never"]


def test_the_mean_over_time_hardly_depends_on_how_many_ticks_are_probed(simulate, tmp_path):
    """Policies of cycles of 4 and 5 ticks, on 12; the mean of queries at 4 of them is up to 7 % off."""
    policies = ("inline", "compact-4min", "log-compact-4min")
    only = [word for label in policies for word in ("--only", f"strategy={label}")]
    made = []
    for every in ("1min", "3min"):
        simulate("--set", f"probe_every={every}", "--out", every, *only, scenario="hudi-upsert-quick")
        made.append({run.manifest.strategy: run_figures(run) for run in load_runs(tmp_path / every)})
    all_ticks, third = made
    off = {
        name: [third[label][name] / all_ticks[label][of] - 1 for label in policies]
        for name, of in (
            ("query_mean_s", "query_mean_s"),
            ("query_new_session_mean_s", "query_new_session_mean_s"),
            ("query_probed_mean_s", "query_mean_s"),
        )
    }
    assert max(map(abs, off["query_new_session_mean_s"])) < 0.002
    # Later queries of a long-lived session are faster in a warmer JVM, which the line over tables leaves out.
    assert max(map(abs, off["query_mean_s"])) < 0.02
    assert max(map(abs, off["query_probed_mean_s"])) > 0.05


@pytest.mark.parametrize(
    ("clock", "statuses"), [("virtual", ["ok", "ok", "ok"]), ("real", ["conflict", "conflict", "ok"])]
)
def test_a_rewrite_slower_than_the_commits_that_delete_its_rows_fails_with_a_real_clock(
    simulate, results, tmp_path, clock, statuses
):
    """Spark's MERGE writes position deletes for the files that a rewrite of 90 s has read."""
    deletes = [history_commit(minute, [positions(10 + minute, 0, 5)]) for minute in range(1, 7)]
    written(tmp_path, history_commit(0, [data(n) for n in range(4)]), *deletes)
    workload = '[workload]\ntype = "history"\npath = "t.history.parquet"\n'
    text = SOUND[: SOUND.index("[workload]")] + workload + SOUND[SOUND.index("[[strategies]]") :]
    deleting = 'options = { "delete-file-threshold" = 1 }'
    text = text.replace('"iceberg.rewrite_data_files" }', f'"iceberg.rewrite_data_files", {deleting} }}')
    document = tomlkit.parse(shipped_file("iceberg").read_text())
    document["operations"]["rewrite"]["wall"]["s"] = 90.0
    slow = tmp_path / "slow.toml"
    slow.write_text(tomlkit.dumps(document))
    file = write(tmp_path, text.replace('duration = "10min"', 'duration = "6min"'))
    settings = ("--set", f"clock={clock}", "--coefficients", str(slow))
    assert simulate(*settings, scenario=file)[0] == 0
    compactions = results()["every-2min"].of(CompactionRecord)
    assert [record.status for record in compactions] == statuses  # no commit follows the last one
    assert all(record.cost.wall_s > 90 for record in compactions)
    errors = [record.error for record in compactions if record.status == "conflict"]
    assert all("found new position delete" in error for error in errors)


def test_the_documented_policy_commits_in_turns_and_never_at_once(tmp_path):
    settings = (
        "duration=30min", "commit_interval=15s", "workload.initial_rows=8_000_000", "probe_every=1min",
        "table.target_file_size=1GiB", "jvm=warm", "resources.writer={cores=8}",
        "resources.compactor={cores=1}", "resources.reader={cores=8}",
    )  # fmt: skip
    words = [word for setting in settings for word in ("--set", setting)]
    words += ["--only", "strategy=never", "--only", "strategy=reorg-4min"]
    statuses, faster = {}, {}
    for clock in ("virtual", "real"):
        out = ["--set", f"clock={clock}", "--out", str(tmp_path / clock)]
        assert main(["run", "delta-upsert-quick", "--simulate", *words, *out]) == 0
        runs = {run.manifest.strategy: run for run in load_runs(tmp_path / clock)}
        compactions = runs["reorg-4min"].of(CompactionRecord)
        statuses[clock] = compactions.column("status").astype(str).tolist()
        assert (compactions.column("wall_s") > 15).all()
        assert max(float(run.of(CommitRecord).column("waited_s").max()) for run in runs.values()) < 15
        never_s, policy_s = (
            run_figures(runs[label])["query_new_session_mean_s"] for label in ("never", "reorg-4min")
        )
        faster[clock] = policy_s < 0.9 * never_s
    assert statuses == {"virtual": ["ok"] * 7, "real": ["conflict"] * 7}
    assert faster == {"virtual": True, "real": False}


def test_merge_at_once_is_simulated(tmp_path):
    """The shipped scenario as it is, at its speed: a whole minute of the stream is five seconds."""
    out = str(tmp_path / "results")
    assert main(["run", "merge-at-once", "--simulate", "--set", "duration=1h", "--out", out]) == 0
    (group,) = run_groups(load_runs(tmp_path / "results"))
    assert unmodelled(group, "all-deletes", "compaction_cpu_s") is None
    runs = {run.manifest.strategy: run for run in load_runs(tmp_path / "results")}
    figures = {label: run_figures(run) for label, run in runs.items()}
    for run in runs.values():
        assert run.manifest.speed == 12
        commits = run.of(CommitRecord)
        assert len(commits) == 61
        assert all(commit.conflicts is not None for commit in commits if not commit.is_initial)
        assert commits.column("scanned_files_count")[-1] > 0
    never, whole = figures["never"], figures["all-deletes"]
    assert (never["lost_compactions"], never["redone_commits"], never["wasted_cpu_s"]) == (0, 0, 0)
    assert whole["compactions"] > 0 < whole["lost_compactions"]
    assert whole["wasted_cpu_s"] > 0
    assert 0.5 < never["commit_since_due_p50_s"] < 5


@pytest.mark.parametrize("mode", ["merge-on-read", "copy-on-write"])
def test_a_merge_is_simulated_in_turns(simulate, results, tmp_path, mode):
    assert simulate(scenario=write(tmp_path, MERGING.replace("merge-on-read", mode)))[0] == 0
    commits = results()["never"].of(CommitRecord)
    assert {commit.conflicts for commit in commits} == {None}
    deletes = commits.column("delete_files_added_count").sum()
    removed = commits.column("files_removed_count").sum()
    assert (deletes > 0, removed > 0) == (mode == "merge-on-read", mode == "copy-on-write")
