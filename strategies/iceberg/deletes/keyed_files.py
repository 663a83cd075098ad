"""Sums over the files above a number whose key bounds meet a range, by bisection: no file is visited."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import Any, Generic

from strategies.iceberg.deletes.ranked import NO_FILES, File, FileSums, Ranked
from strategies.iceberg.files import IcebergDataFile, IcebergDeleteFile, KeyBounds

_ANY_KEY = KeyBounds(None, None, nulls=True)
_LOWER, _UPPER = attrgetter("key_bounds.lower"), attrgetter("key_bounds.upper")


class KeyedFiles(Generic[File]):
    """An index of files by their `number` and by their key bounds."""

    def __init__(self, files: Iterable[File] = (), number: Callable[[File], int] = lambda file: 0) -> None:
        by_flags: dict[tuple[bool, bool], list[File]] = defaultdict(list)
        for file in files:
            keys = file.key_bounds or _ANY_KEY
            by_flags[keys.nulls, keys.values].append(file)
        self._groups: list[_Group[File]] = [
            _Group(*flags, Ranked(members, number)) for flags, members in by_flags.items()
        ]

    @property
    def is_empty(self) -> bool:
        return not self._groups

    def meeting(self, beyond: int, keys: KeyBounds | None) -> FileSums:
        """The sums of the files whose number is above `beyond` and whose bounds meet `keys` (None: all)."""
        return sum((group.meeting(group.start(beyond), keys) for group in self._groups), NO_FILES)

    def above(self, beyond: int) -> Iterator[tuple[Ranked[File], int]]:
        """Files in order, with the index of the first whose number is above `beyond`, whatever their keys."""
        return ((group.ranked, group.start(beyond)) for group in self._groups)


class _Group(Generic[File]):
    """Files that agree on whether they may hold nulls, and whether they may hold other values."""

    def __init__(self, nulls: bool, values: bool, ranked: Ranked[File]) -> None:
        self._nulls, self._values = nulls, values
        self.ranked: Ranked[File] = ranked
        self._nodes: dict[int, tuple[Ranked[File], Ranked[File]]] = {}
        known = [file for file in ranked.files if _has_bounds(file)]
        self._lowest_upper: Any = min(map(_UPPER, known), default=None)
        self._highest_lower: Any = max(map(_LOWER, known), default=None)

    def start(self, beyond: int) -> int:
        """The index of the first file whose number is above `beyond`."""
        return bisect_right(self.ranked.keys, beyond)

    def meeting(self, start: int, keys: KeyBounds | None) -> FileSums:
        """`KeyBounds.meets` for all files from `start` on at once."""
        if keys is None or (keys.nulls and self._nulls):
            return self.ranked.sums(start)
        if not (keys.values and self._values):
            return NO_FILES
        if keys.lower is None or self._lowest_upper is None or self._all_overlap(keys):
            return self.ranked.sums(start)
        # Bounds that do not overlap the range lie either above or below it, so no file is in both sums.
        nodes = self._covering(len(self.ranked.files) - start)
        missing = (
            lowers.sums(bisect_right(lowers.keys, keys.upper))
            + uppers.sums(0, bisect_left(uppers.keys, keys.lower))
            for lowers, uppers in nodes
        )
        return self.ranked.sums(start) - sum(missing, NO_FILES)

    def _all_overlap(self, keys: KeyBounds) -> bool:
        return bool(keys.lower <= self._lowest_upper and self._highest_lower <= keys.upper)

    def _covering(self, from_end: int) -> Iterator[tuple[Ranked[File], Ranked[File]]]:
        """The last `from_end` files of known bounds, in log n parts, each by lower and by upper bounds.

        The parts are nodes of a Fenwick tree over the files, counted from the last: node n has the places
        from n - (lowest set bit of n) + 1 to n. A node is made when it is first needed.
        """
        node, nodes, files = from_end, self._nodes, self.ranked.files
        while node:
            if node not in nodes:
                first = len(files) - node
                part = list(filter(_has_bounds, files[first : first + (node & -node)]))
                nodes[node] = Ranked(part, _LOWER), Ranked(part, _UPPER)
            yield nodes[node]
            node &= node - 1


def _has_bounds(file: IcebergDataFile | IcebergDeleteFile) -> bool:
    return file.key_bounds is not None and file.key_bounds.lower is not None
