"""The cheapest schedule of compactions: dynamic programming over the last compaction.

A schedule is a set of ticks at which the table is compacted. What commits and queries cost between two of
them depends on the first alone (`bench.hindsight.segments`), so a cheapest schedule up to a tick extends a
cheapest one up to an earlier tick.

With fewer moments than ticks, a *block* is the ticks after one moment up to the next. Then there are two
answers: the cheapest schedule that compacts at ends of blocks, and a bound that no schedule undercuts. For a
block with one or more compactions, the bound assumes that commits and queries cost as little in it as on a
table that is compacted after each commit, that it has one compaction, as cheap as the first possible one, and
that the next block begins with a table that is just compacted. It needs costs that do not fall while the
table is not compacted. If each tick is a moment, both answers are the same.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bench.hindsight.segments import Floor, Segment

_Block = tuple[int, int]  # its first and its last tick


@dataclass(frozen=True, slots=True)
class Schedule:
    """The ticks at which to compact, and the CPU seconds of commits, compactions and queries.

    No schedule of the same planner costs less than `bound_cpu_s`.
    """

    ticks: tuple[int, ...]
    cpu_s: float
    bound_cpu_s: float


def lowest(floors: Sequence[Floor], segments: Sequence[Segment] = ()) -> Floor:
    """The least cost of each tick."""
    commit, query = (np.min([getattr(floor, name) for floor in floors], 0) for name in ("commit", "query"))
    for one in segments:
        after = slice(one.start + 1, None)
        commit[after] = np.minimum(commit[after], one.commit[after])
        query[one.start :] = np.minimum(query[one.start :], one.query[one.start :])
    return Floor(commit, query)


def cheapest(
    segments: Sequence[Segment], ends: Sequence[int], floor: Floor, queries_per_tick: float
) -> Schedule:
    """The cheapest schedule that compacts at some of the ticks `ends`, of which the last ends the stream.

    `segments` start at 0 and at those of these ticks at which there is something to compact.
    """
    query_at = {one.start: queries_per_tick * float(one.query[one.start]) for one in segments}
    at_ends = [(end, end) for end in ends]
    ticks, cpu_s = _least(segments, at_ends, lambda block: query_at[block[1]], queries_per_tick)

    def rest(block: _Block) -> float:
        """What the block costs at least, without its first commit."""
        first, last = block
        of_commits = floor.commit[first + 1 : last + 1].sum()
        return float(of_commits + queries_per_tick * floor.query[first : last + 1].sum())

    blocks = list(zip((1, *(end + 1 for end in ends)), ends, strict=False))
    return Schedule(ticks, cpu_s, _least(segments, blocks, rest, queries_per_tick)[1])


def _least(
    segments: Sequence[Segment],
    blocks: Sequence[_Block],
    rest: Callable[[_Block], float],
    queries_per_tick: float,
) -> tuple[tuple[int, ...], float]:
    """The cheapest choice of blocks to compact in, by their last ticks, and its cost."""
    by_start = {one.start: one for one in segments}
    best: dict[int, tuple[float, tuple[int, ...]]] = {0: (0.0, ())}
    whole: list[tuple[float, tuple[int, ...]]] = []
    for start, one in sorted(by_start.items()):
        if start not in best:
            continue
        cost_s, ticks = best[start]
        of_commits, of_queries = np.cumsum(one.commit), np.cumsum(one.query) - one.query[start]
        of_queries *= queries_per_tick
        whole.append((cost_s + float(of_commits[-1] + of_queries[-1]), ticks))
        for first, last in blocks:
            price_s = one.compaction[first : last + 1].min() if first > start else np.inf
            if last not in by_start or not np.isfinite(price_s):
                continue
            until_s = float(of_commits[first] + of_queries[first - 1] + price_s)
            made = (cost_s + until_s + rest((first, last)), (*ticks, last))
            best[last] = min(best.get(last, made), made)
    cost_s, ticks = min(whole)
    return ticks, cost_s
