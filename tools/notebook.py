"""The notebook of the documentation: its cells run in order in one namespace, as a kernel runs them.

`make docs` writes it with its outputs. A kernel would bring some forty packages.
"""

import ast
import base64
import io
import json
import os
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib import pyplot as plt

NOTEBOOK = Path(__file__).parents[1] / "docs" / "python.ipynb"
_PNG_DPI = 100


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook with the outputs of its cells: the value of each last expression, and the figures."""
    matplotlib.use("agg")
    namespace: dict[str, Any] = {}
    cells: list[dict[str, Any]] = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            number = 1 + sum(done["cell_type"] == "code" for done in cells)
            outputs = _outputs("".join(cell["source"]), namespace, number)
            cell = {**cell, "execution_count": number, "outputs": outputs}
        cells.append(cell)
    return {**notebook, "cells": cells}


def write() -> None:
    """Write the notebook with the outputs that its cells have now."""
    os.chdir(NOTEBOOK.parent)  # a notebook runs in its folder
    made = executed(json.loads(NOTEBOOK.read_text(encoding="utf-8")))
    NOTEBOOK.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _outputs(source: str, namespace: dict[str, Any], number: int) -> list[dict[str, Any]]:
    value = _value(source, namespace)
    outputs: list[dict[str, Any]] = []
    if value is not None:
        is_rich = hasattr(value, "_repr_html_")
        data = {"text/html": value._repr_html_()} if is_rich else {"text/plain": repr(value)}
        lines = {kind: text.splitlines(keepends=True) for kind, text in data.items()}
        outputs.append(
            {"data": lines, "execution_count": number, "metadata": {}, "output_type": "execute_result"}
        )
    for figure in map(plt.figure, plt.get_fignums()):
        out = io.BytesIO()
        figure.savefig(out, format="png", dpi=_PNG_DPI, bbox_inches="tight", metadata={"Software": None})
        image = base64.b64encode(out.getvalue()).decode()
        outputs.append({"data": {"image/png": image}, "metadata": {}, "output_type": "display_data"})
    plt.close("all")
    return outputs


def _value(source: str, namespace: dict[str, Any]) -> Any:
    """The value of the last expression of a cell; None if it ends with a statement."""
    *before, last = ast.parse(source).body
    value = last.value if isinstance(last, ast.Expr) else None
    module = ast.Module([*before, last] if value is None else before, [])
    exec(compile(module, "cell", "exec"), namespace)  # noqa: S102 - cells of ours
    if value is None:
        return None
    return eval(compile(ast.Expression(value), "cell", "eval"), namespace)  # noqa: S307


if __name__ == "__main__":
    write()
