"""The mix of changes in one commit, as whole numbers that its rows match exactly."""

import math
import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MixShares:
    """Shares (0..1) of all changes, but `repeat` of updates and deletes and `duplicate` of deliveries."""

    insert: float
    delete: float
    repeat: float
    duplicate: float


@dataclass(frozen=True, slots=True)
class Mix:
    """The distinct changes of a commit by kind, and how many of each kind are delivered twice.

    Of the updates and deletes together, `repeats` hit a key that the commit has changed before;
    `repeated_deletes` of those are deletes.
    """

    inserts: int
    updates: int
    deletes: int
    repeats: int
    repeated_deletes: int
    twice_inserts: int
    twice_updates: int
    twice_deletes: int

    @property
    def changes(self) -> int:
        return self.inserts + self.updates + self.deletes

    @property
    def deliveries(self) -> int:
        """Changes as delivered, some of them twice."""
        return self.changes + self.twice_inserts + self.twice_updates + self.twice_deletes

    @property
    def draws(self) -> int:
        """Updates and deletes that draw a key from those that existed before the commit."""
        return self.updates + self.deletes - self.repeats


def mix_of(seed: int, index: int, rows: int, shares: MixShares) -> Mix:
    """The mix of commit `index`, which delivers `rows` changes.

    Every count is a share, rounded up or down at random. So the shares hold over many commits, even if less
    than one change of a kind is expected per commit.
    """
    rng = random.Random(f"{seed}/mix/{index}")  # noqa: S311 - reproducible, not secret

    def part(total: int, share: float) -> int:
        return min(total, math.floor(total * share + rng.random()))

    twice = min(part(rows, shares.duplicate), rows // 2)
    changes = rows - twice
    inserts = part(changes, shares.insert)
    others = changes - inserts
    delete_share = shares.delete / (1 - shares.insert) if shares.insert < 1 else 0.0
    deletes, repeats = part(others, delete_share), part(others, shares.repeat)
    twice_others = _both(twice, others, changes)
    twice_deletes = _both(twice_others, deletes, others)
    return Mix(
        inserts=inserts,
        updates=others - deletes,
        deletes=deletes,
        repeats=repeats,
        repeated_deletes=_both(deletes, repeats, others),
        twice_inserts=twice - twice_others,
        twice_updates=twice_others - twice_deletes,
        twice_deletes=twice_deletes,
    )


def _both(first: int, second: int, total: int) -> int:
    """The expected overlap of two independent parts of `total`, rounded to the nearest whole number."""
    return (2 * first * second + total) // (2 * total) if total else 0
