"""The texts of all errors in one file, tests/errors.txt: `make golden` writes it, reviews read its diff.

They are taken from the code, not from runs, so an error that no test raises is listed too.
"""

import ast
import os
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CATALOGUE = Path(__file__).parent / "errors.txt"
_PRODUCT = ("bench", "compactbench", "reports", "strategies", "workloads")
_CODED = ("ScenarioError", "OptionError", "MissingRuntimeError", "EngineError", "ResultSchemaError")
_ERROR = re.compile(r"[A-Z]\w*Error|error_at")
_TEXTS = {"OptionError": 1, "error_at": 1}  # the position of the text, if it is not the first argument


def _errors() -> list[tuple[str, ast.Call, str]]:
    """Each place that makes an error with a text: its file, the call, and the text."""
    errors = []
    for path in (path for folder in _PRODUCT for path in sorted((ROOT / folder).rglob("*.py"))):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        assigned = {(node.targets[0].id, node.lineno): node.value for node in nodes
                    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)}  # fmt: skip
        errors += [
            (str(path.relative_to(ROOT)), node, _text(node, assigned))
            for node in nodes
            if isinstance(node, ast.Call) and _ERROR.fullmatch(_name(node)) and node.args
        ]
    return errors


def _name(call: ast.Call) -> str:
    function = call.func
    return function.id if isinstance(function, ast.Name) else ""


def _code(call: ast.Call) -> str:
    codes = [keyword.value for keyword in call.keywords if keyword.arg == "code"]
    return ast.literal_eval(codes[0]) if codes and isinstance(codes[0], ast.Constant) else ""


def _text(call: ast.Call, assigned: Mapping[tuple[str, int], ast.expr]) -> str:
    """The text with what is computed in braces, as in the code; of a variable, what was last assigned."""
    position = _TEXTS.get(_name(call), 0)
    node = call.args[position] if position < len(call.args) else call.args[-1]
    if isinstance(node, ast.Name):
        before = [line for name, line in assigned if name == node.id and line < call.lineno]
        text = assigned[node.id, max(before)] if before else node
        node = text if isinstance(text, ast.JoinedStr | ast.Constant) else node
    if isinstance(node, ast.JoinedStr):
        return "".join(_part(part) for part in node.values)
    return str(node.value) if isinstance(node, ast.Constant) else f"{{{ast.unparse(node)}}}"


def _part(node: ast.expr) -> str:
    if isinstance(node, ast.FormattedValue):
        return f"{{{ast.unparse(node.value)}}}"
    return str(node.value) if isinstance(node, ast.Constant) else ""


def test_the_catalogue_has_the_text_of_every_error():
    lines = sorted({f"{_code(call) or '-'}  {_name(call)}: {text}" for _, call, text in _errors()})
    made = "\n".join(line.replace("\n", " ") for line in lines) + "\n"
    if os.environ.get("COMPACTBENCH_GOLDEN") == "rewrite":
        CATALOGUE.write_text(made, encoding="utf-8")
    assert made == CATALOGUE.read_text(encoding="utf-8"), "run `make golden` and review the diff"


@pytest.mark.parametrize("name", _CODED)
def test_every_error_for_users_has_a_code(name):
    uncoded = [
        f"{file}:{call.lineno}"
        for file, call, _ in _errors()
        if _name(call) == name and not any(keyword.arg == "code" for keyword in call.keywords)
    ]
    assert uncoded == []


def test_codes_are_words_with_hyphens():
    codes = {_code(call) for _, call, _ in _errors()} - {""}
    assert [code for code in codes if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code)] == []
