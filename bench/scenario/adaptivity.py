"""How much a policy can gain by adapting to traffic and readers, in a simple model of what both cost."""

import math
from collections.abc import Sequence


def least_cost(files: Sequence[float], queries: Sequence[float]) -> float | None:
    """The least cost of any schedule of compactions, over that of the best fixed interval: in (0, 1].

    `files` are added in each tick and `queries` asked in it, in any units, none below 0. The cost is that of
    compactions and of the time that queries lose to files which wait for one. Squared, it is the share of the
    CPU of compactions at equal latency. None if no files are added while queries are asked.

    In the model a compaction costs a fixed F, and a query loses q for each file that waits. With a files and
    w queries a second, an interval T costs F / T + q a w T / 2 a second, least at T = sqrt(2 F / (q a w)),
    where it is sqrt(2 F q a w): the square root law of ordering (Harris, How Many Parts to Make at Once,
    1913). A fixed interval sees the mean of a w alone, a schedule may be best at each moment. So the ratio of
    the two is E[sqrt(a w)] / sqrt(E[a w]), at most 1 by Jensen's inequality.
    """
    busy = [added * asked for added, asked in zip(files, queries, strict=True)]
    if not any(busy):
        return None
    highest = max(busy)
    shares = [one / highest for one in busy]  # which neither overflow nor vanish
    of_best = math.fsum(map(math.sqrt, shares)) / len(shares)
    of_fixed = math.sqrt(math.fsum(shares) / len(shares))
    return min(1.0, of_best / of_fixed)
