"""Distinct secrets in every input of a scenario: in the end none of them is in any file or output."""

import json
import sys
from dataclasses import replace
from unittest.mock import Mock

import pytest
from planted_secrets import KINDS, PLANTED_SECRETS, planted_tables, texts_below
from scenario_builder import SOUND, write

from bench.cli.main import main
from bench.results.folders import load_runs
from bench.results.records import EVENT_TABLES, CompactionRecord, DecisionRecord
from bench.runs.jobs import RunJob, SentScenario
from bench.runs.suite import cases, results_folder, run_files, suite
from bench.runs.suite.watcher import Watcher
from bench.runs.worker import provenance
from bench.runs.worker import run as run_module
from bench.scenario.load import load_scenario
from bench.secrets import HIDDEN

PLANTED = "Zq7"  # begins each of the secrets

PLANNER = '''
import os
from dataclasses import dataclass

from strategies.plan import Compact, Plan, Reason


@dataclass(frozen=True)
class Mine:
    """Makes plans that name its options, or fails with them, or prints them and dies."""

    api_key: str
    remark: str = ""
    fails: bool = False
    dies: bool = False

    def decide(self, state):
        if self.dies:
            print(f"connecting: {self.remark}", flush=True)
            os.kill(os.getpid(), 9)
        if self.fails:
            raise RuntimeError(f"refused {self.api_key} and {self.remark}")
        return Plan((Compact(None, {}),), Reason.OTHER, f"with {self.api_key}, {self.remark}")
'''

# `remark` has a harmless name, and holds secrets of other settings, as an error message may.
SECRETS = """
[spark]
spark.hadoop.fs.s3a.secret.key = "Zq7spark"
"spark.hadoop.fs.s3a.access.key" = "Zq7access"
"spark.my.javaOptions" = "-Duser.timezone=UTC -Dpassword=Zq7option,with;more&such"
"spark.kafka.sasl.jaas.config" = 'Module required username="me" password="Zq7 jaas";'
[catalog.properties]
type = "rest"
uri = "https://me:Zq7uri@host/x"
token = "Zq7token"
"s3.access-key-id" = "Zq7id"
[table.properties]
"write.encryption-key" = "Zq7table \\"quoted\\" é"
[[strategies]]
label = "plans"
properties = { "write.connection-string" = "Zq7strategy" }
rules = [{ trigger = { type = "after_commits", commits = 1 }, planner = { type = "my_planner:Mine", \
api_key = "Zq7planner", \
remark = "Zq7spark https://me:Zq7uri@host Zq7set Zq7conf, with spaces" } }]
[[strategies]]
label = "fails"
rules = [{ trigger = { type = "after_commits", commits = 1 }, planner = { type = "my_planner:Mine", \
api_key = "Zq7planner", remark = "xZq7tokenx Zq7table \\"quoted\\" é Zq7 jaas", fails = true } }]
[[strategies]]
label = "dies"
rules = [{ trigger = { type = "after_commits", commits = 1 }, planner = { type = "my_planner:Mine", \
api_key = "Zq7planner", remark = "xZq7tokenx Zq7set", dies = true } }]
"""
SET = ("--set", 'spark."spark.hadoop.fs.azure.account.key.a.dfs.core.windows.net"="Zq7set"')
SET_TABLE = ("--set", 'workload={type="append", rows_per_commit=80, files_per_commit=8}')
SET_SPARK = ("--set", 'spark."spark.executorEnv.AWS_SECRET_ACCESS_KEY"=Zq7conf, with spaces')
OVERRIDES = (SET[1], 'spark."spark.executorEnv.AWS_SECRET_ACCESS_KEY"="Zq7conf, with spaces"')
SIMULATED = ("--only", "strategy=plans", "--only", "strategy=fails", "--only", "strategy=never")


@pytest.fixture(autouse=True)
def user(tmp_path, monkeypatch):
    """A user's folder with a scenario and a planner."""
    (tmp_path / "my_planner.py").write_text(PLANNER)
    write(tmp_path, SOUND + SECRETS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))  # planners of the working folder append to it
    yield tmp_path
    sys.modules.pop("my_planner", None)


@pytest.fixture
def scenario():
    return load_scenario("demo.toml", OVERRIDES)


@pytest.fixture
def planned(scenario):
    """A run of one strategy."""
    return lambda label, mode: cases.plan_runs([scenario], [label], 1, (), mode=mode)[0]


def assert_nothing_planted(folder):
    """In any file, nor parts of a secret: its words behind a space, quote or comma."""
    texts = list(texts_below(folder))
    assert texts
    for file, text in texts:
        for part in (PLANTED, "with spaces", 'jaas"', "with;more", '"quoted'):
            assert part not in text, f"{part} in {file}"


def publish():
    """A report and tables of the results."""
    assert main(["report", "results", "-o", "review"]) == 0
    assert main(["export", "results", "-o", "tables"]) == 0
    assert main(["export", "results", "-o", "results.duckdb", "--to", "duckdb"]) == 0


