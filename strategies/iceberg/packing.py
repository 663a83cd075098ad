"""Online bin packing of weighted items, by which Iceberg groups files and scan tasks."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Generic, Protocol, TypeVar

Item = TypeVar("Item")


class Packed(Protocol):
    """An item that stands for `count` equal ones."""

    @property
    def count(self) -> int: ...

    def slice(self, begin: int, end: int) -> Any:
        """The items [`begin`, `end`) of these."""


Equal = TypeVar("Equal", bound=Packed)


@dataclass(slots=True, eq=False)
class _Bin(Generic[Equal]):
    items: list[Equal] = field(default_factory=list)
    weight: int = 0
    count: int = 0

    def room(self, item_weight: int, target_weight: int, max_items: int | None) -> int:
        """How many items of this weight it has room for; none once one does not fit."""
        left = target_weight - self.weight
        if left < item_weight:
            return 0
        fitting = left // item_weight if item_weight else _ANY_NUMBER
        return fitting if max_items is None else min(fitting, max_items - self.count)


_ANY_NUMBER = 2**63


def pack(
    items: Iterable[Equal],
    weight: Callable[[Equal], int],
    target_weight: int,
    lookback: int,
    *,
    largest_first: bool = False,
    max_items: int | None = None,
) -> Iterator[list[Equal]]:
    """Bins of at most `target_weight` and `max_items`; an item above `target_weight` gets a bin of its own.

    Each item goes into the oldest open bin with enough room. As soon as more than `lookback` bins are open,
    one is closed: the heaviest (of equals the oldest) if `largest_first`, otherwise the oldest. Items keep
    their order within a bin. Weights 5 4 6 2 with target 10 and lookback 1: 5 4 | 6 2. Equal items that are
    given as one are packed as if they came one by one; `weight` is that of each.

    Source: Iceberg BinPacking.PackingIterator at 1.11.0.
    """
    bins: list[_Bin[Equal]] = []
    for item in items:
        item_weight, done, count = weight(item), 0, item.count
        while done < count:
            chosen, number = None, 1
            for bin_ in bins:
                number = bin_.room(item_weight, target_weight, max_items)
                if number > 0:
                    chosen = bin_
                    break
            if chosen is None:
                # A new bin gets a single item, because opening it may close another one.
                chosen, number = _Bin(), 1
                bins.append(chosen)
            number = min(number, count - done)
            chosen.items.append(item if number == count else item.slice(done, done + number))
            chosen.weight += number * item_weight
            chosen.count += number
            done += number
            if len(bins) > lookback:
                closed = max(bins, key=attrgetter("weight")) if largest_first else bins[0]
                bins.remove(closed)
                yield closed.items
    for bin_ in bins:
        yield bin_.items


def first_fit(items: Iterable[Item], weight: Callable[[Item], int], target_weight: int) -> list[list[Item]]:
    """The bins of `pack` with unlimited lookback, in O(n log n) instead of O(n x bins)."""
    weighed = [(item, weight(item)) for item in items]
    if weighed and sum(item_weight for _, item_weight in weighed) <= target_weight:
        return [[item for item, _ in weighed]]
    leaves = 1 << max(len(weighed) - 1, 0).bit_length()
    room = [target_weight] * (2 * leaves)  # a binary tree: each node holds the maximum room of its bins
    bins: list[list[Item]] = []
    for item, item_weight in weighed:
        place = len(bins) if item_weight > target_weight else _leftmost(room, item_weight)
        if place == len(bins):
            bins.append([])
        bins[place].append(item)
        _take(room, leaves + place, item_weight)
    return bins


def _leftmost(room: list[int], item_weight: int) -> int:
    """The index of the first bin with enough room; bins that are not open yet are empty."""
    node, leaves = 1, len(room) // 2
    while node < leaves:
        node = 2 * node if room[2 * node] >= item_weight else 2 * node + 1
    return node - leaves


def _take(room: list[int], node: int, item_weight: int) -> None:
    room[node] -= item_weight
    while node > 1:
        node //= 2
        room[node] = max(room[2 * node], room[2 * node + 1])
