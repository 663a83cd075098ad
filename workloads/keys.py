"""Which existing keys the updates and deletes of a stream hit: drawn uniformly or skewed."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from workloads.draws import below, share

Skew = Literal["uniform", "zipf", "recent-first"]

_RANKS_APART = 64  # higher ranks are grouped into ranges, each longer by this factor:
_RANGE_FACTOR = 1.1


@dataclass(frozen=True, slots=True)
class KeyChoice:
    """How changes choose among the keys 1 to `population`, which are numbered in order of insertion.

    "uniform": all keys are equally likely. The other two draw a rank r with density proportional to
    r^-`exponent`, truncated to a whole number. With "recent-first" rank 1 is the newest key. With "zipf" the
    ranks up to `initial_rows` are scattered over the initial load by hashing, so that some keys have two
    ranks and some none, and the rank of a later key is its number. A key thus stays as hot as it was while
    the table grows.
    """

    skew: Skew
    exponent: float
    initial_rows: int

    def sql(self, seed: int, draw: str, population: int) -> str:
        """SQL of the key that the draw numbered `draw` (SQL too) hits."""
        if self.skew == "uniform":
            return f"1 + {below(seed, 'key', population, draw)}"
        rank = self._rank_sql(share(seed, "key", draw), population)
        if self.skew == "recent-first":
            return f"{population + 1}L - {rank}"
        scattered = f"1 + {below(seed, 'scattered_key', self.initial_rows, rank)}"
        return f"IF({rank} <= {self.initial_rows}L, {scattered}, {rank})"

    def _rank_sql(self, uniform: str, population: int) -> str:
        """SQL of the inverse of `_below`. POW is Java's StrictMath, so it is the same on every machine."""
        if self.exponent == 1:
            rank = f"pow({population + 1}D, {uniform})"
        else:
            power = 1 - self.exponent
            rank = f"pow(1D + {uniform} * {(population + 1) ** power - 1!r}D, {1 / power!r}D)"
        return f"least({population}L, greatest(1L, CAST(floor({rank}) AS BIGINT)))"

    def share(self, first_key: int, end_key: int, population: int) -> float:
        """The expected share (0..1) of draws that hit a key in [`first_key`, `end_key`)."""
        first, end = max(first_key, 1), min(end_key, population + 1)
        if first >= end:
            return 0.0
        if self.skew == "uniform":
            return (end - first) / population
        if self.skew == "recent-first":
            return self._ranks(population + 2 - end, population + 2 - first, population)
        scattered = min(self.initial_rows, population)
        inside = max(0, min(end, scattered + 1) - first)
        share_of_scattered = self._ranks(1, scattered + 1, population) * inside / scattered
        return share_of_scattered + self._ranks(max(first, scattered + 1), end, population)

    @property
    def is_scattered(self) -> bool:
        """Whether the hotness of keys in the initial load does not follow the order of their numbers."""
        return self.skew == "zipf"

    def heat(self, first: int, end: int, population: int) -> float:
        """Like `share`, but for places in order of hotness: ranks if keys are scattered, otherwise keys."""
        if self.is_scattered:
            return self._ranks(max(first, 1), min(end, population + 1), population)
        return self.share(first, end, population)

    def key_at(self, share_before: float, population: int) -> int:
        """The key at a quantile (0..1) of the draws: at most that share of them hits lower keys."""
        first, last = 1, population
        while first < last:
            middle = (first + last + 1) // 2
            if self.share(1, middle, population) <= share_before:
                first = middle
            else:
                last = middle - 1
        return first

    def distinct(self, draws: int, population: int) -> float:
        """The expected number of distinct keys hit by `draws`; two ranks of one key count as two."""
        if self.skew == "uniform":
            return _hit(1.0, population, draws)
        return sum(
            _hit(self._ranks(start, end, population), end - start, draws)
            for start, end in _rank_ranges(population)
        )

    def _ranks(self, start: int, end: int, population: int) -> float:
        return self._below(end, population) - self._below(start, population) if start < end else 0.0

    def _below(self, rank: int, population: int) -> float:
        """The share of draws with a lower rank: the integral of r^-exponent up to it, over the whole one."""
        if self.exponent == 1:
            return math.log(rank) / math.log(population + 1)
        power = 1 - self.exponent
        return float((rank**power - 1) / ((population + 1) ** power - 1))


def _rank_ranges(population: int) -> Iterator[tuple[int, int]]:
    start = 1
    while start <= population:
        length = 1 if start <= _RANKS_APART else math.ceil(start * (_RANGE_FACTOR - 1))
        yield start, min(start + length, population + 1)
        start += length


def _hit(share_of_all: float, keys: int, draws: int) -> float:
    """The expected number of `keys` hit at least once, if together they get this share of all draws."""
    key_share = share_of_all / keys
    return keys * -math.expm1(draws * math.log1p(-key_share)) if key_share < 1 else float(min(draws, 1))
