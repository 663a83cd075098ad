"""Compactions by kind: the planning system's own word for a plan, or the command that was run."""

from collections.abc import Sequence

from bench.results.arithmetic import all_known
from bench.results.records import CompactionRecord
from bench.text import human_bytes, human_count
from reports.data.group import RunGroup
from reports.page.tables import Cell, Column, Table, arrow, by_columns, seconds
from reports.phrases import Verbatim

_IN_OUT = arrow("in", "out")
_CAPTION = "Compactions by kind"
_NOTE = "Sums over the compactions that committed in the first usable repetition of each strategy."

_Kind = Sequence[CompactionRecord]


def compactions_by_kind(group: RunGroup) -> Table | None:
    """A row per strategy and kind, in order of appearance; None if no plan has a kind."""
    by_kind: dict[tuple[str, str], list[CompactionRecord]] = {}
    for label, run in group.first_runs.items():
        for record in run.of(CompactionRecord):
            if record.status == "ok":
                by_kind.setdefault((label, kind_of(record)), []).append(record)
    kinds = tuple(by_kind.values())
    if not any(record.plan_kind for kind in kinds for record in kind):
        return None
    shown = (
        (Column("Strategy", is_number=False), [Cell(Verbatim(label)) for label, _ in by_kind]),
        (Column("Kind", is_number=False), [Cell(Verbatim(name)) for _, name in by_kind]),
        (Column("Compactions"), [Cell(human_count(len(kind))) for kind in kinds]),
        (Column(f"Data files {_IN_OUT}"), [_in_out(kind, "files") for kind in kinds]),
        (Column(group.in_delete_words(f"Delete files {_IN_OUT}")),
         [_in_out(kind, "delete_files") for kind in kinds]),
        (Column("Replaced"), [_bytes(kind, "replaced_bytes") for kind in kinds]),
        (Column("Added"), [_bytes(kind, "added_bytes") for kind in kinds]),
        (Column("Time", "s"), _seconds(kinds, "wall_s")),
        (Column("CPU", "s"), _seconds(kinds, "own_cpu_s")),
    )  # fmt: skip
    return by_columns(shown, _NOTE, caption=_CAPTION)


def kind_of(record: CompactionRecord) -> str:
    """The plan's kind, or else the names of its actions."""
    return record.plan_kind or ", ".join(dict.fromkeys(action.partition("(")[0] for action in record.actions))


def _in_out(kind: _Kind, files: str) -> Cell:
    counts = (sum(getattr(c.change, f"{files}_{way}_count") for c in kind) for way in ("removed", "added"))
    return Cell(arrow(*map(human_count, counts)))


def _bytes(kind: _Kind, name: str) -> Cell:
    return Cell(human_bytes(sum(getattr(record.change, name) for record in kind)))


def _seconds(kinds: Sequence[_Kind], name: str) -> list[Cell]:
    known = (all_known(getattr(record.cost, name) for record in kind) for kind in kinds)
    return [
        Cell(text) for text in seconds(None if values is None else float(sum(values)) for values in known)
    ]
