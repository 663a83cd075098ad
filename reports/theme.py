"""Colours of the charts, light and dark, and how each strategy is drawn.

Hues follow Okabe and Ito ("Color Universal Design", 2008), darkened on white and lightened on black until
each has a contrast of at least 3:1 with its background. The dash distinguishes strategies beyond the number
of hues.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.results.rows import BASELINE

_LABEL_CHARACTERS = 26


@dataclass(frozen=True, slots=True)
class Theme:
    """One set of colours."""

    name: str
    background: str
    ink: str
    muted: str  # axis labels and ticks
    grid: str
    baseline: str  # the strategy that never compacts
    alarm: str  # failures
    hues: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Trait:
    """How one strategy is drawn in every chart of a run group."""

    colour: str
    dash: str
    width_pt: float


LIGHT = Theme(
    name="light",
    background="#ffffff",
    ink="#1c2026",
    muted="#5b6370",
    grid="#e4e7eb",
    baseline="#7d8590",
    alarm="#b3261e",
    hues=("#0068a8", "#c4500a", "#00805c", "#a9478a", "#a67300", "#2c8fc4"),
)
DARK = Theme(
    name="dark",
    background="#14171c",
    ink="#e6e9ee",
    muted="#9aa3af",
    grid="#2b313a",
    baseline="#8b949e",
    alarm="#ff8a80",
    hues=("#4aa8e0", "#f08a4b", "#2fbf93", "#dd93c2", "#e6b23c", "#8fd0f2"),
)
_LINE_PT = 1.5
_BASELINE_PT = 3.0  # visible on both sides of a line drawn over it
_DASHES = ("-", "--", ":", "-.")


def traits(strategies: Sequence[str], theme: Theme) -> Mapping[str, Trait]:
    """A trait for each strategy by its place in `strategies`; `never` is always grey."""
    others = [label for label in strategies if label != BASELINE]
    hues = len(theme.hues)
    styles = {
        label: Trait(theme.hues[index % hues], _DASHES[index // hues % len(_DASHES)], _LINE_PT)
        for index, label in enumerate(others)
    }
    return styles | {
        label: Trait(theme.baseline, "-", _BASELINE_PT) for label in strategies if label == BASELINE
    }


def chart_label(text: str) -> str:
    """Text from results for use in a chart: one line, no control characters, shortened in the middle.

    The middle is dropped because related labels differ at their ends.
    """
    clean = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    if len(clean) <= _LABEL_CHARACTERS:
        return clean
    half = (_LABEL_CHARACTERS - 1) // 2
    return f"{clean[: _LABEL_CHARACTERS - 1 - half]}…{clean[-half:]}"
