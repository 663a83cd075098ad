"""From the cheapest strategy to the fastest: what each step along the Pareto front costs and gains."""

from bench.results.metrics import LATENCY
from reports.load import RunGroup
from reports.page_verdicts import PageVerdicts
from reports.pareto_front import Point, dominated, pareto_front, points
from reports.phrases import Sentence, Verbatim, joined, say
from reports.tables import Cell, Column, Table, compared, cost_title, durations, seconds

_NOTE = (
    "Each strategy compared with the one above it: ratio and 95 % confidence interval over the repetitions. "
    "An interval that contains 1 is inconclusive, as is one marked as unproven. Without an interval there "
    "are too few repetitions."
)
_MODELLED = "Each strategy compared with the one above it; all ratios are modelled."


def steps(group: RunGroup, verdicts: PageVerdicts) -> Table | None:
    """A row for each strategy on the front; None where there is no step."""
    front = pareto_front(points(group))
    if len(front) < 2:
        return None
    unit, latencies = durations([point.query_s for point in front])
    costs = seconds(point.cost_s for point in front)
    before: list[Point | None] = [None, *front[:-1]]
    rows = tuple(
        (
            Cell(Verbatim(point.strategy)),
            Cell(cost, value=point.cost_s),
            _step(verdicts, group.cost_metric, point, cheaper),
            Cell(latency, value=point.query_s),
            _step(verdicts, LATENCY, point, cheaper),
        )
        for point, cheaper, cost, latency in zip(front, before, costs, latencies, strict=True)
    )
    columns = (
        Column("Strategy", is_number=False), Column(cost_title(group), "s"),
        Column("Cost vs cheaper", "95 % CI"), Column("Query mean", unit),
        Column("Latency vs cheaper", "95 % CI"),
    )  # fmt: skip
    note = _MODELLED if group.is_simulated else _NOTE
    return Table(columns, rows, note, caption="The Pareto front, from the cheapest strategy to the fastest")


def off_the_front(group: RunGroup) -> Sentence | None:
    """Which strategies are no choice, and because of which others."""
    by_better: dict[str, list[Sentence]] = {}
    for worse, better in dominated(points(group)).items():
        by_better.setdefault(better, []).append(say(Verbatim(worse)))
    parts = [joined(labels) + say(" (by ", Verbatim(better), ")") for better, labels in by_better.items()]
    if not parts:
        return None
    return (
        say("Dominated on the means, by a strategy that costs no more and is no slower: ")
        + joined(parts)
        + say(".")
    )


def _step(verdicts: PageVerdicts, metric: str, point: Point, cheaper: Point | None) -> Cell:
    return compared(verdicts.of(metric, point.strategy, cheaper.strategy) if cheaper else None)
