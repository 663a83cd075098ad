"""SQL of random draws: pure functions of (seed, stream, key), with the same result on every machine."""

import hashlib
from dataclasses import dataclass


def hashed(seed: int, stream: str, key: str = "id") -> str:
    """SQL of a 64-bit hash that depends on (seed, stream, key) only."""
    salt = int.from_bytes(hashlib.sha256(f"{seed}/{stream}".encode()).digest()[:7])
    return f"xxhash64({salt}L, {key})"


def below(seed: int, stream: str, limit: int, key: str = "id") -> str:
    """SQL of a whole number uniform in [0, limit)."""
    return f"pmod({hashed(seed, stream, key)}, {limit}L)"


def share(seed: int, stream: str, key: str = "id") -> str:
    """SQL of a DOUBLE uniform in [0, 1), with 53 random bits."""
    return f"(shiftrightunsigned({hashed(seed, stream, key)}, 11) / {2**53}D)"


def happens(seed: int, stream: str, probability: float, key: str = "id") -> str:
    """SQL of a BOOLEAN that is true with this probability, which is rounded to a billionth."""
    return f"{below(seed, stream, 10**9, key)} < {round(probability * 10**9)}L"


def word(seed: int, stream: str, words: tuple[str, ...], key: str) -> str:
    """SQL of one of `words`, all equally likely."""
    return f"element_at({array(words)}, CAST(1 + {below(seed, stream, len(words), key)} AS INT))"


def array(words: tuple[str, ...]) -> str:
    """SQL of an ARRAY of words without quotes."""
    return "array(" + ", ".join(f"'{word}'" for word in words) + ")"


@dataclass(frozen=True, slots=True)
class Strata:
    """Marks exactly `count` of the ordinals 0 to `total` - 1, spread evenly but not regularly.

    The ordinals are divided into `count` strata whose lengths differ by at most 1, and one ordinal of each is
    drawn. So a single draw decides whether an ordinal is marked and how many before it are, independently for
    every row. The arithmetic is exact while count x total is below 2**63.
    """

    count: int
    total: int

    def number(self, ordinal: str) -> str:
        """SQL of the stratum that contains an ordinal, counted from 0."""
        return f"({ordinal}) * {self.count}L div {max(1, self.total)}L"

    def drawn(self, seed: int, stream: str, number: str, key: str) -> str:
        """SQL of the ordinal marked in stratum `number`; `key` makes the draw unique within `stream`."""
        if self.count == 0:
            return "-1L"
        start, end = self._start(number), self._start(f"({number} + 1)")
        return f"{start} + pmod({hashed(seed, stream, key)}, {end} - {start})"

    def _start(self, number: str) -> str:
        return f"(({number} * {self.total}L + {self.count - 1}L) div {self.count}L)"
