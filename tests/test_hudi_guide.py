"""The scenario of docs/hudi-guide.md is valid, and its statements about shipped scenarios hold."""

import re
from collections import Counter
from pathlib import Path

from bench.cli.main import main
from bench.scenario.load import load_scenario

GUIDE = Path(__file__).parents[1] / "docs" / "hudi-guide.md"


def test_the_scenario_of_the_guide_is_valid(tmp_path, capsys):
    match = re.search(r"```toml\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    scenario = tmp_path / "mine.toml"
    scenario.write_text(match[1], encoding="utf-8")
    assert main(["validate", str(scenario)]) == 0
    assert "async" in capsys.readouterr().out


def test_most_changes_of_the_stream_hit_the_newest_days():
    rows = Counter()
    for spec in load_scenario("hudi-strategies").shape():
        if not spec.is_initial:
            rows.update({shape.partition: shape.rows for shape in spec.partitions})
    *older, before, newest = (100 * rows[day] / rows.total() for day in sorted(rows))
    assert (round(newest), round(before), round(sum(older)), len(older)) == (94, 5, 1, 6)
