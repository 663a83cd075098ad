"""Real and simulated runs of one strategy, as `show --side-by-side` prints them."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any

from bench.cli.tables import Column
from bench.engines.keys import duration_ms_text
from bench.results.agreement import Pair
from bench.results.records import CompactionRecord
from reports.text import format_value

COLUMNS = (
    "scenario", "strategy", "tick", "at_ms", "real", "simulated", "same_decision", "real_status",
    "simulated_status", "real_files_removed_count", "simulated_files_removed_count", "real_files_added_count",
    "simulated_files_added_count", "same_files", "real_added_bytes", "simulated_added_bytes",
)  # fmt: skip
TABLE_COLUMNS = (
    Column("strategy"), Column("at"), Column("real decision"), Column("simulated decision"),
    Column("real files"), Column("simulated files"), Column("real bytes written", drop=2),
    Column("simulated bytes written", drop=1),
)  # fmt: skip
SAME = "same"


def full_line(pair: Pair) -> tuple[Any, ...]:
    """The values of `COLUMNS` for one evaluation."""
    compactions = pair.compactions
    return (
        pair.scenario, pair.strategy, pair.tick, pair.at_ms,
        *_values(pair.evaluations, "decision"), pair.same_decision,
        *_values(compactions, "status"), *_values(compactions, "change.files_removed_count"),
        *_values(compactions, "change.files_added_count"), pair.same_files,
        *_values(compactions, "change.added_bytes"),
    )  # fmt: skip


def table_line(pair: Pair) -> tuple[str, ...]:
    """The cells of `TABLE_COLUMNS` for one evaluation; a simulated value equal to the real one is `SAME`."""
    decisions = [decision or "not evaluated" for decision in _values(pair.evaluations, "decision")]
    files = [_files(compaction) if compaction else "-" for compaction in pair.compactions]
    written = [format_value("bytes", c.change.added_bytes) if c else "-" for c in pair.compactions]
    return (
        pair.strategy, duration_ms_text(pair.at_ms), decisions[0],
        SAME if pair.same_decision else decisions[1],
        files[0], SAME if pair.same_files else files[1], *written,
    )  # fmt: skip


def _files(compaction: CompactionRecord) -> str:
    """The status and the files in and out, followed by the delete files if there were any."""
    change = compaction.change
    data_files = f"{compaction.status} {change.files_removed_count} -> {change.files_added_count}"
    if not (change.delete_files_removed_count or change.delete_files_added_count):
        return data_files
    return f"{data_files}, deletes {change.delete_files_removed_count} -> {change.delete_files_added_count}"


def has_effect_or_differs(pair: Pair) -> bool:
    return any(pair.compactions) or not pair.same_decision


def agreements(pairs: Sequence[Pair]) -> Iterator[str]:
    """One line per strategy: how many decisions and compactions are the same, and how close the bytes are."""
    for label, group in groupby(pairs, key=lambda pair: pair.strategy):
        evaluated = tuple(group)
        compacted = [pair for pair in evaluated if any(pair.compactions)]
        decisions = f"{sum(p.same_decision for p in evaluated)} of {len(evaluated)} decisions are the same"
        files = f"{sum(p.same_files for p in compacted)} of {len(compacted)} compactions have the same files"
        yield f"{label}: {decisions}, {files}{_bytes_apart(compacted)}"


def _bytes_apart(compacted: Sequence[Pair]) -> str:
    real, simulated = (
        sum(c.change.added_bytes for pair in compacted if (c := pair.compactions[side])) for side in (0, 1)
    )
    return f", simulated bytes are {simulated / real:.2f}x the real ones" if real else ""


def _values(records: Sequence[Any], field: str) -> Iterator[Any]:
    return (attrgetter(field)(record) if record else None for record in records)
