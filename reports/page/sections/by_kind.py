"""Compactions by kind: the planning system's own word for a plan, or the command that was run."""

from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from bench.results.arithmetic import known_sum, total
from bench.results.records import CompactionRecord
from bench.results.tables import Records, own_cost
from bench.text import human_bytes, human_count
from reports.data.group import RunGroup
from reports.page.tables import Cell, Column, Table, arrow, by_columns, seconds
from reports.phrases import Verbatim

_IN_OUT = arrow("in", "out")
_CAPTION = "Compactions by kind"
_NOTE = "Sums over the compactions that committed in the first usable repetition of each strategy."

_Kind = Records[CompactionRecord]


def compactions_by_kind(group: RunGroup) -> Table | None:
    """A row per strategy and kind, in order of appearance; None if no plan has a kind."""
    by_kind: dict[tuple[str, str], _Kind] = {}
    for label, run in group.first_runs.items():
        compactions = run.of(CompactionRecord).having(status="ok")
        names = kinds_of(compactions)
        for name in dict.fromkeys(names.tolist()):
            by_kind[label, name] = compactions.where(names == name)
    kinds = tuple(by_kind.values())
    if not any(kind.column("plan_kind").any() for kind in kinds):
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
        (Column("Time", "s"), _seconds(total(kind.column("wall_s")) for kind in kinds)),
        (Column("CPU", "s"), _seconds(known_sum(own_cost("cpu_s", kind)) for kind in kinds)),
    )  # fmt: skip
    return by_columns(shown, _NOTE, caption=_CAPTION)


def kinds_of(compactions: _Kind) -> np.ndarray:
    """The kind of each plan, or else the names of its actions."""
    plans = zip(compactions.column("plan_kind").tolist(), compactions.column("actions").tolist(), strict=True)
    return np.array([kind or _names(tuple(actions)) for kind, actions in plans], dtype=object)


@lru_cache
def _names(actions: tuple[str, ...]) -> str:
    return ", ".join(dict.fromkeys(action.partition("(")[0] for action in actions))


def _in_out(kind: _Kind, files: str) -> Cell:
    counts = (total(kind.column(f"{files}_{way}_count")) for way in ("removed", "added"))
    return Cell(arrow(*map(human_count, counts)))


def _bytes(kind: _Kind, name: str) -> Cell:
    return Cell(human_bytes(total(kind.column(name))))


def _seconds(sums: Iterable[float | None]) -> list[Cell]:
    return [Cell(text) for text in seconds(sums)]
