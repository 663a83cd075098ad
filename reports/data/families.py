"""Families of strategies: the cells that a sweep has made of one."""

from collections.abc import Iterable, Mapping

from bench.results.cells import Cell, cell_of

CELLS_MIN = 3


def families(labels: Iterable[str]) -> Mapping[str, tuple[Cell, ...]]:
    """The families with so many cells that they make a curve, in order of appearance."""
    cells: dict[str, list[Cell]] = {}
    for label in labels:
        if cell := cell_of(label):
            cells.setdefault(cell.family, []).append(cell)
    return {name: tuple(own) for name, own in cells.items() if len(own) >= CELLS_MIN}
