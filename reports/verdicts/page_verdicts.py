"""The comparisons that a page makes, with verdicts that hold jointly.

For each run group, a page compares the query latency of every strategy with `never`, cost and latency of
neighbours on the Pareto front of each format and of dominated strategies with those that dominate them, and
each strategy in a variant with the same strategy in the scenario as it is; where the scenario has prices,
also the money of the cheapest strategy with that of the others. The front is chosen by the same
figures, so its neighbours look more different than they are; the correction for the number of comparisons
(Holm) covers that as well. Comparisons of two formats are corrected apart, so that a page does not decide
less about each format because it has several. Pages with at least one false verdict, in % of 2,000, of five
strategies that are equal, and equal `never` in latency, with drift, a neighbour and heavy tails as in our
suites:

             each for itself    corrected
    n = 3               19.2          2.2
    n = 5               17.5          1.2
    n = 10              21.1          1.7

Reproduced by `make noise`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bench.results.metrics import LATENCY, MIN_RUNS
from bench.results.rows import Row
from reports.data.group import RunGroup
from reports.verdicts.apart import not_told_apart
from reports.verdicts.compare import Comparison, corrected
from reports.verdicts.judge import compare_strategies
from reports.verdicts.money import with_cheapest
from reports.verdicts.pareto_front import dominated, pareto_front, points

_Key = tuple[str, str, str]  # metric, strategy, the other strategy


@dataclass(frozen=True, slots=True)
class PageVerdicts:
    """The comparisons of one run group.

    `number` is how many comparisons of the page were corrected, those of two formats apart.
    """

    comparisons: Mapping[_Key, Comparison]
    number: int

    def of(self, metric: str, strategy: str, other: str) -> Comparison | None:
        """How a strategy compares with the other; None if the page makes no such comparison."""
        return self.comparisons.get((metric, strategy, other))

    def with_baseline(self, row: Row) -> Comparison | None:
        """How the latency of a strategy compares with that of `never` in the same variant."""
        return self.of(LATENCY, row.strategy, row.baseline)

    def unproven(self, group: RunGroup) -> Mapping[str, str]:
        """Dominated strategy -> the one that dominates it, where the corrected verdicts do not prove that.

        Their own intervals tell the two apart (`reports.verdicts.apart`), and enough runs show the noise.
        """
        alike, found = not_told_apart(group), dict[str, str]()
        for worse, better in () if group.is_simulated else dominated(points(group)).items():
            compared = [self.of(metric, worse, better) for metric in (group.cost_metric, LATENCY)]
            told = {c.verdict for c in compared if c is not None and c.n >= MIN_RUNS}
            is_open = None not in compared and told and ("more" not in told or "less" in told)
            if is_open and worse not in alike:
                found[worse] = better
        return found


def page_verdicts(groups: Sequence[RunGroup]) -> tuple[PageVerdicts, ...]:
    """Every comparison of a page with these groups, modelled ones included, which need no correction.

    Those of two formats do not answer which strategy to choose: they are a family of their own.
    """
    keys = [(place, key) for place, group in enumerate(groups) for key in _keys(group)]
    formats = [{row.strategy: row.format for row in group.rows} for group in groups]
    families: tuple[list[tuple[int, _Key]], ...] = ([], [])
    for place, (metric, strategy, other) in keys:
        is_of_formats = formats[place][strategy] != formats[place][other]
        families[is_of_formats].append((place, (metric, strategy, other)))
    by_group: list[dict[_Key, Comparison]] = [{} for _ in groups]
    for family in families:
        made = corrected([compare_strategies(groups[place], *key) for place, key in family])
        for (place, key), comparison in zip(family, made, strict=True):
            by_group[place][key] = comparison
    number = sum(by_group[place][key].adjusted_p is not None for place, key in families[0])
    return tuple(PageVerdicts(comparisons, number) for comparisons in by_group)


def _keys(group: RunGroup) -> Iterable[_Key]:
    """Each comparison once: `never` may also be the cheapest on the front."""
    return dict.fromkeys(
        (
            *_with_baseline(group),
            *_along_front(group),
            *_off_the_front(group),
            *_with_base(group),
            *(key for part in group.parts for key in with_cheapest(part)),
        )
    )


def _with_baseline(group: RunGroup) -> Iterator[_Key]:
    known = {row.strategy for row in group.rows if row.values[LATENCY] is not None}
    for row in group.rows:
        if not row.is_baseline and row.baseline in known:
            yield (LATENCY, row.strategy, row.baseline)


def _along_front(group: RunGroup) -> Iterator[_Key]:
    fronts = (pareto_front(points(part)) for part in group.parts)
    for cheaper, faster in (step for front in fronts for step in pairwise(front)):
        if cheaper.cost_s > 0:  # nothing is a multiple of no cost at all
            yield (group.cost_metric, faster.strategy, cheaper.strategy)
        yield (LATENCY, faster.strategy, cheaper.strategy)


def _off_the_front(group: RunGroup) -> Iterator[_Key]:
    for part in group.parts:
        for worse, better in dominated(points(part)).items():
            if part.row(better).values[group.cost_metric]:
                yield (group.cost_metric, worse, better)
            yield (LATENCY, worse, better)


def _with_base(group: RunGroup) -> Iterator[_Key]:
    """Each strategy in a variant, with itself in the scenario as it is."""
    base = {row.strategy: row for row in group.rows if row.variant is None}
    for row in group.rows:
        other = base.get(row.base_strategy) if row.variant is not None else None
        if other is None:
            continue
        if other.values[group.cost_metric]:
            yield (group.cost_metric, row.strategy, other.strategy)
        yield (LATENCY, row.strategy, other.strategy)
