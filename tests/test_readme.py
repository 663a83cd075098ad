"""The README's own strategy is what a newcomer copies first: it must work as printed."""

import json
import re
from pathlib import Path

import pytest

from bench.cli.main import main
from bench.scenario.plugins import PLANNER, build
from strategies.plan import FileGroup, Rewrite, check_plan
from strategies.state import DataFile, PartitionStats, TableState
from workloads.schema import SCHEMAS

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"


def block(first_line: str) -> str:
    """The fenced block that begins with this comment."""
    found = re.search(rf"```\w+\n({re.escape(first_line)}\n.*?)```", README.read_text(), re.DOTALL)
    assert found is not None, f"README.md has no block that begins with {first_line}"
    return found[1]


@pytest.fixture
def copied(tmp_path, monkeypatch):
    (tmp_path / "my_strategy.py").write_text(block("# my_strategy.py"))
    (tmp_path / "my-table.toml").write_text(block("# my-table.toml"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_readme_scenario_is_valid(copied, capsys):
    assert main(["validate", "my-table.toml"]) == 0
    assert "small-files-only" in capsys.readouterr().out


def test_readme_strategy_merges_only_small_files(copied):
    table = {"type": "my_strategy:SmallFilesOnly", "small": "100B", "min_files": 2}
    planner = build(PLANNER, table, copied)
    files = [DataFile("b", 99, 1), DataFile("a", 1, 1), DataFile("grown", 100, 1)]
    state = TableState(0, 1000, files, partitions={"": PartitionStats(3, 200, 3)})
    plan = planner.decide(state)
    check_plan(state, plan)
    assert plan.actions == (Rewrite((FileGroup(("a", "b")),), 1000),)
    assert planner.decide(TableState(0, 1000, files[1:])) is None


def test_your_table_has_the_bytes_of_a_row_by_width():
    page = (ROOT / "docs" / "your-table.md").read_text()
    for columns, schema in SCHEMAS.items():
        cells = (schema.expected_bytes(rows) / rows for rows in (10, 1_000, 10_000, 100_000))
        texts = (f"{size:.1f}" if size < 10 else f"{size:,.0f}" for size in cells)
        assert f"| {columns} | {' | '.join(texts)} |" in page


@pytest.mark.spark
def test_readme_strategy_runs(copied, capsys):
    only = ["--only", "strategy=small-files-only"]
    short = ["--set", "duration=2min", "--set", "warm_up_rounds=1"]
    assert main(["run", "my-table.toml", *only, *short, "--out", "out"]) == 0
    capsys.readouterr()
    assert main(["show", "out", "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["compactions"], row["files_end"], row["content"]) == (1, 1, "equal")
