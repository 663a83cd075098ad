"""Texts of Spark SQL: facts about a query that do not need Spark, and literals."""

import re
from collections.abc import Mapping

_LITERAL_OR_COMMENT = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|--[^\n]*|/\*.*?\*/""", re.DOTALL)
_PLAIN_SELECT = re.compile(r"[\s(]*SELECT\b[^;]*", re.IGNORECASE)


def code_of(sql: str) -> str:
    """A query or filter of Spark with each string literal and comment replaced by a space."""
    return _LITERAL_OR_COMMENT.sub(" ", sql)


def reads(sql: str, name: str) -> bool:
    """Whether a query mentions a table or view, ignoring case."""
    return re.search(rf"\b{name}\b", code_of(sql), re.IGNORECASE) is not None


def may_be_query(sql: str) -> bool:
    """Whether it is one query or cannot be parsed here; Spark has the last word on it."""
    if _PLAIN_SELECT.fullmatch(code_of(sql)):
        return True
    import sqlglot  # takes a tenth of a second, and most queries are plain
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        parsed = sqlglot.parse(sql, dialect="spark")
    except SqlglotError:
        return True
    statements = [part for part in parsed if part is not None and not isinstance(part, exp.Semicolon)]
    # sqlglot takes words that it does not know, such as those of Spark's TABLE, for expressions.
    kinds = exp.Query | exp.Values | exp.Alias | exp.Condition
    return len(statements) < 2 and all(isinstance(part, kinds) for part in statements)


def set_properties(table: str, properties: Mapping[str, str]) -> str:
    """The statement of Spark that sets table properties."""
    pairs = ", ".join(f"{sql_text(name)} = {sql_text(str(value))}" for name, value in properties.items())
    return f"ALTER TABLE {table} SET TBLPROPERTIES ({pairs})"


def sql_text(value: str) -> str:
    """`value` as a Spark SQL string literal."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
