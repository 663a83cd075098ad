"""Which files a query of a simulated table opens, by its conditions on the key and on the partition.

A reader skips partitions, and files by the bounds of their keys. Conditions on other columns skip nothing
here, since every file is expected to hold their values. What would skip files in a way that is not modelled
is refused.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from bench.engines.simulated.key_ranges import KeyRange
from strategies.partitions import HIVE_NULL, decoded, is_null
from workloads.partitioning import DAY_S, Partitioning

if TYPE_CHECKING:  # imported when it is needed: that takes a tenth of a second
    from sqlglot import exp

_KEY, _DATE, _DAY = "order_id", "order_date", "partition_day"
_MOST = 2**63 - 1
_CACHED = 10_000
_FIRST_DAY = date(1970, 1, 1)

Value = int | str


@dataclass(frozen=True, slots=True)
class Condition:
    """Values of a column: one of `values`, or from `low` to `high` (None: no limit) without those `excluded`.

    They are either whole numbers or texts.
    """

    values: tuple[Value, ...] | None = None
    low: Value | None = None
    high: Value | None = None
    excluded: tuple[Value, ...] = ()

    @property
    def is_of_numbers(self) -> bool:
        ends = (end for end in (self.low, self.high) if end is not None)
        return all(isinstance(value, int) for value in (*(self.values or ()), *ends))

    def admits(self, text: str | None) -> bool:
        """Whether it holds for the value of a partition; it does not for null."""
        if text is None:
            return False
        if self.is_of_numbers and not text.lstrip("-").isdecimal():
            return False  # a partition of an imported table that is no number
        value: Any = int(text) if self.is_of_numbers else text
        if self.values is not None:
            return value in self.values
        is_above = self.low is None or self.low <= value
        return is_above and (self.high is None or value <= self.high) and value not in self.excluded


@dataclass(frozen=True, slots=True)
class Selection:
    """The keys that a query wants (None: all), and its conditions on the partition, which must all hold.

    Each condition is on the column at a place among the `columns_count` of the partition's path, counted from
    the end: -1 is the last.
    """

    keys: KeyRange | None = None
    conditions: tuple[tuple[int, Condition], ...] = ()
    columns_count: int = 1

    def admits(self, partition: str) -> bool:
        """Whether a partition may hold a wanted row; it is named by its path, or by its value as in Hudi."""
        return not self.conditions or _admits(self, partition)


EVERYTHING = Selection()


def partition_values(partition: str, columns_count: int) -> list[str | None] | None:
    """The values in a partition's path, whether it names its columns or not; None if they cannot be told.

    A null value is None. The only value of a path may contain slashes, as Hudi's days do.
    """
    parts = [partition] if columns_count == 1 else partition.split("/")
    return [*map(_value_in, parts)] if len(parts) == columns_count else None


def _value_in(part: str) -> str | None:
    name, equals, value = part.partition("=")
    text = value if equals else name
    return None if text == HIVE_NULL or (equals and is_null(text)) else decoded(text)


@lru_cache(_CACHED)
def _admits(selection: Selection, partition: str) -> bool:
    values = partition_values(partition, selection.columns_count)
    return values is None or all(condition.admits(values[place]) for place, condition in selection.conditions)


@lru_cache(_CACHED)
def selection_of(
    sql: str, partitioning: Partitioning, day_text: Callable[[date], str] = date.isoformat
) -> Selection:
    """What a query selects of the table; `day_text` writes a day as the partitions of its format do.

    Raises ValueError for a query that is not modelled.
    """
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        query = sqlglot.parse_one(sql, dialect="spark")
    except SqlglotError as error:
        raise ValueError(
            f"cannot be parsed for a simulation: {str(error).splitlines()[0].rstrip('.')}"
        ) from error
    ctes = {cte.alias_or_name.lower() for cte in query.find_all(exp.CTE)}
    tables = [table for table in query.find_all(exp.Table) if table.name.lower() not in ctes]
    if len(tables) != 1:
        raise ValueError(f"reads {len(tables)} tables; a simulation models queries of one")
    keys: list[Condition] = []
    conditions: list[tuple[int, Condition]] = []
    columns = [column.lower() for column in partitioning.columns]
    for where in query.find_all(exp.Where):
        if isinstance(where.parent, exp.Filter):
            continue  # of an aggregate, which reads all rows
        for part in _conjuncts(where.this):
            names = {column.name.lower() for column in part.find_all(exp.Column)}
            if partitioning.is_recorded and names - {*columns}:
                raise _not_modelled(part, "of an imported table only conditions on partition columns are")
            if names & {_KEY, _DATE, *columns}:
                column, condition = _condition(part)
                if column in columns:
                    conditions.append((columns.index(column) - len(columns), condition))
                elif column == _KEY:
                    keys.append(condition)
                elif columns == [_DAY]:
                    conditions.append((-1, _of_days(condition, day_text)))
                else:
                    raise _not_modelled(part, "without daily partitions, dates rule out files by their rows")
    return Selection(_key_range(keys), tuple(conditions), max(1, len(columns)))


def _conjuncts(condition: "exp.Expression") -> Iterator["exp.Expression"]:
    from sqlglot import exp

    if isinstance(condition, exp.And | exp.Paren):
        for part in condition.iter_expressions():
            yield from _conjuncts(part)
    else:
        yield condition


def _condition(part: "exp.Expression") -> tuple[str, Condition]:
    """The column that a condition is on, and the values that it admits."""
    from sqlglot import exp

    match part:
        case exp.Between():
            low, high = _value(part, part.args["low"]), _value(part, part.args["high"])
            if type(low) is type(high):
                return _column(part, part.this), Condition(low=low, high=high)
        case exp.In() if part.expressions:
            return _column(part, part.this), Condition(
                values=tuple(_value(part, item) for item in part.expressions)
            )
        case exp.EQ():
            column, literal, _ = _sides(part)
            return _column(part, column), Condition(values=(_value(part, literal),))
        case exp.GT() | exp.GTE() | exp.LT() | exp.LTE():
            column, literal, is_turned = _sides(part)
            value = _value(part, literal)
            excluded = (value,) if isinstance(part, exp.GT | exp.LT) else ()
            if isinstance(part, exp.LT | exp.LTE) is not is_turned:
                return _column(part, column), Condition(high=value, excluded=excluded)
            return _column(part, column), Condition(low=value, excluded=excluded)
    raise _not_modelled(part)


def _sides(part: "exp.Expression") -> tuple["exp.Expression", "exp.Expression", bool]:
    """The column and the value of a comparison, and whether the value is on the left."""
    from sqlglot import exp

    if isinstance(part.this, exp.Column):
        return part.this, part.expression, False
    return part.expression, part.this, True


def _column(part: "exp.Expression", column: "exp.Expression") -> str:
    from sqlglot import exp

    if not isinstance(column, exp.Column):
        raise _not_modelled(part)
    return column.name.lower()


def _value(part: "exp.Expression", literal: "exp.Expression") -> Value:
    from sqlglot import exp

    inner = literal.this if isinstance(literal, exp.Cast) else literal
    if not isinstance(inner, exp.Literal) or not (inner.is_string or inner.is_int):
        raise _not_modelled(part)
    return str(inner.this) if inner.is_string else int(inner.this)


def _not_modelled(part: "exp.Expression", why: str = "") -> ValueError:
    reason = why or (
        "it must compare the column with whole numbers or texts by =, <, <=, >, >=, BETWEEN or IN, and "
        "conditions must be connected by AND"
    )
    return ValueError(f"the condition {part.sql(dialect='spark')} is not modelled: {reason}")


def _key_range(conditions: list[Condition]) -> KeyRange | None:
    """The range of keys that all conditions admit; None if there are none."""
    if not conditions:
        return None
    low, high = 0, _MOST
    for condition in conditions:
        if not condition.is_of_numbers or len(condition.values or ()) > 1:
            raise ValueError("a simulation models conditions on order_id by one number or one range")
        ends: Any = condition.values * 2 if condition.values else (condition.low, condition.high)
        low = max(low, low if ends[0] is None else ends[0] + (ends[0] in condition.excluded))
        high = min(high, high if ends[1] is None else ends[1] - (ends[1] in condition.excluded))
    return low, high


def _of_days(condition: Condition, day_text: Callable[[date], str]) -> Condition:
    """The days of moments in milliseconds since 1970."""

    def day(at_ms: Any, shift_ms: int = 0) -> str | None:
        if at_ms is None:
            return None
        shifted_ms = at_ms + shift_ms * (at_ms in condition.excluded)
        try:
            return day_text(_FIRST_DAY + timedelta(days=shifted_ms // (DAY_S * 1000)))
        except OverflowError as error:
            raise ValueError(
                f"order_date holds milliseconds since 1970, in the years 1 to 9999, and {at_ms} is beyond"
            ) from error

    if not condition.is_of_numbers:
        raise ValueError(
            "order_date holds milliseconds since 1970, so conditions on it must be whole numbers"
        )
    if condition.values is not None:
        return Condition(values=tuple(text for text in map(day, condition.values) if text is not None))
    return Condition(low=day(condition.low, 1), high=day(condition.high, -1))
