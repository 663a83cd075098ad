"""What `show` prints of single records: decisions and compactions."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from bench.cli.figure_table import Field, figure_table
from bench.cli.tables import Column
from bench.results.query_effect import QueryEffect
from bench.results.records import DecisionRecord

DECISION_FIELDS = (
    Field("tick", Column("tick"), unit="count"),
    Field("at_ms", Column("at", drop=1), unit="at"),
    Field("strategy", Column("strategy", drop=3, shown="if varied")),
    Field("rule", Column("rule", drop=4, shown="if varied"), unit="count"),
    Field("trigger", Column("trigger", drop=5, shown="if varied")),
    Field("planner", Column("planner", drop=6, shown="if varied")),
    Field("verdict", Column("decision")),
    Field("reason", Column("reason", shown="if any")),
    Field("detail", Column("detail", drop=8, shown="if any")),
    Field("actions", Column("actions", drop=2, shown="if any")),
    Field("figures", Column("figures", drop=7, shown="if any")),
)
COMPACTION_FIELDS = (
    Field("tick", Column("tick"), unit="count"),
    Field("status", Column("status"), unless="ok"),
    Field("kind", Column("kind", shown="if any")),
    Field("reason", Column("reason", drop=1)),
    Field("executor", Column("executor", shown="if any")),  # none is the engine itself
    Field("files_before", Column("files before"), unit="count"),
    Field("files_after", Column("files after"), unit="count"),
    Field("deletes_before", Column("delete files before", shown="if any"), unit="count"),
    Field("deletes_after", Column("delete files after", shown="if any"), unit="count"),
    Field("delete_rows_after", Column("deleted rows after", drop=2, shown="if any"), unit="count"),
    Field("bytes_before", Column("bytes before", drop=4), unit="bytes"),
    Field("bytes_after", Column("bytes after", drop=5), unit="bytes"),
    Field("wall_s", Column("wall", drop=6), unit="s", quantity="wall"),
    Field("cpu_s", Column("CPU"), unit="s", quantity="wall"),
    Field("query_before_s", Column("query before", drop=8, shown="if any"), unit="s", quantity="query"),
    Field("query_after_s", Column("query after", drop=7, shown="if any"), unit="s", quantity="query"),
    Field("replaced_bytes", Column("bytes replaced", drop=3), unit="bytes"),
    Field("added_bytes", Column("bytes added"), unit="bytes"),
    Field("error", Column("error", shown="if any")),
)


def decision_line(record: DecisionRecord) -> tuple[Any, ...]:
    """The values of `DECISION_FIELDS`."""
    return (
        record.tick, record.at_ms, record.strategy, record.rule, record.trigger, record.planner,
        record.status, record.reason, record.detail, "; ".join(record.actions), record.figures,
    )  # fmt: skip


def decision_table(
    lines: Sequence[tuple[Any, ...]], delete_words: tuple[str, str]
) -> tuple[list[Column], list[tuple[str, ...]]]:
    """Columns and rows for people: ticks that follow each other and decided alike share a row, "1 to 4"."""
    columns, rows = figure_table(DECISION_FIELDS, lines, delete_words)
    numbered = [(line[0] - number, row) for number, (line, row) in enumerate(zip(lines, rows, strict=True))]
    shared = [list(group) for _, group in groupby(numbered, key=lambda one: (one[0], one[1][2:]))]
    return columns, [_from_first_to_last(group[0][1], group[-1][1]) for group in shared]


def _from_first_to_last(first: tuple[str, ...], last: tuple[str, ...]) -> tuple[str, ...]:
    if first is last:
        return first
    return (f"{first[0]} to {last[0]}", f"{first[1]} to {last[1]}", *first[2:])


def compaction_line(effect: QueryEffect) -> tuple[Any, ...]:
    """The values of `COMPACTION_FIELDS`."""
    record, before, after = effect.compaction, effect.compaction.before, effect.compaction.after
    return (
        record.tick, record.status, record.plan_kind, record.reason, record.executor,
        before.data_files_count, after.data_files_count,
        before.delete_files_count, after.delete_files_count, after.delete_rows,
        before.live_bytes, after.live_bytes, record.cost.wall_s, record.cost.own_cpu_s,
        effect.query_before_s, effect.query_after_s,
        record.change.replaced_bytes, record.change.added_bytes, record.error,
    )  # fmt: skip
