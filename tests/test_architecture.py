"""What keeps a table format behind its own folders; import-linter has the rest."""

import subprocess
import sys
from pathlib import Path

import pytest

from bench.engines.registry import FORMATS

ROOT = Path(__file__).parents[1]


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
