"""Amoro's `self-optimizing.filter`: a SQL condition on columns, evaluated on the partitions of files.

Amoro converts the condition to an Iceberg expression and scans with it. Iceberg then skips files that cannot
hold a matching row, judging by their partition and by the column metrics in the manifests. A table state has
neither metrics nor column types, so here a filter may name identity partition columns only. A literal is
assumed to have the type of its column; Amoro fails on any other.

Not reproduced: for `<`, `<=`, `NOT BETWEEN`, and `NOT` with `>` or `>=`, Iceberg's `Evaluator` sorts null
before all literals. So Amoro also takes the files of a null partition, provided that they have no metrics of
the column (with metrics, `InclusiveMetricsEvaluator` excludes them) and that their manifest also lists files
of other partitions. Here null matches no such comparison.

The grammar is the part of SQL that Amoro converts: comparisons of a column with a literal, IN, BETWEEN and
IS NULL, negated or not, joined by AND and OR without parentheses. SQLite or DuckDB would accept far more, and
would apply SQL's logic to null. Iceberg's differs: null satisfies `<>` and `NOT IN`.

Source: `ExpressionUtil.convertSqlFilterToIcebergExpression` of Amoro at 96a4d78 (JSqlParser 4.7);
`Evaluator` and `InclusiveMetricsEvaluator` of Iceberg 1.7.2.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain
from operator import eq, ge, gt, le, lt
from typing import Any

from strategies.java_values import parse_long
from strategies.partitions import decoded, fields_of, is_null

Literal = int | str
Operator = Callable[[Any, Any], bool]

_WORD_END = r"(?![\w.])"
_TEXT_OR_NUMBER = rf"(?:(?:DATE\s*)?'(?:[^']|'')*'|\d+{_WORD_END})"
_LITERAL = rf"(?:{_TEXT_OR_NUMBER}|(?:TRUE|FALSE){_WORD_END})"
_COLUMN = rf"(?!(?:AND|OR|NOT|IN|IS|NULL|BETWEEN){_WORD_END})[A-Za-z_][\w.]*{_WORD_END}"
_COMPARISON = r"(?:<=|>=|<>|!=|[=<>])"
_CONDITION = re.compile(
    rf"""\s* (?P<not_first>NOT{_WORD_END}\s*)? (?:
        (?P<left>{_TEXT_OR_NUMBER}) \s* (?P<reversed>{_COMPARISON}) \s* (?P<last>{_COLUMN})
      | (?P<column>{_COLUMN}) \s* (?:
            (?P<null>IS\s+(?P<not_null>NOT\s+)?NULL){_WORD_END}
          | (?P<not_last>NOT{_WORD_END}\s*)? (?:
                (?P<operator>{_COMPARISON}) \s* (?P<right>{_LITERAL})
              | IN\s*\(\s*(?P<listed>{_LITERAL}(?:\s*,\s*{_LITERAL})*)\s*\)
              | BETWEEN{_WORD_END}\s*(?P<low>{_LITERAL})\s*AND{_WORD_END}\s*(?P<high>{_LITERAL})
            )
        )
    ) \s* (?P<join>(?:AND|OR){_WORD_END}|$)""",
    re.IGNORECASE | re.VERBOSE,
)
_EACH_LITERAL = re.compile(_LITERAL, re.IGNORECASE)
_OPERATORS: Mapping[str, Operator] = {"=": eq, "!=": eq, "<>": eq, "<": lt, "<=": le, ">": gt, ">=": ge}
_REVERSED: Mapping[Operator, Operator] = {eq: eq, lt: gt, le: ge, gt: lt, ge: le}
_NOT_EQUAL = ("!=", "<>")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_OTHER_DATE_OR_TIME = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{4}-\d{2}-\d{2}T.*|\d{2}:\d{2}:\d{2}")


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on one column.

    The value must satisfy every pair of an operator and a literal or, if the operators are equalities, any of
    them. Without literals it must be null. `is_negated` inverts the result.
    """

    column: str
    operators: tuple[Operator, ...]
    literals: tuple[Literal, ...]
    is_negated: bool

    def matches(self, text: str | None) -> bool:
        """Whether the condition holds for a value of the column; None is null.

        Null differs from every literal, and satisfies no other comparison, negated or not. Raises ValueError
        if the literal is a number and the text is not.
        """
        if not self.literals:
            return (text is None) is not self.is_negated
        is_equality = eq in self.operators
        if text is None:
            return is_equality and self.is_negated
        pairs = zip(self.operators, self.literals, strict=True)
        compared = [operator(self._typed(text, literal), literal) for operator, literal in pairs]
        return (any if is_equality else all)(compared) is not self.is_negated

    def _typed(self, text: str, literal: Literal) -> Literal:
        """The value, converted to the type of the literal."""
        if isinstance(literal, str):
            return text
        if not re.fullmatch(r"-?\d+", text):
            raise ValueError(
                f"{self.column} is compared with a number, and {text!r} is not one: put the literal in quotes"
            )
        return int(text)


