"""Next-fit packing, by which Delta groups files into bins and bins into batches."""

from collections.abc import Callable, Iterable
from typing import TypeVar

_Item = TypeVar("_Item")


def next_fit(
    items: Iterable[_Item], size_of: Callable[[_Item], int], capacity_bytes: int
) -> list[list[_Item]]:
    """Consecutive items in bins of at most `capacity_bytes`; a larger item gets a bin of its own.

    Only the last bin is open, so space in earlier ones is never filled. Sizes 2 3 6 4 with a capacity of
    10: 2 3 | 6 4. Source: OptimizeExecutor.groupFilesIntoBins and BinPackingUtils.binPackBySize of
    delta-spark 3.3.2, both of which are given items in ascending order of size.
    """
    bins: list[list[_Item]] = []
    room_bytes = 0
    for item in items:
        size_bytes = size_of(item)
        if not bins or size_bytes > room_bytes:
            bins.append([])
            room_bytes = capacity_bytes
        bins[-1].append(item)
        room_bytes -= size_bytes
    return bins
