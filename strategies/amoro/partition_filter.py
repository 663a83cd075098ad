"""Amoro's `self-optimizing.filter`: a SQL condition on columns, evaluated on the partitions of files.

Upstream converts it to an Iceberg expression and scans with that, so Iceberg skips the files that cannot hold
a matching row: by their partition, and by the column bounds in the manifests. A table state has neither
bounds nor column types. Here a filter may therefore name identity partition columns only, and a literal is
assumed to have the type of its column, whereas Amoro fails on any other literal.

The grammar is the part of SQL that upstream converts: comparisons of a column with a literal, IN, BETWEEN and
IS NULL, negated or not, joined by AND and OR without parentheses.

Source: `ExpressionUtil.convertSqlFilterToIcebergExpression` of Amoro at 96a4d78 (JSqlParser 4.7);
`Evaluator` and `InclusiveMetricsEvaluator` of Iceberg 1.7.2.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from strategies.java_values import parse_long
from strategies.partitions import decoded, fields_of, is_null

Literal = int | str

_TOKEN = re.compile(r"\s*(?:('(?:[^']|'')*')|(\d+(?![\w.]))|([A-Za-z_][\w.]*)|(<=|>=|<>|!=|[=<>(),]))")
_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge,
}  # fmt: skip
_REVERSED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_NEGATED = {"=": "!=", "!=": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_WORDS = frozenset({"AND", "OR", "NOT", "IN", "IS", "NULL", "BETWEEN"})
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_OTHER_DATE_OR_TIME = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{4}-\d{2}-\d{2}T.*|\d{2}:\d{2}:\d{2}")


@dataclass(frozen=True, slots=True)
class Comparison:
    """A column compared with a literal. Null differs from every literal, and no other comparison holds."""

    column: str
    operator: str
    literal: Literal

    def matches(self, value: Literal | None) -> bool:
        """Whether the condition holds for this value of the column."""
        if value is None:
            return self.operator == "!="
        return _OPERATORS[self.operator](value, self.literal)


@dataclass(frozen=True, slots=True)
class Membership:
    """A column that is one of the literals, or is none of them. Null is never one of them."""

    column: str
    literals: tuple[Literal, ...]
    is_in: bool

    def matches(self, value: Literal | None) -> bool:
        """Whether the condition holds for this value of the column."""
        return (value in self.literals) is self.is_in


@dataclass(frozen=True, slots=True)
class NullTest:
    """A column that is null, or is not."""

    column: str
    is_null: bool

    def matches(self, value: Literal | None) -> bool:
        """Whether the condition holds for this value of the column."""
        return (value is None) is self.is_null


Condition = Comparison | Membership | NullTest
Rows = tuple[tuple[Condition, ...], ...]  # matches if all conditions of any row hold


@dataclass(frozen=True, slots=True)
class PartitionFilter:
    """A condition in disjunctive normal form, and the SQL it was parsed from."""

    text: str
    rows: Rows

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the condition names, each once."""
        return tuple(dict.fromkeys(condition.column for row in self.rows for condition in row))

    def admits(self, partition: str) -> bool:
        """Whether files of the partition may hold matching rows.

        Raises ValueError if the partition cannot decide that: it lacks a column of the filter, or its value
        is not a number where the filter compares with one.
        """
        fields = fields_of(partition)
        matched = [[self._matches(condition, fields, partition) for condition in row] for row in self.rows]
        return any(all(row) for row in matched)

    def _matches(self, condition: Condition, fields: Mapping[str, str], partition: str) -> bool:
        encoded = fields.get(condition.column)
        if encoded is None:
            raise ValueError(
                f"option self-optimizing.filter = {self.text!r} cannot be evaluated: partition "
                f"{partition!r} does not give the values of {condition.column}, and the table state has no "
                "others; filter by columns that the table is partitioned by, or leave the option out"
            )
        if is_null(encoded):
            return condition.matches(None)
        text = decoded(encoded)
        if not _compares_numbers(condition):
            return condition.matches(text)
        if not re.fullmatch(r"-?\d+", text):
            raise ValueError(
                f"option self-optimizing.filter = {self.text!r} compares {condition.column} with a number, "
                f"but {text!r} of partition {partition!r} is not one; put the literal in single quotes"
            )
        return condition.matches(int(text))


def _compares_numbers(condition: Condition) -> bool:
    match condition:
        case Comparison(literal=literal):
            return isinstance(literal, int)
        case Membership(literals=literals):
            return any(isinstance(literal, int) for literal in literals)
        case NullTest():
            return False


def read_filter(text: str) -> PartitionFilter | None:
    """Parse a SQL condition; None for blank text. Raises ValueError, whose message starts with "must"."""
    if not text.strip():
        return None
    return PartitionFilter(text, _Reader(_tokens(text)).filter_rows())