@dataclass(frozen=True, slots=True)
class PartitionFilter:
    """A filter: its SQL, and its conditions in disjunctive normal form (an OR of ANDs)."""

    text: str
    alternatives: tuple[tuple[Condition, ...], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the filter names, without repetition."""
        conditions = chain.from_iterable(self.alternatives)
        return tuple(dict.fromkeys(condition.column for condition in conditions))

    def admits(self, partition: str) -> bool:
        """Whether files of the partition may hold matching rows.

        Raises ValueError if the partition lacks a column of the filter, or if its value is not a number where
        the filter compares with a number.
        """
        fields = fields_of(partition)
        try:
            matched = [
                [condition.matches(_value(fields, condition.column)) for condition in conditions]
                for conditions in self.alternatives
            ]
        except ValueError as error:
            raise ValueError(
                f"option self-optimizing.filter = {self.text!r}: partition {partition!r}: {error}"
            ) from error
        return any(map(all, matched))


def _value(fields: Mapping[str, str], column: str) -> str | None:
    encoded = fields.get(column)
    if encoded is None:
        raise ValueError(
            f"it has no value of {column}: filter by columns that the table is partitioned by, or leave the "
            "option out"
        )
    return None if is_null(encoded) else decoded(encoded)


def read_filter(text: str) -> PartitionFilter | None:
    """Parse a SQL condition; None for blank text. Raises ValueError, whose message starts with "must"."""
    if not text.strip():
        return None
    alternatives: list[list[Condition]] = [[]]
    position, join = 0, "AND"
    while join:
        match = _CONDITION.match(text, position)
        if match is None:
            raise ValueError(
                "must be comparisons of a column with a string in single quotes or a whole number >= 0, IN, "
                "BETWEEN or IS NULL, joined by AND and OR without parentheses; cannot read "
                f"{text[position:].strip()!r}"
            )
        alternatives[-1].append(_condition(match))
        position, join = match.end(), match["join"].upper()
        if join == "OR":
            alternatives.append([])
    return PartitionFilter(text, tuple(map(tuple, alternatives)))


def _condition(match: re.Match[str]) -> Condition:
    column = (match["column"] or match["last"]).rpartition(".")[2]
    symbol = match["operator"] or match["reversed"]
    negations = (match["not_first"], match["not_null"], match["not_last"], symbol in _NOT_EQUAL)
    is_negated = sum(map(bool, negations)) % 2 == 1
    if match["null"]:
        return Condition(column, (), (), is_negated)
    if match["low"]:
        return Condition(column, (ge, le), (_literal(match["low"]), _literal(match["high"])), is_negated)
    listed = match["left"] or match["right"] or match["listed"]
    literals = tuple(_literal(literal[0]) for literal in _EACH_LITERAL.finditer(listed))
    operator = _OPERATORS[symbol] if symbol else eq
    operator = _REVERSED[operator] if match["reversed"] else operator
    return Condition(column, (operator,) * len(literals), literals, is_negated)


def _literal(text: str) -> Literal:
    """A whole number, a string, DATE 'yyyy-mm-dd', true or false.

    A doubled quote within a string stays doubled, because Amoro does not unescape it.
    """
    if text.isdigit():
        return parse_long(text)
    if not text.endswith("'"):
        return text.lower()
    prefix, _, quoted = text[:-1].partition("'")
    if (prefix or _OTHER_DATE_OR_TIME.fullmatch(quoted)) and not _DATE.fullmatch(quoted):
        raise ValueError(
            f"must have dates such as '2026-01-05' and no times, since strings are compared; not {quoted!r}"
        )
    return quoted
