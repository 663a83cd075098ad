"""Amoro's `self-optimizing.filter`: a SQL condition on columns, evaluated on the partitions files are in.

Upstream makes an Iceberg expression of it and scans with that, so Iceberg drops the files that cannot hold a
matching row: by their partition, and by the bounds that manifests have of any column. A table state has no
bounds and no column types. So here a filter may name identity partition columns alone, and a literal is
taken to be of its column's type, whereas Amoro fails on others.

Its SQL is what upstream converts, and no more: comparisons of a column and a literal, IN, BETWEEN and IS
NULL, negated or not, joined by AND and OR without parentheses.

Source: `ExpressionUtil.convertSqlFilterToIcebergExpression` of Amoro at 96a4d78 (JSqlParser 4.7);
`Evaluator` and `InclusiveMetricsEvaluator` of Iceberg 1.7.2.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from strategies.iceberg.partitions import decoded, fields_of, is_null
from strategies.java_values import parse_long

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
    """A column against a literal. Null compares with none, and differs from all."""

    column: str
    operator: str
    literal: Literal

    def matches(self, value: Literal | None) -> bool:
        """Whether the column's value is as asked."""
        if value is None:
            return self.operator == "!="
        return _OPERATORS[self.operator](value, self.literal)


@dataclass(frozen=True, slots=True)
class Membership:
    """A column among literals, or not among them, as null never is."""

    column: str
    literals: tuple[Literal, ...]
    is_in: bool

    def matches(self, value: Literal | None) -> bool:
        """Whether the column's value is as asked."""
        return (value in self.literals) is self.is_in


@dataclass(frozen=True, slots=True)
class NullTest:
    """A column that is null, or is not."""

    column: str
    is_null: bool

    def matches(self, value: Literal | None) -> bool:
        """Whether the column's value is as asked."""
        return (value is None) is self.is_null


Condition = Comparison | Membership | NullTest
Rows = tuple[tuple[Condition, ...], ...]  # all conditions of a row hold, of any row


