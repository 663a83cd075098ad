"""Tables of figures: fields by name for programs, columns of one unit for people."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

from bench.cli.tables import Column
from bench.engines.keys import duration_ms_text
from bench.results.records import DELETE_WORDS
from bench.results.rows import in_delete_words
from bench.text import MISSING, byte_unit, human_number
from reports.text import format_value

_MARK = "~"
MARKED_WORDS = f"{_MARK} no verdict on this figure: the cost model does not cover it"


@dataclass(frozen=True, slots=True)
class Field:
    """A value: its name for programs, its column for people, and its unit.

    `unit` is the unit of a metric, "at" for milliseconds of scenario time, or empty for text. Figures with
    equal `unit` and `quantity` are printed in one unit. A column that holds only `unless` is left out.
    """

    name: str
    column: Column
    unit: str = ""
    quantity: str = ""
    unless: str | None = None


def figure_table(
    fields: Sequence[Field], lines: Sequence[Sequence[Any]], delete_words: tuple[str, str] = DELETE_WORDS
) -> tuple[list[Column], list[tuple[str, ...]]]:
    """Columns and rows of text for people; `delete_words` name delete files and the rows in them."""
    values = dict(zip(fields, zip(*lines, strict=True), strict=True)) if lines else dict.fromkeys(fields, ())
    shown = [field for field in fields if field.unless is None or {*values[field]} - {field.unless}]
    columns, cells = [], []
    for field in shown:
        same_unit = (f for f in shown if (f.unit, f.quantity) == (field.unit, field.quantity))
        unit, texts = _texts(field.unit, values[field], [value for f in same_unit for value in values[f]])
        title = in_delete_words(field.column.title, delete_words)
        columns.append(replace(field.column, title=title, unit=field.column.unit or unit))
        cells.append(texts)
    return columns, list(zip(*cells, strict=True))


def scaled(
    unit: str, values: Iterable[float | None], pooled: Iterable[float | None]
) -> tuple[str, list[str]]:
    """The unit that suits the largest of `pooled`, and `values` as numbers in it; None becomes a dash.

    The unit is µs, ms or s, B to PiB, or percent. For other metrics it is empty, and each text has its own.
    """
    largest = max((abs(value) for value in pooled if _is_known(value)), default=0.0)
    if unit == "s":
        factor, name = (1.0, "s") if largest >= 1 or not largest else (1e3, "ms")
        if 0 < largest < 1e-3:
            factor, name = 1e6, "µs"
    elif unit == "bytes":
        size_bytes, name = byte_unit(largest)
        factor = 1 / size_bytes
    elif unit == "share":
        factor, name = 100.0, "%"
    else:
        return "", [format_value(unit, value) for value in values]
    return name, [human_number(value * factor) if _is_known(value) else MISSING for value in values]


def marked(text: str) -> str:
    """A figure on which there is no verdict, unless it is 0 or unknown (see `MARKED_WORDS`)."""
    return text if text.partition(" ")[0] in ("0", MISSING) else f"{_MARK}{text}"


def plain(value: Any) -> Any:
    """The figures of a planner as text, such as "health_score=71, ..."; any other value unchanged."""
    return ", ".join(f"{name}={part:g}" for name, part in value.items()) if isinstance(value, dict) else value


def _texts(unit: str, values: Iterable[Any], pooled: Iterable[Any]) -> tuple[str, list[str]]:
    if unit == "at":
        return "", [duration_ms_text(value) for value in values]
    if not unit:
        return "", ["" if value is None else str(plain(value)) for value in values]
    return scaled(unit, values, pooled)


def _is_known(value: float | None) -> TypeGuard[float]:
    return value is not None and not math.isnan(value)
