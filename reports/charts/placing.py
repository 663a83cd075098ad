"""Places for names, so that they overlap neither each other nor the points."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

CHARACTER_PT = 4.9  # mean width of a character of the charts' type
LINE_PT = 11.0
_AWAY_PT = 9.0
_ABOVE_PT = 14.0
_POINT_PT = 4.0
_FAR_PT = 15.0  # above or below its point: a name further away is taken for another point's
_LINES_AWAY = 9  # at most, above or below a point in a crowd
_ROUNDS = 8  # at most; names settle in two or three
_THROUGH = 15.0  # faults of a leader for each point or name that it passes through

Spot = tuple[float, float]  # x and y in points
Stroke = tuple[Spot, Spot]
Box = tuple[float, float, float, float]  # left, bottom, right, top in points


@dataclass(frozen=True, slots=True)
class Place:
    """Offset of a name from its point, in typographic points, and the end of the name that it applies to."""

    dx: float
    dy: float
    side: Literal["left", "right", "center"]

    @property
    def is_far(self) -> bool:
        return abs(self.dy) > _FAR_PT


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


def beside(
    spots: Sequence[Spot],
    texts: Sequence[str],
    within: Box,
    lines: Sequence[Sequence[Spot]] = (),
    others: Sequence[Spot] = (),
) -> list[Place]:
    """For each point a place for its name, inside `within`, that touches no point, other name or line.

    `others` are points without a name of their own. If no place is free, the one with the fewest faults is
    used. Names are placed in turn, and again with the later names in view, until none moves. Coordinates are
    in typographic points.
    """
    points: list[Box] = [
        (x - _POINT_PT, y - _POINT_PT, x + _POINT_PT, y + _POINT_PT) for x, y in (*spots, *others)
    ]
    strokes = [stroke for line in lines for stroke in pairwise(line)]
    options = [
        [_option(place, spot, text, points, within, strokes) for place in _places()]
        for spot, text in zip(spots, texts, strict=True)
    ]
    chosen: dict[int, _Option] = {}
    for _ in range(_ROUNDS):
        before = dict(chosen)
        for index, own in enumerate(options):
            names = [option.box for other, option in chosen.items() if other != index]
            chosen[index] = _best(own, spots[index], names)
        if chosen == before:
            break
    return [option.place for option in chosen.values()]


@dataclass(frozen=True, slots=True)
class _Option:
    """A place for a name, and its faults wherever the other names are."""

    place: Place
    box: Box
    faults: float


def _option(
    place: Place, spot: Spot, text: str, points: Sequence[Box], within: Box, strokes: Sequence[Stroke]
) -> _Option:
    """Outside the axes is worst, then over a point or name, then on a line, then far from the point."""
    box = _box(place, *spot, text)
    is_outside = box[0] < within[0] or box[1] < within[1] or box[2] > within[2] or box[3] > within[3]
    crossed = sum(_crosses(start, end, box) for start, end in strokes)
    faults = 1000 * is_outside + 45 * crossed + _covered(place, spot, box, points)
    if place.is_far:  # a leader, which begins in its own point
        met = sum(_meet(spot, _end(place, spot), *stroke) for stroke in strokes)
        faults += 10 + abs(place.dy) / LINE_PT + 4 * met - _THROUGH
    return _Option(place, box, faults)


def _best(options: Sequence[_Option], spot: Spot, names: Sequence[Box]) -> _Option:
    """The first one with the fewest faults beside other names."""
    best, fewest = options[0], math.inf
    for option in options:
        if option.faults < fewest:  # else no name has to be looked at
            faults = option.faults + _covered(option.place, spot, option.box, names)
            if faults < fewest:
                best, fewest = option, faults
    return best


def _covered(place: Place, spot: Spot, box: Box, taken: Sequence[Box]) -> float:
    """The faults of a name that covers others, or whose leader passes through them."""
    faults = 100.0 * sum(_overlap(box, other) for other in taken)
    if place.is_far:
        end = _end(place, spot)
        faults += _THROUGH * sum(_crosses(spot, end, other) for other in taken)
    return faults


def _end(place: Place, spot: Spot) -> Spot:
    return spot[0] + place.dx, spot[1] + place.dy


def _places() -> Iterator[Place]:
    """Above and to the right first: a front that falls to the right leaves that side free."""
    yield from (Place(_AWAY_PT, 6.0, "left"), Place(_AWAY_PT, 0.0, "left"), Place(0.0, _ABOVE_PT, "center"))
    yield from (Place(_AWAY_PT, -7.0, "left"), Place(-_AWAY_PT, -7.0, "right"))
    yield from (Place(0.0, -_ABOVE_PT, "center"), Place(-_AWAY_PT, 0.0, "right"))
    for dy in (_ABOVE_PT, -_ABOVE_PT):
        yield Place(_AWAY_PT, dy, "left")
        yield Place(-_AWAY_PT, dy, "right")
    for half_lines in range(3, 2 * _LINES_AWAY + 1):
        for dy in (half_lines * LINE_PT / 2, -half_lines * LINE_PT / 2):
            yield Place(_AWAY_PT, dy, "left")
            yield Place(-_AWAY_PT, dy, "right")
            yield Place(0.0, dy, "center")


def _box(place: Place, x: float, y: float, text: str) -> Box:
    width = CHARACTER_PT * len(text)
    shift = {"left": 0.0, "right": width, "center": width / 2}[place.side]
    left = x + place.dx - shift
    return left, y + place.dy - LINE_PT / 2, left + width, y + place.dy + LINE_PT / 2


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _are_apart(a: float, b: float, c: float, d: float) -> bool:
    """Whether two stretches of an axis, given by their ends, have no more than an end in common."""
    return (a <= c and b <= c and a <= d and b <= d) or (a >= c and b >= c and a >= d and b >= d)


def _meet(a: Spot, b: Spot, c: Spot, d: Spot) -> bool:
    """Whether two lines cross; those that only touch do not."""
    if _are_apart(a[0], b[0], c[0], d[0]) or _are_apart(a[1], b[1], c[1], d[1]):
        return False

    def turn(from_: Spot, to: Spot, other: Spot) -> float:
        return (to[0] - from_[0]) * (other[1] - from_[1]) - (to[1] - from_[1]) * (other[0] - from_[0])

    return turn(a, b, c) * turn(a, b, d) < 0 and turn(c, d, a) * turn(c, d, b) < 0


def _crosses(start: Spot, end: Spot, box: Box) -> bool:
    """Whether a straight line passes through a box (Liang and Barsky, 1984)."""
    first, last = 0.0, 1.0
    for along in (0, 1):
        if _are_apart(start[along], end[along], box[along], box[along + 2]):
            return False
    for along in (0, 1):
        way, here = end[along] - start[along], start[along]
        if way == 0:
            continue
        enter, leave = sorted(((box[along] - here) / way, (box[along + 2] - here) / way))
        first, last = max(first, enter), min(last, leave)
    return first < last
