"""How the rate of readers' queries changes over a stream."""

from itertools import pairwise

from workloads.arrival import Arrival

# As if so many queries arrived in each tick on average: what an arrival draws at random averages out, and its
# rounding does not show.
_QUERIES = 10**15
_DIGITS = 6


def query_weights(
    arrival: Arrival, seed: int, commits_count: int, commit_interval_ms: int
) -> tuple[float, ...] | None:
    """By tick from 1 on, the expected queries from its commit to the next, relative to the mean of all ticks.

    None if as many arrive in each tick. Raises ValueError if none arrive at all.
    """
    ends_ms = [tick * commit_interval_ms for tick in range(1, commits_count + 2)]
    queries = [
        arrival.rows(tick, from_ms, to_ms, _QUERIES, f"{seed}/queries")
        for tick, (from_ms, to_ms) in enumerate(pairwise(ends_ms), start=1)
    ]
    total = sum(queries)
    if not total > 0:
        raise ValueError("has no query between the first commit and the end of the stream: choose another")
    weights = tuple(round(count * commits_count / total, _DIGITS) for count in queries)
    return None if len(set(weights)) == 1 else weights