def _tokens(text: str) -> list[str]:
    tokens, position = list[str](), 0
    while position < len(text.rstrip()):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ValueError(
                "must be conditions on whole numbers >= 0, strings in single quotes and dates; cannot parse "
                f"{text[position:].strip()!r}"
            )
        tokens.append(match[0].strip())
        position = match.end()
    return tokens


class _Reader:
    """A recursive descent parser. One token is current; "" marks the end."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = [*tokens, ""]
        self._place = 0

    @property
    def _current(self) -> str:
        return self._tokens[self._place]

    @property
    def _word(self) -> str:
        return self._current.upper()

    def filter_rows(self) -> Rows:
        """Parse the whole condition."""
        rows = self._disjunction()
        if self._current:
            raise ValueError(f"must be conditions joined by AND and OR; cannot parse {self._current!r}")
        return rows

    def _disjunction(self) -> Rows:
        """Conjunctions joined by OR: AND binds tighter."""
        rows = self._conjunction()
        while self._accept("OR"):
            rows += self._conjunction()
        return rows

    def _conjunction(self) -> Rows:
        rows = self._condition()
        while self._accept("AND"):
            more = self._condition()
            rows = tuple((*left, *right) for left in rows for right in more)
        return rows

    def _condition(self) -> Rows:
        """One condition. It may need two rows: NOT BETWEEN means below or above."""
        is_negated = self._accept("NOT")
        if self._current == "(":
            raise ValueError("must have no parentheses around conditions: Amoro does not support them")
        if not self._is_column():
            literal, operator = self._literal(), _REVERSED[self._operator()]
            return _compared(self._column(), operator, literal, is_negated)
        column = self._column()
        if self._accept("IS"):
            is_null = not self._accept("NOT")
            self._expect("NULL")
            return ((NullTest(column, is_null is not is_negated),),)
        is_negated = self._accept("NOT") is not is_negated
        if self._accept("IN"):
            return ((Membership(column, self._literals(), is_in=not is_negated),),)
        if self._accept("BETWEEN"):
            low = self._literal()
            self._expect("AND")
            return _between(column, low, self._literal(), is_negated)
        return _compared(column, self._operator(), self._literal(), is_negated)

    def _literals(self) -> tuple[Literal, ...]:
        self._expect("(")
        literals = [self._literal()]
        while self._accept(","):
            literals.append(self._literal())
        self._expect(")")
        return tuple(literals)

    def _is_column(self) -> bool:
        """Whether the current token names a column; DATE does not if a string follows, as in a literal."""
        if self._word == "DATE":
            return not self._tokens[self._place + 1].startswith("'")
        return self._current[:1].isidentifier() and self._word not in _WORDS

    def _column(self) -> str:
        """The name of a column, without the name of a table in front of it."""
        if not self._is_column():
            raise ValueError(
                f"must compare a column with a literal; {self._current or 'the end'!r} is not a column"
            )
        return self._next().rpartition(".")[2]

    def _operator(self) -> str:
        operator = "!=" if self._current == "<>" else self._current
        if operator not in _OPERATORS:
            raise ValueError(
                f"must use comparisons, IN, BETWEEN or IS NULL, not {self._current or 'the end'!r}"
            )
        self._next()
        return operator

    def _literal(self) -> Literal:
        """A whole number, a string, DATE 'yyyy-mm-dd', true or false.

        A quote within a string is doubled, and it stays doubled, because Amoro does not unescape it.
        """
        if self._current.isdigit():
            return parse_long(self._next())
        if self._word in ("TRUE", "FALSE"):
            return self._next().lower()
        is_date = not self._is_column() and self._accept("DATE")
        if not self._current.startswith("'"):
            raise ValueError(
                "must have whole numbers or strings in single quotes as literals, not "
                f"{self._current or 'the end'!r}"
            )
        text = self._next()[1:-1]
        if (is_date or _OTHER_DATE_OR_TIME.fullmatch(text)) and not _DATE.fullmatch(text):
            raise ValueError(
                f"must have dates such as '2026-01-05' and no times, since strings are compared; not {text!r}"
            )
        return text

    def _accept(self, word: str) -> bool:
        if self._word != word:
            return False
        self._next()
        return True

    def _expect(self, word: str) -> None:
        if not self._accept(word):
            raise ValueError(f"must have {word} instead of {self._current or 'its end'!r}")

    def _next(self) -> str:
        token = self._current
        self._place += 1
        return token


def _compared(column: str, operator: str, literal: Literal, is_negated: bool) -> Rows:
    return ((Comparison(column, _NEGATED[operator] if is_negated else operator, literal),),)


def _between(column: str, low: Literal, high: Literal, is_negated: bool) -> Rows:
    if is_negated:
        return ((Comparison(column, "<", low),), (Comparison(column, ">", high),))
    return ((Comparison(column, ">=", low), Comparison(column, "<=", high)),)
