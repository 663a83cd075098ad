"""Packing weighted items into bins while they stream by, as Iceberg groups files and scan tasks."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Generic, TypeVar

Item = TypeVar("Item")


@dataclass(slots=True, eq=False)
class _Bin(Generic[Item]):
    items: list[Item] = field(default_factory=list)
    weight: int = 0


def pack(
    items: Iterable[Item],
    weight: Callable[[Item], int],
    target_weight: int,
    lookback: int,
    *,
    largest_first: bool = False,
    max_items: int | None = None,
) -> Iterator[list[Item]]:
    """Bins of at most `target_weight` and `max_items`; an item heavier than that gets a bin of its own.

    Each item goes into the oldest open bin that has room. When more than `lookback` bins are open one
    is closed: the heaviest (of equals the oldest) if `largest_first`, otherwise the oldest. Items keep
    their order within a bin. Weights 5 4 6 2 with target 10: 5 4 | 6 2 at lookback 1.

    Source: Iceberg BinPacking.PackingIterator at 1.11.0.
    """
    bins: list[_Bin[Item]] = []
    for item in items:
        item_weight = weight(item)
        bin_ = next((b for b in bins if _has_room(b, item_weight, target_weight, max_items)), None)
        if bin_ is None:
            bin_ = _Bin()
            bins.append(bin_)
        bin_.items.append(item)
        bin_.weight += item_weight
        if len(bins) > lookback:
            closed = max(bins, key=attrgetter("weight")) if largest_first else bins[0]
            bins.remove(closed)
            yield closed.items
    for bin_ in bins:
        yield bin_.items


def _has_room(bin_: _Bin[Item], item_weight: int, target_weight: int, max_items: int | None) -> bool:
    fits = bin_.weight + item_weight <= target_weight
    return fits and (max_items is None or len(bin_.items) < max_items)
