"""When readers ask with a real clock: by a schedule that does not wait for answers.

A reader who waits for an answer before the next question asks less often just when the table is slow, so the
slowest moments are counted least (coordinated omission; Tene, wrk2). So queries are due at moments that the
seed draws, and a query that begins late has waited since it was due.
"""

import random
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

from bench.scenario.scenario import Scenario


def asks_ms(scenario: Scenario, repetition: int) -> Iterator[int]:
    """The moments in scenario time, ascending, up to the end of the stream."""
    rates_per_s = [scenario.probe_rate_per_s(tick) for tick in range(scenario.commits_count)]
    return due_ms(rates_per_s, scenario.duration_ms, f"{scenario.seed}/readers/{repetition}")


def due_ms(rates_per_s: Sequence[float], duration_ms: int, seed: str) -> Iterator[int]:
    """The moments of a Poisson process in scenario milliseconds, ascending, up to `duration_ms`.

    `rates_per_s` are the rates in equal parts of the duration. A process of rate 1 is run through the
    expected number of queries so far, which grows by pieces of straight lines.
    """
    rng = random.Random(seed)  # noqa: S311 - reproducible, not secret
    part_ms = duration_ms / len(rates_per_s)
    ends = [0.0, *accumulate(rate_per_s * part_ms / 1000 for rate_per_s in rates_per_s)]
    drawn = rng.expovariate(1.0)
    for number, (before, after) in enumerate(pairwise(ends)):
        while drawn < after:
            yield int((number + (drawn - before) / (after - before)) * part_ms)
            drawn += rng.expovariate(1.0)
