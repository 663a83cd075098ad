"""The Python of docs/python.md runs, and its notebook has the outputs that its cells give."""

import json
import re
from pathlib import Path

from result_builder import build_results

from compactbench import results
from tools.notebook import NOTEBOOK, executed

PAGE = Path(__file__).parents[1] / "docs" / "python.md"


def test_the_code_of_the_page_runs(tmp_path, monkeypatch, capsys):
    both = {"never": None, "every-2min": 2}
    build_results(tmp_path / "results" / "quickstart", both, 3, 4)
    build_results(tmp_path / "results" / "yesterday", both, 3, 4)
    later = {"suite_id": "later", "started_utc": "2026-01-06T09:00:00Z"}
    build_results(tmp_path / "results" / "today", both, 3, 4, **later)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(results, "render", lambda runs, folder: folder)
    namespace = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(block, namespace)
    assert capsys.readouterr().out.endswith(" no-such-folder\n")


def test_the_page_names_every_frame_and_method():
    named = re.findall(r"^\| `results\.(\w+)", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {*named} == {name for name in vars(results.Results) if not name.startswith("_")} - {"folders"}


def words(notebook):
    """The words of each output without tags and styles; of an image that it is one."""
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            for kind, text in output["data"].items():
                plain = re.sub(r"<style.*?</style>|<[^>]+>", " ", "".join(text), flags=re.DOTALL)
                yield kind if kind == "image/png" else plain.split()


def test_the_notebook_has_the_outputs_of_its_cells(monkeypatch):
    monkeypatch.chdir(NOTEBOOK.parent)
    stored = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    made = [*words(executed(stored))]
    assert made == [*words(stored)]
    assert made.count("image/png") == 1


def test_the_notebook_has_no_path_of_a_machine():
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert not re.search(r"/(tmp|home|root|Users|work)/", text)
