"""The scenario of docs/hudi-guide.md is what a newcomer copies first: it must work as printed."""

import re
from pathlib import Path

from bench.cli.main import main

GUIDE = Path(__file__).parents[1] / "docs" / "hudi-guide.md"


def test_the_scenario_of_the_guide_is_valid(tmp_path, capsys):
    found = re.search(r"```toml\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    scenario = tmp_path / "mine.toml"
    scenario.write_text(found[1], encoding="utf-8")
    assert main(["validate", str(scenario)]) == 0
    assert "async" in capsys.readouterr().out
