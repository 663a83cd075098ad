"""Compactions by kind: the planning system's own word for a plan, or the command that was run."""

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter

from bench.results.figures import all_known
from bench.results.records import CompactionRecord
from bench.text import human_bytes, human_count
from reports.data.group import RunGroup
from reports.page.tables import Cell, Column, Table, arrow, seconds
from reports.phrases import Verbatim

_IN_OUT = arrow("in", "out")
_COLUMNS = (
    Column("Strategy", is_number=False), Column("Kind", is_number=False), Column("Compactions"),
    Column(f"Data files {_IN_OUT}"), Column(f"Delete files {_IN_OUT}"), Column("Replaced"), Column("Added"),
    Column("Time", "s"), Column("CPU", "s"),
)  # fmt: skip
_CAPTION = "Compactions by kind"
_NOTE = "Sums over the compactions that committed in the first usable repetition of each strategy."


def compactions_by_kind(group: RunGroup) -> Table | None:
    """A row per strategy and kind, in order of appearance; None if no plan has a kind."""
    by_kind: dict[tuple[str, str], list[CompactionRecord]] = {}
    for label, run in group.first_runs.items():
        for record in run.of(CompactionRecord):
            if record.status == "ok":
                by_kind.setdefault((label, kind_of(record)), []).append(record)
    if not any(record.plan_kind for records in by_kind.values() for record in records):
        return None
    timings = (
        seconds(_known_sum(records, name) for records in by_kind.values())
        for name in ("cost.wall_s", "cost.own_cpu_s")
    )
    rows = (
        (Cell(Verbatim(label)), Cell(Verbatim(kind)), *_counts(records), Cell(wall_s), Cell(cpu_s))
        for ((label, kind), records), wall_s, cpu_s in zip(by_kind.items(), *timings, strict=True)
    )
    columns = tuple(replace(column, title=group.in_delete_words(column.title)) for column in _COLUMNS)
    return Table(columns, tuple(rows), _NOTE, caption=_CAPTION)


def kind_of(record: CompactionRecord) -> str:
    """The plan's kind, or else the names of its actions."""
    return record.plan_kind or ", ".join(dict.fromkeys(action.partition("(")[0] for action in record.actions))


def _counts(records: Sequence[CompactionRecord]) -> tuple[Cell, ...]:
    data, deletes = (
        arrow(*(human_count(_sum(records, f"change.{files}_{way}_count")) for way in ("removed", "added")))
        for files in ("files", "delete_files")
    )
    sizes = (human_bytes(_sum(records, name)) for name in ("change.replaced_bytes", "change.added_bytes"))
    return tuple(Cell(text) for text in (human_count(len(records)), data, deletes, *sizes))


def _sum(records: Sequence[CompactionRecord], name: str) -> float:
    return float(sum(map(attrgetter(name), records)))


def _known_sum(records: Sequence[CompactionRecord], name: str) -> float | None:
    known = all_known(map(attrgetter(name), records))
    return None if known is None else float(sum(known))
