"""The workflow of docs/ci.md: its commands run as on a runner, and end as the page says.

Left out are checkouts, installation and comment.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

DOCS = Path(__file__).parents[1] / "docs"
PAGE, OWN_STRATEGY = ((DOCS / name).read_text(encoding="utf-8") for name in ("ci.md", "own-strategy.md"))
LEFT_OUT = {"Install compactbench", "Comment on the pull request"}
REPORT = "Write the report"

pytestmark = pytest.mark.processes


def nothing(folder):
    pass


def edit(name, before, after):
    def change(folder):
        text = (folder / name).read_text()
        assert before in text
        (folder / name).write_text(text.replace(before, after))

    return change


CASES = {
    "changes nothing that the policies do": nothing,
    "has a planner that no longer merges anything": edit("my_strategy.py", "= 8", "= 8_000"),
    "changes the stream, so that old and new figures do not compare": edit("my-table.toml", "= 80", "= 90"),
    "compacts twice as often": edit("my-table.toml", '"2min"', '"1min"'),
}


def copied(name, folder):
    """A block of the page on strategies, which begins with its file's name in a comment."""
    (text,) = re.findall(rf"```\w+\n(# {re.escape(name)}\n.*?)```", OWN_STRATEGY, re.DOTALL)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


def commands(left_out):
    (text,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    (job,) = yaml.safe_load(text)["jobs"].values()
    return [step for step in job["steps"] if "run" in step and step["name"] not in left_out]


def done(step, folder):
    """The exit code of a step, as GitHub's runner for Linux runs it."""
    output = folder / "output"
    given = output.read_text() if output.exists() else ""
    env = {
        name: re.sub(r"\$\{\{ steps\.compare\.outputs\.code }}", given.removeprefix("code=").strip(), value)
        for name, value in step.get("env", {}).items()
    }
    return subprocess.run(
        ["bash", "-e", "-c", step["run"]],
        cwd=folder / step.get("working-directory", "."),
        env={
            **os.environ, **env, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        },
        timeout=300,
    ).returncode  # fmt: skip


def lines_of_the_table():
    return re.findall(r"^\| (?!the pull)([^|]+?) \| (\d) \| (.+) \|$", PAGE, flags=re.MULTILINE)


def test_the_table_has_every_case():
    assert [case for case, _, _ in lines_of_the_table()] == [*CASES]


@pytest.mark.parametrize(("case", "code", "said"), lines_of_the_table())
def test_the_workflow_ends_as_the_page_says(tmp_path, case, code, said):
    for branch in ("old", "new"):
        copied("my_strategy.py", tmp_path / branch / "compaction")
        copied("my-table.toml", tmp_path / branch / "compaction")
    CASES[case](tmp_path / "new" / "compaction")
    has_report = case == next(iter(CASES))  # one is enough
    *before, last = commands(LEFT_OUT if has_report else LEFT_OUT | {REPORT})
    assert [done(step, tmp_path) for step in before] == [0] * len(before)
    assert done(last, tmp_path) == int(code)
    comment = (tmp_path / "comment.md").read_text()
    assert said in " ".join(comment.split())
    assert (tmp_path / "summary.md").read_text() == comment
    assert (tmp_path / "report" / "index.html").is_file() == has_report
