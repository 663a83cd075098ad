"""Cells of a sweep: strategies whose labels name what distinguishes them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_SEPARATORS = re.compile(r"[\s=]+")
_CELL = re.compile(r"(?P<family>.+?)(?P<settings>(?: [\w.-]+=[^\s=]+)+)(?P<variant> @ .+)?")


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
        return _in_words(self.settings)


def cell_label(family: str, settings: Iterable[tuple[str, str]]) -> str:
    """Such as "rewrite every=1h min-input-files=5"; blanks and equals signs in values become underscores."""
    return f"{family} {_in_words((name, _SEPARATORS.sub('_', value)) for name, value in settings)}"


def cell_of(label: str) -> Cell | None:
    """The cell with this label; None for a label of another form. Each variant has families of its own."""
    parts = _CELL.fullmatch(label)
    if parts is None:
        return None
    pairs = (text.partition("=") for text in parts["settings"].split())
    family = parts["family"] + (parts["variant"] or "")
    return Cell(label, family, tuple((name, value) for name, _, value in pairs))


def _in_words(settings: Iterable[tuple[str, str]]) -> str:
    return " ".join(f"{name}={value}" for name, value in settings)
