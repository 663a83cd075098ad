"""Cells of CSV files that spreadsheets open."""

import json
from typing import Any

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def formula_safe(value: Any) -> Any:
    """A cell that spreadsheets do not read as a formula; numbers stay numbers, nested values become JSON.

    Source: OWASP, "CSV Injection": a leading = + - @, tab or line break starts a formula.
    """
    if isinstance(value, list | tuple | dict):
        value = json.dumps(value, sort_keys=True)
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_STARTS) else value
