"""Files indexed by a number and by their key bounds, for sums over those above a number that overlap a range.

If all of them overlap, which is the common case, the outermost bounds settle that at once. Otherwise those
that do not overlap are counted in logarithmic time. In neither case is a single file visited.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, chain
from typing import Any, Generic

from strategies.iceberg.deletes.series import NO_FILES, File, FileSums, Series, series_of
from strategies.iceberg.files import KeyBounds


class KeyedFiles(Generic[File]):
    """An index of files by number and key bounds. `number` returns the number of a file."""

    def __init__(self, files: Iterable[File], number: Callable[[File], int]) -> None:
        of_kind: dict[tuple[bool, bool], list[File]] = defaultdict(list)
        for file in files:
            keys = file.key_bounds
            of_kind[(True, True) if keys is None else (keys.nulls, keys.values)].append(file)
        self._kinds: list[_Kind[File]] = [
            _Kind(nulls, values, series_of(alike, number)) for (nulls, values), alike in of_kind.items()
        ]

    @property
    def is_empty(self) -> bool:
        """Whether the index holds no file."""
        return not self._kinds

    def meeting(self, beyond: int, keys: KeyBounds | None) -> FileSums:
        """The sums of the files whose number is above `beyond` and whose bounds meet `keys` (None: all)."""
        return sum((kind.meeting(kind.start(beyond), keys) for kind in self._kinds), NO_FILES)

    def parts(self, beyond: int) -> Iterator[tuple[Series[File], int]]:
        """The files whose number is above `beyond`, whatever their keys: each series with a start in it."""
        return ((kind.series, kind.start(beyond)) for kind in self._kinds)


class _Kind(Generic[File]):
    """The files that agree on whether they may hold nulls, and whether they may hold other values."""

    def __init__(self, nulls: bool, values: bool, series: Series[File]) -> None:
        self._nulls, self._values = nulls, values
        self.series: Series[File] = series
        self._lowers = [file.key_bounds.lower if file.key_bounds else None for file in series.files]
        self._uppers = [file.key_bounds.upper if file.key_bounds else None for file in series.files]
        self._highest_lower_from = _outermost(self._lowers, max)
        self._lowest_upper_from = _outermost(self._uppers, min)

    def start(self, beyond: int) -> int:
        """The index in the series of the first file whose number is above `beyond`."""
        return bisect_right(self.series.numbers, beyond)

    def meeting(self, start: int, keys: KeyBounds | None) -> FileSums:
        """`KeyBounds.meets` for all files from `start` on at once."""
        if keys is None or (keys.nulls and self._nulls):
            return self.series.sums_since(start)
        if not (keys.values and self._values):
            return NO_FILES
        return self.series.sums_since(start) - self._missing(start, keys)

    def _missing(self, start: int, keys: KeyBounds) -> FileSums:
        """The sums of the files from `start` on whose bounds do not overlap `keys`.

        A range that misses another lies either above or below it, so the two sums share no file.
        """
        lower, upper = self._lowest_upper_from[start], self._highest_lower_from[start]
        if keys.lower is None or lower is None or (keys.lower <= lower and upper <= keys.upper):
            return NO_FILES
        from_end = len(self.series.files) - start
        return self._by_lower.above(from_end, keys.upper) + self._by_upper.below(from_end, keys.lower)

    @cached_property
    def _by_lower(self) -> "_Ranks":
        return _Ranks(self._lowers, self.series)

    @cached_property
    def _by_upper(self) -> "_Ranks":
        return _Ranks(self._uppers, self.series)


class _Ranks:
    """Sums over those of the last files of a series whose bound is above, or below, a value.

    A Fenwick tree over the reversed series: node n covers the places from n - (lowest set bit of n) + 1 to n,
    and keeps their bounds in ascending order with running sums of bytes and rows. The last n files are
    covered by at most log n nodes, and each is searched by bisection.
    """

    def __init__(self, bounds: Sequence[Any], series: Series[Any]) -> None:
        count = len(bounds)
        self._nodes = [_Node() for _ in range(count + 1)]
        known = (place for place in range(count) if bounds[place] is not None)
        for place in sorted(known, key=bounds.__getitem__):
            file, node = series.files[place], count - place
            while node <= count:
                self._nodes[node].append(bounds[place], file.size_bytes, file.rows)
                node += node & -node

    def above(self, from_end: int, bound: Any) -> FileSums:
        """The sums of those of the last `from_end` files whose bound is above `bound`."""
        covering = self._covering(from_end)
        return sum((node.sums(bisect_right(node.bounds, bound), None) for node in covering), NO_FILES)

    def below(self, from_end: int, bound: Any) -> FileSums:
        """The sums of those of the last `from_end` files whose bound is below `bound`."""
        covering = self._covering(from_end)
        return sum((node.sums(0, bisect_left(node.bounds, bound)) for node in covering), NO_FILES)

    def _covering(self, node: int) -> Iterator["_Node"]:
        while node:
            yield self._nodes[node]
            node &= node - 1


class _Node:
    __slots__ = ("_bytes", "_rows", "bounds")

    def __init__(self) -> None:
        self.bounds: list[Any] = []
        self._bytes, self._rows = [0], [0]

    def append(self, bound: Any, size_bytes: int, rows: int) -> None:
        self.bounds.append(bound)
        self._bytes.append(self._bytes[-1] + size_bytes)
        self._rows.append(self._rows[-1] + rows)

    def sums(self, start: int, end: int | None) -> FileSums:
        last = len(self.bounds) if end is None else end
        return FileSums(
            last - start, self._bytes[last] - self._bytes[start], self._rows[last] - self._rows[start]
        )


def _outermost(bounds: list[Any], choose: Callable[[Any, Any], Any]) -> list[Any]:
    """The outermost of the bounds from each place to the end; None if none of them is known."""

    def further(so_far: Any, bound: Any) -> Any:
        return so_far if bound is None else bound if so_far is None else choose(so_far, bound)

    return list(accumulate(chain([None], reversed(bounds)), further))[::-1]
