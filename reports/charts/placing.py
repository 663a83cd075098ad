"""Where names are placed, so that they overlap neither each other nor the points they name."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

CHARACTER_PT = 4.9  # mean width of a character of the charts' type
LINE_PT = 11.0
_AWAY_PT = 7.0
_POINT_PT = 4.0

Box = tuple[float, float, float, float]  # left, bottom, right, top in points


@dataclass(frozen=True, slots=True)
class Place:
    """Where a name is relative to its point: the offset in points, and which of its ends is there."""

    dx: float
    dy: float
    side: Literal["left", "right"]


def spread(places: Sequence[float], gap: float) -> list[float]:
    """Ascending places, moved as little as possible so that they are `gap` apart.

    Overlapping neighbours are merged into blocks centred on their mean, as in isotonic regression.
    """
    blocks: list[tuple[float, int]] = []  # the centre of a block and how many places it contains
    for place in places:
        centre, count = place, 1
        while blocks and centre - blocks[-1][0] < gap * (count + blocks[-1][1]) / 2:
            other, members = blocks.pop()
            centre, count = (centre * count + other * members) / (count + members), count + members
        blocks.append((centre, count))
    return [centre + gap * (i - (count - 1) / 2) for centre, count in blocks for i in range(count)]


def beside(spots: Sequence[tuple[float, float]], texts: Sequence[str], right_pt: float) -> list[Place]:
    """For each point a place for its name that overlaps no point or earlier name and ends before `right_pt`.

    The first place is used where none is free. Coordinates are in typographic points.
    """
    taken: list[Box] = [(x - _POINT_PT, y - _POINT_PT, x + _POINT_PT, y + _POINT_PT) for x, y in spots]
    chosen = []
    for (x, y), text in zip(spots, texts, strict=True):
        options = [(place, _box(place, x, y, text)) for place in _places()]
        free = [
            (p, box) for p, box in options if box[2] < right_pt and not any(_overlap(box, t) for t in taken)
        ]
        place, box = (free or options)[0]
        taken.append(box)
        chosen.append(place)
    return chosen


def _places() -> Iterator[Place]:
    for dy in (0.0, LINE_PT, -LINE_PT, 2 * LINE_PT, -2 * LINE_PT):
        yield Place(_AWAY_PT, dy, "left")
        yield Place(-_AWAY_PT, dy, "right")


def _box(place: Place, x: float, y: float, text: str) -> Box:
    width = CHARACTER_PT * len(text)
    left = x + place.dx - (width if place.side == "right" else 0)
    return left, y + place.dy - LINE_PT / 2, left + width, y + place.dy + LINE_PT / 2


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
