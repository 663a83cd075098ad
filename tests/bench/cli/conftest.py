"""Runs commands in the process of the test."""

import csv
import io
import json
import tarfile
from dataclasses import dataclass

import pytest
from refused import printed_codes
from stored import stored

from bench.cli import executing
from bench.cli.main import main
from bench.cli.output import OUT
from tools.publishing import FOLDER


@dataclass(frozen=True)
class Printed:
    """What a command has printed."""

    out: str
    err: str

    @property
    def words(self):
        """Stdout with single blanks, since lines may be folded anywhere."""
        return " ".join(self.out.split())

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def csv(self):
        return list(csv.DictReader(io.StringIO(self.out)))

    @property
    def codes(self):
        """The codes of the errors."""
        return printed_codes(self.err)


@pytest.fixture(scope="module")
def delta_upserts(tmp_path_factory):
    """The published real runs of a small Delta table."""
    folder = tmp_path_factory.mktemp("results")
    with tarfile.open(FOLDER / "delta-upsert-quick.tar.xz", "r:xz") as tar:
        tar.extractall(folder, filter="data")
    return folder


@pytest.fixture
def compactbench(capsys):
    """`compactbench WORDS`, which must exit with `code`."""

    def run(*words, code=0):
        exit_code = main([str(word) for word in words])
        printed = Printed(*capsys.readouterr())
        assert exit_code == code, printed
        return printed

    return run


@pytest.fixture
def suites(monkeypatch):
    """Replaces preflight and suite; collects the planned runs and options, and stores finished runs."""
    calls = []

    def run_suite(planned, options, watcher):
        calls.append((planned, options))
        return tuple(stored(options.out, planned_run) for planned_run in planned)

    monkeypatch.setattr(executing, "check", lambda planned, out, keep_tables: None)
    monkeypatch.setattr(executing, "run_suite", run_suite)
    return calls


@pytest.fixture
def wide(monkeypatch):
    """A terminal in which every row of a table is one line."""
    monkeypatch.setattr(OUT, "_width", 250)
