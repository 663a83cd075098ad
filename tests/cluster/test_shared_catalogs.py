"""Runs in a catalog that others use too; `make torture` kills such runs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from shared_lake import write_lake

from bench.results.folders import load_runs
from bench.results.records import ContentRecord
from bench.runs.suite.dropping import left_by

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

PROGRAM = Path(sys.executable).parent / "compactbench"


@pytest.fixture
def lake(tmp_path):
    """The file of a scenario whose catalog lies beside it."""
    return write_lake(tmp_path)


def start(*arguments):
    return subprocess.Popen(
        [PROGRAM, *arguments],
        env={**os.environ, "TZ": "UTC"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def ended(process):
    output, _ = process.communicate()
    assert process.returncode == 0, output


def stored(lake):
    """The files of all tables in the catalog."""
    return [path for path in (lake.parent / "warehouse").rglob("*") if path.is_file()]


def test_kept_tables_of_all_strategies_stay_until_they_are_cleaned(lake):
    results = lake.parent / "results"
    ended(start("run", lake, "--repetitions", "1", "--keep-tables", "--out", results))
    runs = load_runs(results)
    assert [len(left_by(one.folder)) for one in runs] == [1, 1]
    assert len(stored(lake)) > 20
    ended(start("clean", results, "--scenario", lake))
    assert stored(lake) == []
    assert [left_by(one.folder) for one in runs] == [[], []]


def test_two_users_do_not_meet(lake):
    folders = [lake.parent / name for name in ("one", "two")]
    for process in [start("run", lake, "--repetitions", "1", "--out", folder) for folder in folders]:
        ended(process)
    for folder in folders:
        contents = [content.status for one in load_runs(folder) for content in one.of(ContentRecord)]
        assert contents == ["equal", "equal"]
    assert stored(lake) == []
