"""Compactions by kind: the planning system's own word for a plan, or the command that was run."""

from collections.abc import Sequence

from bench.results.records import CompactionRecord
from reports.load import Section
from reports.phrases import Verbatim
from reports.sections.summary import Cell, Column, Table, change, seconds
from reports.text import format_bytes, format_count

_COLUMNS = (
    Column("Strategy", is_number=False), Column("Kind", is_number=False), Column("Compactions"),
    Column("Data files", "in, out"), Column("Delete files", "in, out"), Column("Replaced"), Column("Written"),
    Column("Time", "s"), Column("CPU", "s"),
)  # fmt: skip
_NOTE = "Sums over the compactions that committed in the first usable repetition of each strategy."


def compactions_by_kind(section: Section) -> Table | None:
    """A row for each strategy and kind, in the order they first came; None where no plan has a kind."""
    found: dict[tuple[str, str], list[CompactionRecord]] = {}
    for label, run in section.first_runs.items():
        for record in run.of(CompactionRecord):
            if record.status == "ok":
                found.setdefault((label, kind_of(record)), []).append(record)
    if not any(record.plan_kind for made in found.values() for record in made):
        return None
    timings = (seconds(_sum(made, name) for made in found.values()) for name in ("wall_s", "cpu_s"))
    rows = (
        (Cell(Verbatim(label)), Cell(Verbatim(kind)), *_counts(made), Cell(wall_s), Cell(cpu_s))
        for ((label, kind), made), wall_s, cpu_s in zip(found.items(), *timings, strict=True)
    )
    return Table(_COLUMNS, tuple(rows), _NOTE)


def kind_of(record: CompactionRecord) -> str:
    """The plan's kind, or else the names of its actions."""
    return record.plan_kind or ", ".join(dict.fromkeys(action.partition("(")[0] for action in record.actions))


def _counts(made: Sequence[CompactionRecord]) -> tuple[Cell, ...]:
    data, deletes = (
        change(*(format_count(_sum(made, f"{files}_{way}_count")) for way in ("removed", "added")))
        for files in ("files", "delete_files")
    )
    sizes = (format_bytes(_sum(made, name)) for name in ("replaced_bytes", "added_bytes"))
    return tuple(Cell(text) for text in (format_count(len(made)), data, deletes, *sizes))


def _sum(made: Sequence[CompactionRecord], name: str) -> float:
    return float(sum(getattr(record, name) for record in made))
