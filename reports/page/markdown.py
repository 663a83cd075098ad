"""Markdown in which text from results stays text.

Labels become code spans. A label that could end its span, table cell or line is written with character
references instead, which every dialect understands.
"""

import re

from reports.page.tables import Cell, Column, Table
from reports.phrases import Sentence, Verbatim

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$&])")
_LINE_START = re.compile(r"^([-+=]|\d{1,9}(?=[.)](?:\s|$)))")
_LINK = re.compile(r"://|www\.", re.IGNORECASE)
_PLAIN_CODE = re.compile(r"[^`|<>&\\]+")
_WORD = re.compile(r"[A-Za-z0-9 ]")


class SafeMarkdown(str):
    __slots__ = ()


def to_markdown(value: object) -> str:
    """What a template prints for a value: everything except `SafeMarkdown` is escaped."""
    if isinstance(value, SafeMarkdown):
        return value
    if isinstance(value, Sentence):
        return "".join(to_markdown(part) for part in value.parts)
    return code(value) if isinstance(value, Verbatim) else escape(str(value))


def escape(text: str) -> str:
    """Our words, or prose from results, on one line and without Markdown syntax."""
    line = _SPECIAL.sub(r"\\\1", _one_line(text))
    line = _LINK.sub(lambda match: f"{match[0][:-1]}\\{match[0][-1]}", line)
    return _LINE_START.sub(lambda match: f"{match[0]}\\" if match[0].isdigit() else f"\\{match[0]}", line)


def code(text: str) -> str:
    line = _one_line(text)
    if _PLAIN_CODE.fullmatch(line) and line == line.strip():
        return f"`{line}`"
    return f"<code>{''.join(c if _WORD.fullmatch(c) else f'&#{ord(c)};' for c in line)}</code>"


def fenced(text: str) -> SafeMarkdown:
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return SafeMarkdown(f"{fence}\n{text}\n{fence}")


def table(shown: Table) -> SafeMarkdown:
    """A pipe table: numbers right-aligned, the best of a column in bold."""
    head = [_heading(column) for column in shown.columns]
    rules = ["---:" if column.is_number else "---" for column in shown.columns]
    body = [[_cell(cell) for cell in row] + [""] * (len(head) - len(row)) for row in shown.rows]
    return SafeMarkdown("\n".join(f"| {' | '.join(line)} |" for line in (head, rules, *body)))


def _heading(column: Column) -> str:
    return to_markdown(column.title) + (f" ({to_markdown(column.unit)})" if column.unit else "")


def _cell(cell: Cell) -> str:
    text = f"**{to_markdown(cell.text)}**" if cell.is_best else to_markdown(cell.text)
    return f"{text} ({to_markdown(cell.note)})" if cell.note else text


def _one_line(text: str) -> str:
    """Line breaks and tabs become spaces, other control characters a replacement character."""
    flat = re.sub(r"\s+", " ", text)
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in flat)
