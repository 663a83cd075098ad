"""Along the Pareto front, from the cheapest strategy to the fastest: what each step costs and gains."""

from itertools import pairwise

from bench.results.metrics import LATENCY
from bench.text import human_percent
from reports.data.group import RunGroup
from reports.page.tables import Table, Versus, versus_table
from reports.phrases import Sentence, Verbatim, joined, say, sentence
from reports.verdicts.page_verdicts import PageVerdicts
from reports.verdicts.pareto_front import alike, differ_in_staleness, dominated, pareto_front, points
from reports.verdicts.repeating import MODELLED_TOLERANCE

_NOTE = (
    "Each strategy compared with the one above it: ratio and 95 % confidence interval over the repetitions. "
    "An interval that contains 1 is inconclusive, as is one marked as unproven. No interval: too "
    "few repetitions."
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


def off_the_front(group: RunGroup) -> Sentence | None:
    """The dominated strategies, each with the one that dominates it."""
    by_better: dict[str, list[Sentence]] = {}
    equal = alike(group)
    for worse, better in dominated(points(group)).items():
        if worse in equal:
            continue  # a model cannot tell them apart
        by_better.setdefault(better, []).append(say(Verbatim(worse)))
    parts = [joined(labels) + say(" (by ", Verbatim(better), ")") for better, labels in by_better.items()]
    if not parts:
        return None
    return sentence(
        "Dominated on the means, by a strategy that costs no more and is no slower{within}: {strategies}.",
        within=f" within {human_percent(MODELLED_TOLERANCE)}" if group.is_simulated else "",
        strategies=joined(parts),
    )