@pytest.mark.processes
def test_no_secret_of_a_simulated_run_is_in_any_file_or_output(user, capsys):
    arguments = ["run", "demo.toml", *SET, *SET_TABLE, *SET_SPARK, *SIMULATED, "--simulate"]
    assert main([*arguments, "--dry-run"]) == 0
    assert main(arguments) == 1  # one of them fails
    runs = {run.manifest.strategy: run for run in load_runs(user / "results")}
    assert {label: run.end.status for label, run in runs.items()} == {
        "never": "finished", "plans": "finished", "fails": "failed",
    }  # fmt: skip
    publish()
    validated = [word for setting in OVERRIDES for word in ("--set", setting)]
    for output in ("table", "json"):
        assert main(["validate", "demo.toml", *validated, "--simulate", "--format", output]) == 0
        assert main(["show", "results", "--format", output]) == 0
    shown = "".join(capsys.readouterr())

    # What is not shown was there to be shown: the settings, the plan's detail, the error, the traceback.
    plans, fails = runs["plans"], runs["fails"]
    assert plans.manifest.options["table_properties"]["write.encryption-key"] == HIDDEN
    assert plans.manifest.scenario_text["spark"]["spark.hadoop.fs.s3a.secret.key"] == HIDDEN
    assert plans.manifest.scenario_text["catalog"]["properties"]["uri"] == "https://(hidden)@host/x"
    assert 'windows.net"=(hidden)' in plans.manifest.command
    assert 'AWS_SECRET_ACCESS_KEY"=(hidden)' in plans.manifest.command
    assert "api_key=(hidden)" in plans.manifest.strategy_summary
    assert "write.connection-string=(hidden)" in plans.manifest.strategy_summary
    hidden = "with (hidden), (hidden) https://(hidden)@host (hidden) (hidden)"
    assert plans.of(DecisionRecord)[0].detail == hidden
    assert plans.of(CompactionRecord)
    error = "RuntimeError: refused (hidden) and x(hidden)x (hidden) (hidden)"
    assert fails.end.error == f"{error} (rule 1 of strategy fails)"
    log = (fails.folder / "log.txt").read_text()
    assert "Traceback" in log
    assert error in log
    assert "api_key=(hidden)" in shown
    assert "refused (hidden) and x(hidden)x" in shown
    assert any(file.parent.name == EVENT_TABLES for file, _ in texts_below(user))
    kinds = {file.suffix for file, _ in texts_below(user)}
    assert kinds >= {".html", ".md", ".csv", ".parquet", ".duckdb", ".json", ".txt"}
    (user / "demo.toml").unlink()
    assert PLANTED not in shown
    assert_nothing_planted(user)


@pytest.mark.processes
def test_thirty_kinds_of_secrets_are_in_no_output(user, capsys):
    tables = [planted_tables()]
    remark = json.dumps(" | ".join(value for _, _, value in KINDS))
    rule = f'planner = {{ type = "my_planner:Mine", api_key = "Zq7-38", remark = {remark}'
    for label, last in (("plans", "}"), ("fails", ", fails = true }")):
        trigger = 'trigger = { type = "after_commits", commits = 1 }'
        tables.append(f'[[strategies]]\nlabel = "{label}"\nrules = [{{ {trigger}, {rule}{last} }}]\n')
    write(user, SOUND + "\n".join(tables))
    assert main(["validate", "demo.toml", "--simulate"]) == 0
    only = ("--only", "strategy=plans", "--only", "strategy=fails")
    assert main(["run", "demo.toml", *only, "--simulate"]) == 1
    (plans,) = (run for run in load_runs(user / "results") if run.finished)
    assert plans.of(DecisionRecord)[0].detail.startswith("with (hidden), (hidden)")
    for output in ("table", "json", "csv"):
        assert main(["show", "results", "--decisions", "--format", output]) == 0
    publish()
    assert main(["validate", "demo.toml", "--simulate", "--format", "json"]) == 0
    assert main(["show", "results", "--compactions"]) == 0
    (user / "demo.toml").unlink()
    texts = list(texts_below(user))
    shown = "".join(capsys.readouterr())
    secrets = PLANTED_SECRETS | {"Zq7-38"}
    assert len(secrets) == 37
    assert [secret for secret in sorted(secrets) if secret in shown] == []
    assert [(secret, file) for secret in sorted(secrets) for file, text in texts if secret in text] == []


