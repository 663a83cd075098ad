"""Result folders the report tests share, built once."""

import pytest
from live_runs import live_runs
from result_builder import UPSERT, build_results

from bench.results.folders import load_runs
from reports.data.group import run_groups

HOSTILE = {
    "never": None,
    "<script>alert(1)</script>": 2,
    "=HYPERLINK(1)|`x`": 3,
    "$\\frac{1}{2}$_a_": 4,
    "x" * 300: 5,
    "_\u202e\x01日本\nline": 6,
}


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """Four strategies, three repetitions, 60 commits."""
    return load_runs(build_results(tmp_path_factory.mktemp("normal")))


@pytest.fixture(scope="session")
def group(runs):
    return run_groups(runs)[0]


@pytest.fixture(scope="session")
def upsert_group(tmp_path_factory):
    """A stream of changes: six commits under three strategies, one of which reports a health score."""
    strategies = {"never": None, "every-3min": 3, "amoro": 2}
    folder = tmp_path_factory.mktemp("upsert")
    return run_groups(load_runs(build_results(folder, strategies, 1, 6, deletes=True, **UPSERT)))[0]


@pytest.fixture(scope="session")
def cadence_group(tmp_path_factory):
    """Writers that commit at every tick, and the rows of 3 and of 12 ticks together."""
    folder, strategies = tmp_path_factory.mktemp("cadence"), {"never": None, "late": None, "later": None}
    text = {
        "strategies": [
            {"label": "never"},
            {"label": "late", "writer": {"commit_every": "3min"}},
            {"label": "later", "writer": {"commit_every": "12min"}},
        ]
    }
    ticks = {"late": 3, "later": 12}
    built = build_results(folder, strategies, 2, 12, commit_ticks=ticks, scenario_text=text)
    return run_groups(load_runs(built))[0]


@pytest.fixture(scope="session")
def live_group():
    """Roles that worked at the same time."""
    return run_groups(live_runs())[0]


@pytest.fixture(scope="session")
def hostile_runs(tmp_path_factory):
    """Everything a results file may hold that could end a cell, a tag, a formula or a line."""
    folder = tmp_path_factory.mktemp("hostile")
    bad = "</pre><img src=x onerror=alert(1)> | `b` http://evil.example"
    fields = {
        "description": bad, "notes": {bad: bad}, "options": {bad: bad}, "versions": {"format": bad},
        "machine": {"cpu": bad, "cores": 2, "ram_bytes": 1}, "primary_probe": bad,
    }  # fmt: skip
    fate = {("<script>alert(1)</script>", 1): "failed"}
    return load_runs(build_results(folder, HOSTILE, repetitions=2, ticks=12, fate=fate, **fields))
