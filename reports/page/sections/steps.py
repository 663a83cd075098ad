"""Along the Pareto front, from the cheapest strategy to the fastest: what each step costs and gains."""

from collections.abc import Iterator, Mapping
from itertools import pairwise

from bench.results.metrics import LATENCY, MIN_RUNS
from bench.text import human_percent
from reports.data.group import RunGroup
from reports.page.tables import Table, Versus, versus_table
from reports.phrases import Sentence, Verbatim, joined, say, sentence
from reports.verdicts.apart import not_told_apart
from reports.verdicts.page_verdicts import PageVerdicts
from reports.verdicts.pareto_front import differ_in_staleness, dominated, pareto_front, points
from reports.verdicts.repeating import MODELLED_TOLERANCE

_NOTE = (
    "Each strategy compared with the one above it: ratio and 95 % confidence interval, a moderated "
    "t-interval over the repetitions. An interval that contains 1 is inconclusive, as is one marked as "
    "unproven. No interval: too few repetitions."
)
_CAPTION = "The Pareto front, from the cheapest strategy to the fastest"
_MODELLED = "Each strategy compared with the one above it; all ratios are modelled."


def steps(group: RunGroup, verdicts: PageVerdicts) -> Table | None:
    """A row for each strategy on the front; None if the front has fewer than two."""
    front = pareto_front(points(group))
    if len(front) < 2 or differ_in_staleness(front):
        return None
    lines = [Versus(front[0].strategy, front[0].cost_s, front[0].query_s, None, None)]
    for cheaper, point in pairwise(front):
        cost, latency = (
            verdicts.of(metric, point.strategy, cheaper.strategy) for metric in (group.cost_metric, LATENCY)
        )
        lines.append(Versus(point.strategy, point.cost_s, point.query_s, cost, latency))
    note = _MODELLED if group.is_simulated else _NOTE
    return versus_table(group, lines, "cheaper", note, _CAPTION)


def off_the_front(group: RunGroup, verdicts: PageVerdicts) -> Iterator[Sentence]:
    """The dominated strategies, each with the one that dominates it, and those for which that is open."""
    alike, unproven = not_told_apart(group), verdicts.unproven(group)
    open_ones = alike.keys() | unproven.keys()
    worse = {label: better for label, better in dominated(points(group)).items() if label not in open_ones}
    is_proven = all(row.runs >= MIN_RUNS for row in group.rows if row.runs)
    how = "Dominated on the means, by a strategy that costs no more and is no slower"
    if group.is_simulated:
        how += f" within {human_percent(MODELLED_TOLERANCE)}"
    elif is_proven:
        how = "Dominated, by a strategy that is proven to be cheaper or faster and not proven to be worse"
    if worse:
        yield sentence("{how}: {strategies}.", how=how, strategies=_by_better(worse, "by"))
    if unproven:
        text = "Dominated on the means, unproven after correction for all comparisons: {strategies}."
        yield sentence(text, strategies=_by_better(unproven, "by"))
    if alike and not group.is_simulated:  # the answer names what equals a choice in a model
        text = "Not told apart from a strategy that is better on the means: {strategies}."
        yield sentence(text, strategies=_by_better(alike, "from"))


def _by_better(better_of: Mapping[str, str], preposition: str) -> Sentence:
    by_better: dict[str, list[Sentence]] = {}
    for worse, better in better_of.items():
        by_better.setdefault(better, []).append(say(Verbatim(worse)))
    return joined([
        joined(labels) + say(f" ({preposition} ", Verbatim(better), ")")
        for better, labels in by_better.items()
    ])  # fmt: skip
