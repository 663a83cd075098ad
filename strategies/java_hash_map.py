"""The iteration order of Java's `HashMap` for keys that are strings.

A string has the same hash in every JVM, so its bucket, and with it the iteration order, is the same in every
run. Keys that share a bucket keep the order in which they were inserted.

Source: java.util.HashMap of Java 11, which Amoro is built for, and 17. Since Java 19 `putAll` creates a map
half as large for 3, 6, 12, 24 ... keys. Not reproduced: from 64 buckets on, a bucket of eight keys (nine by
`put`) is turned into a tree, which may reorder the keys of the bucket.
"""

from collections.abc import Iterable, Iterator
from itertools import chain

_FIRST_CAPACITY = 16  # DEFAULT_INITIAL_CAPACITY
_TREE_FROM_KEYS = 8  # TREEIFY_THRESHOLD
_TREE_FROM_CAPACITY = 64  # MIN_TREEIFY_CAPACITY: a smaller map grows instead of turning a bucket into a tree


class HashMapKeys:
    """The keys of a `HashMap`, in its order. It starts empty, sized for `expected_count` keys if given."""

    def __init__(self, expected_count: int | None = None) -> None:
        capacity = _FIRST_CAPACITY if expected_count is None else _capacity_for(expected_count)
        self._buckets: list[list[tuple[int, str]]] = [[] for _ in range(capacity)]
        self._count = 0

    def __iter__(self) -> Iterator[str]:
        return (key for _, key in chain.from_iterable(self._buckets))

    def compute_if_absent(self, key: str) -> None:
        """Call `computeIfAbsent`: the map grows before it inserts, and a new key goes first in its bucket."""
        if self._is_overfull():
            self._grow()
        hash_code = spread_hash(key)
        bucket = self._bucket(hash_code)
        if (hash_code, key) in bucket:
            return
        bucket.insert(0, (hash_code, key))
        if len(bucket) >= _TREE_FROM_KEYS:
            self._grow_instead_of_a_tree()
        self._count += 1

    def put(self, key: str) -> None:
        """Call `put` or `putIfAbsent`: a new key goes last in its bucket, and the map grows afterwards."""
        hash_code = spread_hash(key)
        bucket = self._bucket(hash_code)
        if (hash_code, key) in bucket:
            return
        bucket.append((hash_code, key))
        if len(bucket) > _TREE_FROM_KEYS:
            self._grow_instead_of_a_tree()
        self._count += 1
        if self._is_overfull():
            self._grow()

    def _bucket(self, hash_code: int) -> list[tuple[int, str]]:
        return self._buckets[hash_code & (len(self._buckets) - 1)]

    def _is_overfull(self) -> bool:
        return self._count > len(self._buckets) * 3 // 4

    def _grow_instead_of_a_tree(self) -> None:
        if len(self._buckets) < _TREE_FROM_CAPACITY:
            self._grow()

    def _grow(self) -> None:
        """Double the buckets; keys that stay in one bucket keep their order."""
        entries = list(chain.from_iterable(self._buckets))
        self._buckets = [[] for _ in range(2 * len(self._buckets))]
        for entry in entries:
            self._bucket(entry[0]).append(entry)


def collected(keys: Iterable[str]) -> tuple[str, ...]:
    """The order of distinct keys after `Collectors.toMap` and a `putAll` into an empty map."""
    first = HashMapKeys()
    for key in keys:
        first.put(key)
    in_order = tuple(first)
    second = HashMapKeys(expected_count=len(in_order))
    for key in in_order:
        second.put(key)
    return tuple(second)


def grouped(keys: Iterable[str]) -> tuple[str, ...]:
    """The order of the groups of `Collectors.groupingBy`; a key may come several times."""
    groups = HashMapKeys()
    for key in keys:
        groups.compute_if_absent(key)
    return tuple(groups)


def spread_hash(text: str) -> int:
    """`HashMap.hash` of a string, as an unsigned number: `String.hashCode` with its upper half XORed in."""
    units = text.encode("utf-16-be", "surrogatepass")
    code = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        code = (31 * code + (high << 8 | low)) & 0xFFFFFFFF
    return code ^ code >> 16


def _capacity_for(count: int) -> int:
    """The capacity that `putAll` gives an empty map: the lowest power of two >= `count` / 0.75 + 1."""
    return 1 << max(int(count / 0.75 + 1) - 1, 0).bit_length()
