"""What the README and the pages of docs/ tell a newcomer to do works as printed."""

import json
import re
import shlex
from pathlib import Path

import pytest
from iceberg_tables import make_table
from result_builder import build_results

from bench.cli.main import main
from bench.cli.output import OUT
from bench.scenario.plugins import PLANNER, build
from strategies.plan import FileGroup, Rewrite, check_plan
from strategies.state import DataFile, PartitionStats, TableState
from workloads.schema import SCHEMAS

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
OWN_STRATEGY = ROOT / "docs" / "own-strategy.md"
FEWER_CELLS = ("*25", "*3")
FEWER_SEEDS = ("--training-seeds", "1", "--held-out-seeds", "1", "--moments", "6", "--quiet")
ANY = re.compile(
    r"compactbench( [A-Z]+)? --help|compactbench (run|init|import|validate)"
)  # no whole commands


def block(first_line: str) -> str:
    """The fenced block that begins with this comment."""
    found = re.search(rf"```\w+\n({re.escape(first_line)}\n.*?)```", OWN_STRATEGY.read_text(), re.DOTALL)
    assert found is not None, f"{OWN_STRATEGY} has no block that begins with {first_line}"
    return found[1]


def commands(page: Path) -> list[list[str]]:
    """The words of each command of a page, in blocks and in text, in their order, each once."""
    text = page.read_text().replace("\\\n", " ")
    found = re.findall(r"^(compactbench [^#\n]+)|`(compactbench [^`]+)`", text, re.MULTILINE)
    texts = (" ".join((line or code).split()) for line, code in found)
    return [shlex.split(text)[1:] for text in dict.fromkeys(texts) if not ANY.fullmatch(text)]


@pytest.fixture
def copied(tmp_path, monkeypatch):
    (tmp_path / "my_strategy.py").write_text(block("# my_strategy.py"))
    (tmp_path / "my-table.toml").write_text(block("# my-table.toml"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with results of two branches, and where a table is."""
    lake = tmp_path / "lake"
    lake.mkdir()
    work = tmp_path / "work"
    work.mkdir()
    for branch in ("main", "branch"):
        build_results(work / "results" / branch, {"never": None, "every-2min": 2}, 3, 6, suite_id=branch)
    monkeypatch.chdir(work)
    return make_table(lake, [{"Oslo": 4, "Rome": 2}, {"Oslo": 3}]).location().removeprefix("file://")


def adapted(words: list[str], table: str) -> list[str]:
    """The command on a table that exists; a real run only says what it would do."""
    here = [word.replace("/data/warehouse/shop/orders", table).replace(*FEWER_CELLS) for word in words]
    if words[0] == "import":
        return [*here, "-f", "orders.toml"]
    if words[0] == "tune":
        return [*here, *FEWER_SEEDS]
    is_real = words[0] == "run" and "--simulate" not in words
    return [*here, "--dry-run"] if is_real else here


@pytest.mark.parametrize("page", ["README.md", "docs/simulation.md", "docs/scenarios.md"])
def test_the_commands_of_a_page_work(page, place, capsys):
    known = commands(ROOT / page)
    assert len(known) > 4
    for words in known:
        if words[0] not in ("calibrate", "validate-model") and "RESULTS" not in words:
            code = main(adapted(words, place))
            # Two branches made at two times cannot be told apart that closely: the gate says so.
            assert code in ((0, 4) if words[0] == "compare" else (0,)), (words, capsys.readouterr().err)


def test_the_readme_shows_what_the_first_command_prints(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(OUT, "_width", 100)
    first = next(words for words in commands(README) if "--simulate" in words)
    assert main(first) == 0
    printed = capsys.readouterr().out.replace(f"{tmp_path}/", "")
    shown = re.search(r"```text\n(.*?)```", README.read_text(), re.DOTALL)
    assert shown is not None
    assert printed == shown[1]


def test_the_scenario_of_the_page_is_valid(copied, capsys):
    assert main(["validate", "my-table.toml"]) == 0
    assert "small-files-only" in capsys.readouterr().out


def test_the_strategy_of_the_page_merges_only_small_files(copied):
    table = {"type": "my_strategy:SmallFilesOnly", "small": "100B", "min_files": 2}
    planner = build(PLANNER, table, copied)
    files = [DataFile("b", 99, 1), DataFile("a", 1, 1), DataFile("grown", 100, 1)]
    state = TableState(0, 1000, files, partitions={"": PartitionStats(3, 200, 3)})
    plan = planner.decide(state)
    check_plan(state, plan)
    assert plan.actions == (Rewrite((FileGroup(("a", "b")),), 1000),)
    assert planner.decide(TableState(0, 1000, files[1:])) is None


def test_scenarios_page_has_the_bytes_of_a_row_by_width():
    page = (ROOT / "docs" / "scenarios.md").read_text()
    for columns, schema in SCHEMAS.items():
        cells = (schema.expected_bytes(rows) / rows for rows in (10, 1_000, 10_000, 100_000))
        texts = (f"{size:.1f}" if size < 10 else f"{size:,.0f}" for size in cells)
        assert f"| {columns} | {' | '.join(texts)} |" in page


@pytest.mark.spark
def test_the_strategy_of_the_page_runs(copied, capsys):
    only = ["--only", "strategy=small-files-only"]
    short = ["--set", "duration=2min", "--set", "warm_up_rounds=1"]
    assert main(["run", "my-table.toml", *only, *short, "--out", "out"]) == 0
    capsys.readouterr()
    assert main(["show", "out", "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["compactions"], row["files_end"], row["content"]) == (1, 1, "equal")
