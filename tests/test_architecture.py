"""What keeps a table format behind its own folders: nothing else names it, and nothing else needs it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench.engines.registry import FORMATS

ROOT = Path(__file__).parents[1]
PACKAGES = ("bench", "strategies", "workloads", "reports")
TEXTS = {".py", ".j2", ".css", ".js"}
OWN_FOLDERS = {"delta", "hudi", "iceberg", "amoro"}  # Amoro plans Iceberg tables
# What users write, and what runs gave.
ELSEWHERE = {"workloads/scenarios", "reports/examples"}

# Where a format is registered: its engines, its planners, and the versions of its jars.
REGISTRIES = {"bench/engines/registry.py", "strategies/registry.py", "bench/runtime.py"}


def naming(word):
    """The general files in which a word occurs, in code, comments or texts, with the first such line."""
    found = {}
    for file in (file for package in PACKAGES for file in (ROOT / package).rglob("*")):
        place = file.relative_to(ROOT)
        is_own = OWN_FOLDERS & set(place.parts[:-1]) or any(str(place).startswith(x) for x in ELSEWHERE)
        if is_own or file.suffix not in TEXTS or str(place) in REGISTRIES:
            continue
        lines = enumerate(file.read_text().splitlines(), 1)
        pattern = re.compile(rf"\b{word}\b", re.IGNORECASE)
        first = next((f"{n}: {line}" for n, line in lines if pattern.search(line)), None)
        if first is not None:
            found[str(place)] = first
    return found


def without_gaps(text):
    """A test module without the marks that say which engine cannot do what."""
    return re.sub(r"^@(notimpl|notyet|never)\(.*?\)\n(?=@|def )", "", text, flags=re.MULTILINE | re.DOTALL)


def test_general_code_names_no_format():
    assert {name: naming(name) for name in FORMATS} == {name: {} for name in FORMATS}


def test_the_guard_sees_comments_and_texts_in_any_case():
    assert "bench/engines/contract.py" in naming("an engine executes")
    assert naming("compactbench: ERROR that nobody writes") == {}


@pytest.mark.parametrize(
    "place", ["tests/bench/engines/test_engine_contract.py", "tests/support/engine_streams.py"]
)
def test_what_every_engine_must_do_names_no_format(place):
    text = without_gaps((ROOT / place).read_text()).lower()
    assert [name for name in FORMATS if name in text] == []


def test_only_the_mark_of_a_gap_may_name_a_format():
    gap = '@notimpl(\n    ("x", "real"), reason="no (y) yet", raises=KeyError\n)\n'
    kept = ["a = x()\n", "@needs(COMPACT)\n", "def test_it():\n    x()\n"]
    assert without_gaps(gap.join(["", *kept[1:]])) == "".join(kept[1:])
    assert without_gaps(kept[0] + gap + kept[2]) == kept[0] + kept[2]


def test_the_folders_of_a_format_have_its_name():
    for name, found in FORMATS.items():
        assert found.name == name
        assert found.table_keys.model_fields["format"].annotation.__args__ == (name,)
        assert (ROOT / "bench" / "engines" / name / "format.py").is_file()
        assert name in OWN_FOLDERS


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
