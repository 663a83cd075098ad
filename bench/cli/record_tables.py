"""The tables of `show --decisions` and `show --compactions`: one per run, with one line per record."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from bench.cli.figure_column import scale_of
from bench.cli.tables import Column
from bench.keys import duration_ms_text
from bench.results.records import CompactionRecord, DecisionRecord
from bench.results.rows import in_delete_words
from bench.text import human_count

Quantity = Literal["text", "count", "at", "wall", "query", "bytes"]
_METRIC_UNITS: Mapping[Quantity, str] = {"wall": "s", "query": "s", "bytes": "bytes"}


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a record: its name for programs, its column for people, and what it holds.

    Figures of one quantity share their unit within a table. With `unless` the column is left out where all
    values are that one.
    """

    name: str
    column: Column
    quantity: Quantity = "text"
    unless: str | None = None


DECISION_FIELDS = (
    Field("tick", Column("tick"), "count"),
    Field("at_ms", Column("at", drop=2), "at"),
    Field("strategy", Column("strategy", drop=3, shown="if varied")),
    Field("rule", Column("rule", drop=4, shown="if varied"), "count"),
    Field("trigger", Column("trigger", drop=5, shown="if varied")),
    Field("planner", Column("planner", drop=6, shown="if varied")),
    Field("verdict", Column("decision")),
    Field("reason", Column("reason", shown="if any")),
    Field("detail", Column("detail", drop=8, shown="if any")),
    Field("actions", Column("actions", drop=1, shown="if any")),
    Field("figures", Column("figures", drop=7, shown="if any")),
)
COMPACTION_FIELDS = (
    Field("tick", Column("tick"), "count"),
    Field("status", Column("status"), unless="ok"),
    Field("kind", Column("kind", shown="if any")),
    Field("reason", Column("reason", drop=1)),
    Field("files_before", Column("files before"), "count"),
    Field("files_after", Column("files after"), "count"),
    Field("deletes_before", Column("delete files before", shown="if any"), "count"),
    Field("deletes_after", Column("delete files after", shown="if any"), "count"),
    Field("delete_rows_after", Column("deleted rows after", drop=2, shown="if any"), "count"),
    Field("bytes_before", Column("bytes before", drop=4), "bytes"),
    Field("bytes_after", Column("bytes after", drop=5), "bytes"),
    Field("wall_s", Column("wall", drop=6), "wall"),
    Field("cpu_s", Column("CPU"), "wall"),
    Field("query_before_s", Column("query before", drop=8, shown="if any"), "query"),
    Field("query_after_s", Column("query after", drop=7, shown="if any"), "query"),
    Field("replaced_bytes", Column("bytes replaced", drop=3), "bytes"),
    Field("added_bytes", Column("bytes added"), "bytes"),
    Field("error", Column("error", shown="if any")),
)


def decision_line(record: DecisionRecord) -> tuple[Any, ...]:
    """The values of `DECISION_FIELDS`."""
    return (
        record.tick, record.at_ms, record.strategy, record.rule, record.trigger, record.planner,
        record.status, record.reason, record.detail, "; ".join(record.actions), record.figures,
    )  # fmt: skip


def compaction_line(record: CompactionRecord) -> tuple[Any, ...]:
    """The values of `COMPACTION_FIELDS`."""
    return (
        record.tick, record.status, record.plan_kind, record.reason,
        record.files_before_count, record.files_after_count, record.delete_files_before_count,
        record.delete_files_after_count, record.delete_rows_after, record.live_before_bytes,
        record.live_after_bytes, record.wall_s,
        record.own_cpu_s, record.query_before_s, record.query_after_s, record.replaced_bytes,
        record.added_bytes, record.error,
    )  # fmt: skip


def record_table(
    fields: Sequence[Field], lines: Sequence[Sequence[Any]], delete_words: tuple[str, str]
) -> tuple[list[Column], list[tuple[str, ...]]]:
    """Columns and rows of text for people, of the records of one run.

    `delete_words` are what its format calls delete files and the rows in them.
    """
    values = {field.name: [line[index] for line in lines] for index, field in enumerate(fields)}
    pooled: dict[Quantity, list[Any]] = {}
    for field in fields:
        pooled.setdefault(field.quantity, []).extend(values[field.name])
    columns, cells = [], []
    for field in fields:
        if field.column.shown == "if any" and not any(values[field.name]):
            continue
        if field.unless is not None and set(values[field.name]) <= {field.unless}:
            continue
        unit, texts = _texts(field.quantity, values[field.name], pooled[field.quantity])
        title = in_delete_words(field.column.title, delete_words)
        columns.append(replace(field.column, title=title, unit=unit))
        cells.append(texts)
    return columns, list(zip(*cells, strict=True))


def plain(value: Any) -> Any:
    """The value; the figures of a planner as one text: "health_score=71, ..."."""
    return ", ".join(f"{name}={part:g}" for name, part in value.items()) if isinstance(value, dict) else value


def _texts(quantity: Quantity, values: Sequence[Any], pooled: Iterable[Any]) -> tuple[str, list[str]]:
    """Unit and cells of a column; `pooled` are all values of its quantity, which share the unit."""
    if quantity in _METRIC_UNITS:
        scale = scale_of(_METRIC_UNITS[quantity], pooled)
        return scale.unit, scale.cells(values)
    if quantity == "at":
        return "", [duration_ms_text(value) for value in values]
    if quantity == "count":
        return "", ["" if value is None else human_count(value) for value in values]
    return "", ["" if value is None else str(plain(value)) for value in values]
