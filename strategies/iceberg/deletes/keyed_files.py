"""Files by a number and by the keys they may hold: sums over those beyond one number that meet a range.

Where every range meets, which is the common case, the outermost bounds settle it at once. Otherwise those
that miss are counted in logarithmic time; no file is looked at.
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
    """Files that can be asked by number and key range. `number` gives the number of a file."""

    def __init__(self, files: Iterable[File], number: Callable[[File], int]) -> None:
        of_kind: dict[tuple[bool, bool], list[File]] = defaultdict(list)
        for file in files:
            keys = file.key_bounds
            of_kind[(True, True) if keys is None else (keys.nulls, keys.values)].append(file)
        self._kinds: list[_Kind[File]] = [
            _Kind(nulls, values, series_of(own, number)) for (nulls, values), own in of_kind.items()
        ]

    @property
    def is_empty(self) -> bool:
        """Whether there is no file at all."""
        return not self._kinds

    def meeting(self, beyond: int, keys: KeyBounds | None) -> FileSums:
        """The sums of the files whose number is above `beyond` and whose keys meet `keys`; None meets all."""
        return sum((kind.meeting(kind.start(beyond), keys) for kind in self._kinds), NO_FILES)

    def parts(self, beyond: int) -> Iterator[tuple[Series[File], int]]:
        """The files whose number is above `beyond`, as ends of series, whatever their keys."""
        return ((kind.series, kind.start(beyond)) for kind in self._kinds)


class _Kind(Generic[File]):
    """Files that are alike in whether they may hold nulls, and other values."""

    def __init__(self, nulls: bool, values: bool, series: Series[File]) -> None:
        self._nulls, self._values = nulls, values
        self.series: Series[File] = series
        self._lowers = [file.key_bounds.lower if file.key_bounds else None for file in series.files]
        self._uppers = [file.key_bounds.upper if file.key_bounds else None for file in series.files]
        self._highest_lower_from = _outermost(self._lowers, max)
        self._lowest_upper_from = _outermost(self._uppers, min)

    def start(self, beyond: int) -> int:
        """The place of the first file whose number is above `beyond`."""
        return bisect_right(self.series.numbers, beyond)

    def meeting(self, start: int, keys: KeyBounds | None) -> FileSums:
        """`KeyBounds.meets` for all files from `start` on at once."""
        if keys is None or (keys.nulls and self._nulls):
            return self.series.sums_since(start)
        if not (keys.values and self._values):
            return NO_FILES
        return self.series.sums_since(start) - self._missing(start, keys)

    def _missing(self, start: int, keys: KeyBounds) -> FileSums:
        """A range lies above another or below it, never both, so the two sums share no file."""
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
    """Sums of the files at the end of a series whose bound is above, or below, a value.

    A Fenwick tree over the series read backwards: the n-th node covers as many places up to the n-th as n's
    lowest set bit says, their bounds in ascending order with running sums of bytes and rows.
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
        """Of the last `from_end` files those whose bound is above `bound`."""
        covering = self._covering(from_end)
        return sum((node.sums(bisect_right(node.bounds, bound), None) for node in covering), NO_FILES)

    def below(self, from_end: int, bound: Any) -> FileSums:
        """Of the last `from_end` files those whose bound is below `bound`."""
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
    """The outermost of the bounds from each place to the end; None where none of them is known."""

    def further(so_far: Any, bound: Any) -> Any:
        return so_far if bound is None else bound if so_far is None else choose(so_far, bound)

    return list(accumulate(chain([None], reversed(bounds)), further))[::-1]
