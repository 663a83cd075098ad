"""Texts of Spark SQL: facts about a query that do not need a parser, and literals."""

import re

_LITERAL_OR_COMMENT = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|--[^\n]*|/\*.*?\*/""", re.DOTALL)


def code_of(sql: str) -> str:
    """A query or filter of Spark with each string literal and comment replaced by a space."""
    return _LITERAL_OR_COMMENT.sub(" ", sql)


def reads(sql: str, name: str) -> bool:
    """Whether a query mentions a table or view, ignoring case."""
    return re.search(rf"\b{name}\b", code_of(sql), re.IGNORECASE) is not None


def sql_text(value: str) -> str:
    """`value` as a Spark SQL string literal."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