@dataclass(frozen=True, slots=True)
class PartitionFilter:
    """A condition in its disjunctive form, and the SQL it was read from."""

    text: str
    rows: Rows

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it names, each once."""
        return tuple(dict.fromkeys(condition.column for row in self.rows for condition in row))

    def admits(self, partition: str) -> bool:
        """Whether files of the partition may hold matching rows.

        Raises ValueError where the partition does not tell: it has no such field, or no number where the
        filter has one.
        """
        fields = fields_of(partition)
        matched = [[self._matches(condition, fields, partition) for condition in row] for row in self.rows]
        return any(all(row) for row in matched)

    def _matches(self, condition: Condition, fields: Mapping[str, str], partition: str) -> bool:
        encoded = fields.get(condition.column)
        if encoded is None:
            raise ValueError(
                f"option self-optimizing.filter = {self.text!r} cannot be evaluated: partition "
                f"{partition!r} does not tell the values of {condition.column}, and the table state tells "
                "no others; filter by columns the table is partitioned by, or leave the option out"
            )
        if is_null(encoded):
            return condition.matches(None)
        text = decoded(encoded)
        if not _compares_numbers(condition):
            return condition.matches(text)
        if not re.fullmatch(r"-?\d+", text):
            raise ValueError(
                f"option self-optimizing.filter = {self.text!r} compares {condition.column} with a number, "
                f"which {text!r} of partition {partition!r} is not; put the literal in single quotes"
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
    """The filter of a SQL condition, None for blank text. Raises ValueError that says what it "must be"."""
    if not text.strip():
        return None
    return PartitionFilter(text, _Reader(_tokens(text)).filter_rows())


def _tokens(text: str) -> list[str]:
    tokens, position = list[str](), 0
    while position < len(text.rstrip()):
        found = _TOKEN.match(text, position)
        if found is None:
            raise ValueError(
                "must be conditions on whole numbers from 0, texts in single quotes and dates; not read from "
                f"{text[position:].strip()!r} on"
            )
        tokens.append(found[0].strip())
        position = found.end()
    return tokens


class _Reader:
    """A descent through the tokens, of which one is current, "" at the end."""

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
        """The whole condition."""
        rows = self._disjunction()
        if self._current:
            raise ValueError(f"must be conditions joined by AND and OR; not read from {self._current!r} on")
        return rows

    def _disjunction(self) -> Rows:
        """Rows of conditions: AND binds closer than OR."""
        rows = self._conjunction()
        while self._took("OR"):
            rows += self._conjunction()
        return rows

    def _conjunction(self) -> Rows:
        rows = self._condition()
        while self._took("AND"):
            more = self._condition()
            rows = tuple((*left, *right) for left in rows for right in more)
        return rows

    def _condition(self) -> Rows:
        """One condition, as rows too: NOT BETWEEN is below or above."""
        is_negated = self._took("NOT")
        if self._current == "(":
            raise ValueError("must be without parentheses around conditions, which Amoro does not read")
        if not self._is_column():
            literal, operator = self._literal(), _REVERSED[self._operator()]
            return _compared(self._column(), operator, literal, is_negated)
        column = self._column()
        if self._took("IS"):
            is_null = not self._took("NOT")
            self._demand("NULL")
            return ((NullTest(column, is_null is not is_negated),),)
        is_negated = self._took("NOT") is not is_negated
        if self._took("IN"):
            return ((Membership(column, self._literals(), is_in=not is_negated),),)
        if self._took("BETWEEN"):
            low = self._literal()
            self._demand("AND")
            return _between(column, low, self._literal(), is_negated)
        return _compared(column, self._operator(), self._literal(), is_negated)

    def _literals(self) -> tuple[Literal, ...]:
        self._demand("(")
        found = [self._literal()]
        while self._took(","):
            found.append(self._literal())
        self._demand(")")
        return tuple(found)

    def _is_column(self) -> bool:
        """DATE is a column unless a text follows, which makes it a literal."""
        if self._word == "DATE":
            return not self._tokens[self._place + 1].startswith("'")
        return self._current[:1].isidentifier() and self._word not in _WORDS

    def _column(self) -> str:
        """A column's own name: what stands before a dot, a table's name, is passed over."""
        if not self._is_column():
            raise ValueError(
                f"must compare a column with a literal; {self._current or 'the end'!r} is no column"
            )
        return self._next().rpartition(".")[2]

    def _operator(self) -> str:
        operator = "!=" if self._current == "<>" else self._current
        if operator not in _OPERATORS:
            raise ValueError(
                f"must be comparisons, IN, BETWEEN and IS NULL; not {self._current or 'the end'!r}"
            )
        self._next()
        return operator

    def _literal(self) -> Literal:
        """A whole number, a text, DATE 'text', or true and false.

        A quote within a text is doubled, and stays so: Amoro does not undo it.
        """
        if self._current.isdigit():
            return parse_long(self._next())
        if self._word in ("TRUE", "FALSE"):
            return self._next().lower()
        is_date = not self._is_column() and self._took("DATE")
        if not self._current.startswith("'"):
            raise ValueError(
                "must have whole numbers or texts in single quotes for literals, not "
                f"{self._current or 'the end'!r}"
            )
        text = self._next()[1:-1]
        if (is_date or _OTHER_DATE_OR_TIME.fullmatch(text)) and not _DATE.fullmatch(text):
            raise ValueError(
                f"must have dates such as '2026-01-05' and no times, since texts are compared; not {text!r}"
            )
        return text

    def _took(self, word: str) -> bool:
        if self._word != word:
            return False
        self._next()
        return True

    def _demand(self, word: str) -> None:
        if not self._took(word):
            raise ValueError(f"must have {word} where it has {self._current or 'its end'!r}")

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
