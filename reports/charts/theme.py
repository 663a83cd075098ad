"""Colours of the charts, light and dark, and how each strategy is drawn.

Hues follow Okabe and Ito ("Color Universal Design", 2008), darkened on white and lightened on black until
each has a contrast of at least 3:1 with its background. Every strategy but the first also has a dash and a
mark of its own, for readers who do not see the hues, and for print; on a page with variants, every variant.
"""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bench.results.records import label_in
from bench.results.rows import BASELINE

_LABEL_CHARACTERS = 26
Dash = str | tuple[float, tuple[float, ...]]  # as matplotlib takes it


@dataclass(frozen=True, slots=True)
class Theme:
    """One set of colours. `labels` are the strategies of the whole page, in the order they appear."""

    name: str
    background: str
    ink: str
    muted: str  # axis labels and ticks
    grid: str
    baseline: str  # the strategy that never compacts
    alarm: str  # failures
    hues: tuple[str, ...]
    labels: tuple[str, ...] = ()
    is_slide: bool = False  # charts fill a slide and leave room for its title and source

    def of_page(self, labels: Sequence[str]) -> "Theme":
        """This theme for all charts of a page that has these strategies."""
        return replace(self, labels=tuple(dict.fromkeys(labels)))

    @property
    def colours(self) -> Mapping[str, str]:
        """Every colour by its name in the style sheet; no two are the same."""
        named = {
            name: getattr(self, name) for name in ("background", "ink", "muted", "grid", "baseline", "alarm")
        }
        return named | {f"hue-{number}": hue for number, hue in enumerate(self.hues)}


@dataclass(frozen=True, slots=True)
class Trait:
    colour: str
    dash: Dash
    width_pt: float
    mark: str


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
_BLUES = (0, 5)  # hues that are alike: the second is used last
_LINE_PT = 1.5
_BASELINE_PT = 3.0  # visible on both sides of a line drawn over it
_DASHES: tuple[Dash, ...] = (
    "-",
    (0, (6, 2)),
    (0, (2, 1.4)),
    (0, (7, 1.6, 1.6, 1.6)),
    (0, (11, 2)),
    (0, (5, 1.4, 1.4, 1.4, 1.4, 1.4)),
    (0, (1, 1)),
)
_MARKS = ("o", "s", "^", "D", "v", "P", "X")
_IN = label_in("", "")  # between a strategy and its variant


def traits(strategies: Sequence[str], theme: Theme) -> Mapping[str, Trait]:
    """A trait for each of `strategies`; `never` is always grey.

    A hue is chosen by the label, so that a strategy tends to have the same one on every page. If two labels
    of the page would share a hue, the later one takes the next free hue. Dashes and marks go by position. If
    the page has variants, a strategy has one hue in all of them, and each variant has its dash and mark.
    """
    everyone = tuple(dict.fromkeys((*theme.labels, *strategies)))
    parted = {label: (policy, variant) for label in everyone for policy, _, variant in [label.partition(_IN)]}
    policies = [policy for policy in dict.fromkeys(of[0] for of in parted.values()) if policy != BASELINE]
    variants = list(dict.fromkeys(variant for _, variant in parted.values()))
    hues = _hues(policies, len(theme.hues))

    def trait(policy: str, variant: str) -> Trait:
        place = 0 if policy == BASELINE else policies.index(policy)
        if len(variants) > 1:  # more policies than hues: those of one hue differ in dash
            place = variants.index(variant) + len(variants) * (place // len(theme.hues))
        dash, mark = _DASHES[place % len(_DASHES)], _MARKS[place % len(_MARKS)]
        if policy == BASELINE:
            return Trait(theme.baseline, dash, _BASELINE_PT, mark)
        return Trait(theme.hues[hues[policy]], dash, _LINE_PT, mark)

    return {label: trait(*parted[label]) for label in strategies}


def number(label: str, theme: Theme) -> int | None:
    """The position of a strategy on its page; None outside a page, or for another text."""
    return theme.labels.index(label) if label in theme.labels else None


def chart_label(text: str, most: int = _LABEL_CHARACTERS) -> str:
    """Text from results for use in a chart: one line, no control characters, shortened in the middle.

    The middle is dropped because related labels differ at their ends.
    """
    clean = printable(text)
    if len(clean) <= most:
        return clean
    half = (most - 1) // 2
    return f"{clean[: most - 1 - half]}…{clean[-half:]}"


def printable(text: str) -> str:
    """Text from results on one line."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _hues(labels: Sequence[str], count: int) -> Mapping[str, int]:
    """A hue for each label: by its checksum, or the next one that fewer labels have.

    No two labels share hue and dash while other pairs are free.
    """
    taken = [0] * count
    pairs = set[tuple[int, int]]()
    chosen = dict[str, int]()
    for place, label in enumerate(labels):
        first, dash = zlib.crc32(label.encode(errors="replace")), place % len(_DASHES)
        order = [(first + step) % count for step in range(count)]
        has_blue = any(taken[blue] for blue in _BLUES)
        *_, hue = min(
            ((hue, dash) in pairs, taken[hue], has_blue and hue in _BLUES, step, hue)
            for step, hue in enumerate(order)
        )
        chosen[label] = hue
        taken[hue] += 1
        pairs.add((hue, dash))
    return chosen