@pytest.mark.processes
def test_no_secret_is_in_what_a_worker_leaves_that_fails_or_is_killed(user, planned):
    options = suite.Options(user / "results", command="compactbench run demo.toml")
    results = {}
    for label in ("fails", "dies"):
        run = planned(label, "simulated")
        folder = user / "results" / label
        work = user / "results" / results_folder.WORK / label
        job = _job(run, folder, work, options)
        assert suite._in_worker(run, job, Mock(spec=Watcher)) == {"fails": 1, "dies": -9}[label]
        results[label] = run_files.closed(folder, -9)
    assert results["fails"].end.error.startswith("RuntimeError: refused (hidden) and x(hidden)x")
    error = results["fails"].end.error.removesuffix(" (rule 1 of strategy fails)")
    assert error in (results["fails"].folder / "log.txt").read_text()
    assert results["dies"].end.error.startswith("the worker ended with exit code -9 (killed")
    assert results["dies"].end.error.endswith(": connecting: x(hidden)x (hidden)")
    assert_nothing_planted(user / "results")


def test_no_secret_is_in_what_a_real_run_stores_whose_engine_fails(user, planned, scenario, monkeypatch):
    def refuse(settings):
        raise RuntimeError(f"cannot open {settings.spark.conf} with {dict(settings.catalog.properties)}")

    iceberg = run_module.FORMATS["iceberg"]
    engines = replace(iceberg.engines, real=replace(iceberg.engines.real, open=refuse))
    monkeypatch.setitem(run_module.FORMATS, "iceberg", replace(iceberg, engines=engines))
    monkeypatch.setattr(provenance.runtime, "java_home", lambda: user)
    monkeypatch.setattr(provenance.runtime, "java_version", lambda home: "")
    run = planned("never", "real")
    options = suite.Options(user / "results", command="compactbench run demo.toml")
    job = _job(run, user / "results" / "real", user / "results" / results_folder.WORK / "real", options)
    heard = []
    assert run_module.execute(job, scenario, lambda kind, fields: heard.append(fields)) is False
    result = run_files.closed(job.run_folder, 1)
    spark = result.manifest.options["spark"]
    assert spark["spark.hadoop.fs.s3a.secret.key"] == spark["spark.hadoop.fs.s3a.access.key"] == HIDDEN
    assert spark["spark.my.javaOptions"] == "-Duser.timezone=UTC -Dpassword=(hidden)"
    assert spark["spark.sql.shuffle.partitions"] == "2"
    assert result.end.error.startswith("RuntimeError: cannot open {'")
    assert heard[-1] == dict(result.end)
    assert_nothing_planted(user / "results")


def _job(run, folder, work, options):
    """A job as the suite makes it."""
    folder.mkdir(parents=True)
    work.mkdir(parents=True)
    return RunJob(
        scenario=SentScenario.of(run.scenario), work_folder=work, run_folder=folder, run_id=folder.name,
        suite_id="suite", mode=run.mode, strategy=run.spec.label, repetition=1, position=0, log_folder=None,
        coefficients=None, verify="off", command=options.command, keep_tables=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [
        ("validate", "demo.toml", "--set", 'spark."spark.x.password"[0]=Zq7 set'),
        ("validate", "demo.toml", "--set", 'spark."spark.x.password"=["Zq7set", "and more"]'),
        ("validate", "demo.toml", "--set", 'catalog.properties={token=["Zq7 set"]}'),
        ("validate", "demo.toml", "--set", "table.password=Zq7set"),
        ("validate", "demo.toml", "--set", f"catalog.uri=https://me:Zq7{'x' * 100}@host"),
        ("validate", "demo.toml", "--set", "strategies[nix].properties.token=Zq7 set"),
        ("validate", "demo.toml", "--set", "seed=Zq7token"),  # the token of the scenario's catalog
        ("run", "demo.toml", "--simulate", "--only", "strategy=Zq7token"),
        ("plan", "a.b", "--strategy", "never", "--catalog-property", "type=Zq7id", "--scenario", "demo.toml"),
        ("plan", "s3://me:Zq7set@host/x", "--strategy", "never", "--catalog-property", "s3.token=Zq7"),
        ("plan", "a.b", "--strategy", "never", "--option", "api_key=Zq7 set"),
    ],
)
def test_no_secret_is_in_an_error(capsys, arguments):
    assert main(list(arguments)) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith(("error: ", "warning: the command line contains a secret"))
    assert "error: " in printed.err
    assert PLANTED not in printed.err + printed.out
    assert "and more" not in printed.err


def test_hashes_do_not_depend_on_secrets(user):
    text = (user / "demo.toml").read_text()
    keyed = ('secret.key = "Zq7spark', 'token = "Zq7token', '"Zq7strategy', '"Zq7table')
    for planted in (*keyed, "me:Zq7uri@host/x"):
        assert text.count(planted) == 1
        text = text.replace(planted, planted.replace("Zq7", "Zq8"))
    (user / "other.toml").write_text(text)
    demo, other = load_scenario("demo.toml"), load_scenario("other.toml")
    assert (demo.hash, demo.resolved) == (other.hash, other.resolved)
    assert [spec.hash for spec in demo.strategies] == [spec.hash for spec in other.strategies]
    assert other.spark.settings["spark.hadoop.fs.s3a.secret.key"] == "Zq8spark"
    assert other.catalog.properties["uri"] == "https://me:Zq8uri@host/x"
