"""Which strategies are not told apart, each pair by its own intervals of cost and latency.

The correction of a page's verdicts for their number (`reports.verdicts.page_verdicts`) has no say here: it
withholds proof of a difference, which is no evidence that there is none.
"""

from collections.abc import Mapping
from functools import lru_cache

from bench.results.metrics import LATENCY
from reports.data.group import RunGroup
from reports.verdicts.judge import compare_strategies
from reports.verdicts.pareto_front import alike, dominated, is_within, points


def is_told_apart(group: RunGroup, strategy: str, other: str) -> bool:
    """Unless the intervals of both ratios, of cost and of latency, contain 1, or figures without noise agree.

    Modelled figures agree within 2 %. Strategies whose noise is not known are told apart by their means.
    """
    if group.is_simulated:
        by_label = {point.strategy: point for point in points(group)}
        one, two = by_label[strategy], by_label[other]
        return not (is_within(one, two) and is_within(two, one))
    return not all(
        compare_strategies(group, metric, strategy, other).contains_1
        for metric in (group.cost_metric, LATENCY)
    )


@lru_cache(maxsize=16)  # groups are told apart by identity
def not_told_apart(group: RunGroup) -> Mapping[str, str]:
    """Strategy that is dominated on the means -> the dominating one, of pairs that are not told apart."""
    if group.is_simulated:
        return alike(group)
    pairs = dominated(points(group)).items()
    return {worse: better for worse, better in pairs if not is_told_apart(group, worse, better)}


@lru_cache(maxsize=16)
def clusters(group: RunGroup) -> tuple[tuple[str, ...], ...]:
    """Sets of strategies of which no two are told apart, the better one on the means first.

    If neither a nor c is told apart from b, they may still be from each other. So a strategy joins only after
    it was compared with all that did before.
    """
    by_first: dict[str, list[str]] = {}
    for label, first in not_told_apart(group).items():
        cluster = by_first.setdefault(first, [first])
        if not any(is_told_apart(group, label, other) for other in cluster[1:]):
            cluster.append(label)
    return tuple(tuple(cluster) for cluster in by_first.values())
