"""What keeps a table format behind its own folders; import-linter has the rest."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench.engines.registry import FORMATS

ROOT = Path(__file__).parents[1]
DECISIONS = sorted(
    set((ROOT / "docs" / "decisions").glob("*.md")) - {ROOT / "docs" / "decisions" / "README.md"}
)


def test_the_folders_of_a_format_have_its_name():
    for name, found in FORMATS.items():
        assert found.name == name
        assert found.table.keys.model_fields["format"].annotation.__args__ == (name,)
        assert (ROOT / "bench" / "engines" / name / "format.py").is_file()


@pytest.mark.parametrize(
    "arguments",
    [
        ["list", "formats"],
        ["list", "strategies"],
        ["validate", "quickstart", "upsert"],
        ["run", "quickstart", "--simulate", "--set", "duration=2min"],
    ],
)
def test_only_real_tables_need_spark_and_a_reader_of_metadata(arguments, tmp_path):
    code = (
        "import sys; from bench.cli.main import main; "
        f"assert main({arguments!r}) == 0; "
        "print(sorted({'pyspark', 'py4j', 'pyiceberg'} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("page", [ROOT / "ARCHITECTURE.md", *DECISIONS], ids=lambda page: page.stem)
def test_the_files_that_map_and_decisions_name_are_there(page):
    named = re.findall(
        r"`((?:bench|compactbench|docs|reports|strategies|tests|tools|workloads)/[\w./-]*)`", page.read_text()
    )
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)
def test_each_decision_has_a_date_and_an_alternative_and_is_listed(page):
    listed = (ROOT / "docs" / "decisions" / "README.md").read_text()
    assert f"({page.name})" in listed
    for decision in re.split(r"^## ", page.read_text(), flags=re.MULTILINE)[1:]:
        assert f"- {decision.splitlines()[0]}\n" in listed
        assert re.search(
            r"^\*20\d\d-\d\d-\d\d.*(Rejected|Instead\s+of):\s", decision, re.MULTILINE | re.DOTALL
        )
