"""What can be told from a query without parsing it."""

import re

_LITERAL_OR_COMMENT = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|--[^\n]*|/\*.*?\*/""", re.DOTALL)


def code_of(sql: str) -> str:
    """A query or filter of Spark without its string literals and comments, each of them a space."""
    return _LITERAL_OR_COMMENT.sub(" ", sql)


def reads(sql: str, name: str) -> bool:
    """Whether a query names a table or view, in any case."""
    return re.search(rf"\b{name}\b", code_of(sql), re.IGNORECASE) is not None
