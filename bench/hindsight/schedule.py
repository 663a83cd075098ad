"""The cheapest schedule of compactions: dynamic programming over the last compaction.

A schedule is a set of ticks at which the table is compacted. What commits and queries cost between two of
them depends on the first alone (`bench.hindsight.segments`), so a cheapest schedule up to a tick extends a
cheapest one up to an earlier tick.

With fewer moments than ticks, a *block* is the ticks after one moment up to the next. Then there are two
answers: the cheapest schedule that compacts at ends of blocks, and a bound that no schedule undercuts. For a
block with one or more compactions, the bound assumes that commits and queries cost as little in it as on a
table that is compacted after each commit, that it has one compaction, as cheap as an evaluation at its first
tick even if that finds nothing, and that the next block begins with a table that is just compacted. It needs
costs that do not fall while the table is not compacted. If each tick is a moment, both answers are the same.
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
    commit_cpu_s = np.min([floor.commit_cpu_s for floor in floors], 0)
    query_cpu_s = np.min([floor.query_cpu_s for floor in floors], 0)
    for one in segments:
        after, from_start = slice(one.start + 1, None), slice(one.start, None)
        commit_cpu_s[after] = np.minimum(commit_cpu_s[after], one.commit_cpu_s[after])
        query_cpu_s[from_start] = np.minimum(query_cpu_s[from_start], one.query_cpu_s[from_start])
    return Floor(commit_cpu_s, query_cpu_s)


def cheapest(
    segments: Sequence[Segment], moments: Sequence[int], floor: Floor, queries: np.ndarray
) -> Schedule:
    """The cheapest schedule that compacts at some of the ticks `moments`, of which the last ends the stream.

    `queries` counts those that are asked from each tick to the next; its first item, for tick 0, is not used.
    `segments` start at 0 and at those of these ticks at which there is something to compact.
    """
    query_at = {one.start: float(queries[one.start] * one.query_cpu_s[one.start]) for one in segments}
    single_ticks = [(tick, tick) for tick in moments]
    ticks, cpu_s = _least(segments, single_ticks, lambda block: query_at[block[1]], queries)

    def rest(block: _Block) -> float:
        """What the block costs at least, without its first commit."""
        first, last = block
        of_commits = floor.commit_cpu_s[first + 1 : last + 1].sum()
        of_queries = queries[first : last + 1] @ floor.query_cpu_s[first : last + 1]
        return float(of_commits + of_queries)

    blocks = list(zip((1, *(tick + 1 for tick in moments)), moments, strict=False))
    return Schedule(ticks, cpu_s, _least(segments, blocks, rest, queries)[1])


def parts_cpu_s(segments: Sequence[Segment], ticks: Sequence[int], queries: np.ndarray) -> float:
    """What a schedule costs by its parts, in CPU seconds."""
    by_start = {one.start: one for one in segments}
    total_s = 0.0
    for start, end in zip((0, *ticks), (*ticks, len(queries)), strict=True):
        one = by_start[start]
        total_s += float(one.commit_cpu_s[start + 1 : end + 1].sum())
        total_s += float(one.evaluation_cpu_s[end : end + 1].sum())  # none at the end of the stream
        total_s += float(queries[start:end] @ one.query_cpu_s[start:end])
    return total_s


def _least(
    segments: Sequence[Segment],
    blocks: Sequence[_Block],
    rest: Callable[[_Block], float],
    queries: np.ndarray,
) -> tuple[tuple[int, ...], float]:
    """The cheapest choice of blocks to compact in, by their last ticks, and its CPU seconds."""
    by_start = {one.start: one for one in segments}
    best: dict[int, tuple[float, tuple[int, ...]]] = {0: (0.0, ())}
    whole: list[tuple[float, tuple[int, ...]]] = []
    for start, one in sorted(by_start.items()):
        if start not in best:
            continue
        cpu_s, ticks = best[start]
        of_commits = np.cumsum(one.commit_cpu_s)
        asked_s = queries * one.query_cpu_s
        of_queries = np.cumsum(asked_s) - asked_s[start]
        whole.append((cpu_s + float(of_commits[-1] + of_queries[-1]), ticks))
        for first, last in blocks:
            is_possible = last in by_start and (first < last or one.compacts[last])
            if first > start and is_possible:
                until_s = float(of_commits[first] + of_queries[first - 1] + one.evaluation_cpu_s[first])
                made = (cpu_s + until_s + rest((first, last)), (*ticks, last))
                best[last] = min(best.get(last, made), made)
    cpu_s, ticks = min(whole)
    return ticks, cpu_s
