"""The walk-through in docs/delta-example.md does what it says."""

import contextlib
import io
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark

PAGE = Path(__file__).parents[4] / "docs" / "delta-example.md"
BLOCK = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)


def test_each_block_prints_what_is_below_it(spark, tmp_path):
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(blocks) == PAGE.read_text(encoding="utf-8").count("```python") > 5
    # A new session is in Spark's own catalog, where tables can be named by their paths.
    namespace = {"spark": spark.newSession(), "folder": tmp_path, "Path": Path}
    for code, expected in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(PAGE), "exec"), namespace)
        assert printed.getvalue() == expected, code
