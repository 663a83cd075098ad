"""Families of strategies: cells of a sweep, whose labels name what distinguishes them."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_CELL = re.compile(r"(?P<family>.+?)(?P<settings>(?: [\w.-]+=[^\s=]+)+)")
MEMBERS_MIN = 3


@dataclass(frozen=True, slots=True)
class Cell:
    """A strategy of a family; `settings` are names and values in the order of the label."""

    label: str
    family: str
    settings: tuple[tuple[str, str], ...]

    @property
    def curve(self) -> tuple[tuple[str, str], ...]:
        """Cells of a family that differ in the first setting only are on one curve."""
        return self.settings[1:]

    @property
    def short(self) -> str:
        return " ".join(f"{name}={value}" for name, value in self.settings)


def cell_of(label: str) -> Cell | None:
    """The cell with a label such as "rewrite every=1h min-input-files=5"; None for any other label."""
    parts = _CELL.fullmatch(label)
    if parts is None:
        return None
    pairs = (text.partition("=") for text in parts["settings"].split())
    return Cell(label, parts["family"], tuple((name, value) for name, _, value in pairs))


def families(labels: Iterable[str]) -> Mapping[str, tuple[Cell, ...]]:
    """The families with so many members that they make a curve, in order of appearance."""
    cells: dict[str, list[Cell]] = {}
    for label in labels:
        if cell := cell_of(label):
            cells.setdefault(cell.family, []).append(cell)
    return {name: tuple(own) for name, own in cells.items() if len(own) >= MEMBERS_MIN}
