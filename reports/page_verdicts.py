"""The comparisons that a report makes of one run group, with verdicts that hold jointly.

A report compares the query latency of each strategy with that of `never`, and both cost and latency of
neighbours on the Pareto front. The front is chosen by the same figures, so its neighbours look more different
than they are; the correction for the number of comparisons (Holm) covers that as well. Reports with at least
one false verdict, in % of 2,000, of five strategies that are equal, and equal `never` in latency:

             each for itself    corrected
    n = 3               23.5          4.8
    n = 5               21.7          3.8

Reproduced by `make noise`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from bench.results.rows import BASELINE
from reports.compare import Comparison, corrected
from reports.contrasts import LATENCY
from reports.load import RunGroup
from reports.pareto_front import pareto_front, points


@dataclass(frozen=True, slots=True)
class PageVerdicts:
    """The comparisons by metric, strategy and the other strategy."""

    comparisons: dict[tuple[str, str, str], Comparison]

    def of(self, metric: str, strategy: str, other: str) -> Comparison | None:
        """How a strategy compares with the other; None where the report makes no such comparison."""
        return self.comparisons.get((metric, strategy, other))

    @property
    def number(self) -> int:
        """How many verdicts were corrected for their number."""
        return sum(one.adjusted_p is not None for one in self.comparisons.values())


def page_verdicts(group: RunGroup) -> PageVerdicts:
    """Every comparison a report of the group makes; of modelled figures too, which need no correction."""
    keys = tuple(dict.fromkeys((*_with_baseline(group), *_along_front(group))))
    return PageVerdicts(dict(zip(keys, corrected([group.compare(*key) for key in keys]), strict=True)))


def _with_baseline(group: RunGroup) -> Iterator[tuple[str, str, str]]:
    if group.baseline is not None:
        yield from ((LATENCY, label, BASELINE) for label in group.strategies if label != BASELINE)


def _along_front(group: RunGroup) -> Iterator[tuple[str, str, str]]:
    for cheaper, faster in pairwise(pareto_front(points(group))):
        if cheaper.cost_s > 0:  # nothing is a multiple of no cost at all
            yield (group.cost_metric, faster.strategy, cheaper.strategy)
        yield (LATENCY, faster.strategy, cheaper.strategy)
