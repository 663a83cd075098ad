"""What `show` prints of single records: decisions, compactions, and pairs of real and simulated runs."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any

from bench.cli.figure_table import Field, figure_table
from bench.cli.tables import Column
from bench.engines.keys import duration_ms_text
from bench.results.agreement import Pair
from bench.results.query_effect import QueryEffect
from bench.results.records import CompactionRecord, DecisionRecord
from reports.text import format_value

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
PAIR_FIELDS = (
    "scenario", "strategy", "tick", "at_ms", "real", "simulated", "same_decision", "real_status",
    "simulated_status", "real_files_removed_count", "simulated_files_removed_count", "real_files_added_count",
    "simulated_files_added_count", "same_files", "real_added_bytes", "simulated_added_bytes",
)  # fmt: skip
PAIR_COLUMNS = (
    Column("strategy"), Column("at"), Column("real decision"), Column("simulated decision"),
    Column("real files"), Column("simulated files"), Column("real bytes written", drop=2),
    Column("simulated bytes written", drop=1),
)  # fmt: skip


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


def pair_fields(pair: Pair) -> tuple[Any, ...]:
    """The values of `PAIR_FIELDS` for one evaluation."""
    compactions = pair.compactions
    return (
        pair.scenario, pair.strategy, pair.tick, pair.at_ms,
        *_values(pair.evaluations, "decision"), pair.same_decision,
        *_values(compactions, "status"), *_values(compactions, "change.files_removed_count"),
        *_values(compactions, "change.files_added_count"), pair.same_files,
        *_values(compactions, "change.added_bytes"),
    )  # fmt: skip


def pair_cells(pair: Pair) -> tuple[str, ...]:
    """The cells of `PAIR_COLUMNS` for one evaluation; a simulated value equal to the real one is "same"."""
    decisions = [decision or "not evaluated" for decision in _values(pair.evaluations, "decision")]
    files = [_files(compaction) if compaction else "-" for compaction in pair.compactions]
    written = [format_value("bytes", c.change.added_bytes) if c else "-" for c in pair.compactions]
    return (
        pair.strategy, duration_ms_text(pair.at_ms), decisions[0],
        "same" if pair.same_decision else decisions[1],
        files[0], "same" if pair.same_files else files[1], *written,
    )  # fmt: skip


def _files(compaction: CompactionRecord) -> str:
    """The status and the files in and out, followed by the delete files if there were any."""
    change = compaction.change
    data_files = f"{compaction.status} {change.files_removed_count} -> {change.files_added_count}"
    if not (change.delete_files_removed_count or change.delete_files_added_count):
        return data_files
    return f"{data_files}, deletes {change.delete_files_removed_count} -> {change.delete_files_added_count}"


def agreements(pairs: Sequence[Pair]) -> Iterator[str]:
    """One line per strategy: how many decisions and compactions are the same, and how close the bytes are."""
    for label, group in groupby(pairs, key=lambda pair: pair.strategy):
        evaluated = tuple(group)
        compacted = [pair for pair in evaluated if any(pair.compactions)]
        decisions = f"{sum(p.same_decision for p in evaluated)} of {len(evaluated)} decisions are the same"
        files = f"{sum(p.same_files for p in compacted)} of {len(compacted)} compactions have the same files"
        real, simulated = (
            sum(c.change.added_bytes for pair in compacted if (c := pair.compactions[side]))
            for side in (0, 1)
        )
        written = f", simulated bytes are {simulated / real:.2f}x the real ones" if real else ""
        yield f"{label}: {decisions}, {files}{written}"


def _values(records: Sequence[Any], field: str) -> Iterator[Any]:
    return (attrgetter(field)(record) if record else None for record in records)
