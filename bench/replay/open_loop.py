"""When readers ask with a real clock: by a schedule that does not wait for answers.

A reader who waits for an answer before the next question asks less often just when the table is slow, so the
slowest moments are counted least (coordinated omission; Tene, wrk2). So queries are due at moments that the
seed draws, and a query that begins late has waited since it was due.
"""

import random
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise


def due_ms(
    rate_per_s: float, duration_ms: int, seed: str, weights: Sequence[float] | None = None
) -> Iterator[int]:
    """The moments of a Poisson process in scenario milliseconds, ascending, up to `duration_ms`.

    `rate_per_s` is the mean rate in scenario time. `weights` divide the duration into equal parts and are the
    rate in each, relative to the mean; None is a constant rate. A process of rate 1 is run through the
    expected number of queries so far, which grows by pieces of straight lines.
    """
    rng = random.Random(seed)  # noqa: S311 - reproducible, not secret
    parts = weights or (1.0,)
    part_ms = duration_ms / len(parts)
    ends = [0.0, *accumulate(weight * rate_per_s * part_ms / 1000 for weight in parts)]
    drawn = rng.expovariate(1.0)
    for number, (before, after) in enumerate(pairwise(ends)):
        while drawn < after:
            yield int((number + (drawn - before) / (after - before)) * part_ms)
            drawn += rng.expovariate(1.0)
