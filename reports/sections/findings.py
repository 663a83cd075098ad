"""The answer in words, computed: the cheapest strategy, the fastest, `never`, and the Pareto front."""

import math

from bench.results.rows import BASELINE
from bench.text import human_duration
from reports.compare import Comparison, Trend, trend
from reports.load import RunGroup, band
from reports.pareto_front import Point, candidates, dominated, pareto_front, points
from reports.phrases import (
    COST,
    LATENCY,
    LATENCY_WITHOUT_COMPACTION,
    Sentence,
    Verbatim,
    claim,
    evidence,
    joined,
    listed,
    say,
)
from reports.text import format_value

QUERY = "query_mean_s"


def answers(group: RunGroup) -> tuple[Sentence, ...]:
    """The sentences a reader in a hurry needs, the most important first."""
    all_points = points(group)
    if not all_points:
        return (say("No run has both a compaction cost and a query latency: there is nothing to compare."),)
    compacting = [point for point in candidates(all_points) if point.strategy != BASELINE]
    idle = [point.strategy for point in all_points if point not in candidates(all_points)]
    lines = [*_extremes(group, compacting), *_idle(idle), *_without_compaction(group, compacting)]
    if group.is_simulated:  # a modelled latency has no noise to build an interval from
        return tuple(lines)
    return (*lines, *_trends(group))


def cheapest_to_fastest(group: RunGroup) -> tuple[Sentence, ...]:
    """A line for each strategy on the Pareto front, from the cheapest to the fastest, then the dominated."""
    all_points = points(group)
    optimal = pareto_front(all_points)
    lines = [_on_the_front(group, p, optimal[i - 1] if i else None) for i, p in enumerate(optimal)]
    by_label = {point.strategy: point for point in all_points}
    pairs = dominated(all_points).items()
    return (*lines, *(_dominated(group, by_label[worse], by_label[better]) for worse, better in pairs))


def cost_words(group: RunGroup) -> str:
    """What the cost of the group is called."""
    return "compaction CPU" if group.cost_metric == "compaction_cpu_s" else "compaction time"


def _extremes(group: RunGroup, compacting: list[Point]) -> list[Sentence]:
    if not compacting:
        return [say("No strategy compacted during the stream.")]
    cheapest = min(compacting, key=lambda p: (p.cost_s, p.query_s))
    fastest = min(compacting, key=lambda p: (p.query_s, p.cost_s))
    most_expensive = max(compacting, key=lambda p: p.cost_s)
    name = Verbatim(cheapest.strategy)
    if len(compacting) == 1:
        return [say(name, " is the only strategy that compacts: ") + _figures(group, cheapest) + say(".")]
    if cheapest is fastest:
        start = say("On the means, ", name, " is both the cheapest and the fastest strategy. It ")
        return [start + _compared(group, cheapest, "the most expensive, ", most_expensive)]
    start = say("The cheapest strategy that compacts, ", name, ", ")
    return [start + _compared(group, cheapest, "the fastest, ", fastest)]


def _idle(labels: list[str]) -> list[Sentence]:
    """Strategies that differ from `never` by noise only."""
    if not labels:
        return []
    text = " did not compact during the stream; any difference from a table without compaction is noise."
    return [listed(labels) + say(text)]


def _compared(group: RunGroup, a: Point, title: str, b: Point) -> Sentence:
    """a's cost and latency compared with b's, without a's name."""
    cost, latency = _compare_cost(group, a, b), _compare_latency(group, a.strategy, b.strategy)
    if _has_no_interval(cost):
        return say(f"cannot be compared with {title}", Verbatim(b.strategy), f": {cost.reason}.")
    return say(
        f"{claim(cost, COST, cost=cost_words(group))} {title}",
        Verbatim(b.strategy),
        f"{_evidence(group, cost)}, {claim(latency, LATENCY)}{_evidence(group, latency)}.",
    )


def _has_no_interval(comparison: Comparison) -> bool:
    """Whether there are too few runs for any claim."""
    return comparison.verdict == "undecided" and comparison.low is None


def _compare_cost(group: RunGroup, a: Point, b: Point) -> Comparison:
    return group.compare(group.cost_metric, a.strategy, b.strategy)


def _compare_latency(group: RunGroup, strategy: str, other: str) -> Comparison:
    """The mean latency of the primary query under one strategy compared with another."""
    return group.compare(QUERY, strategy, other)


def _evidence(group: RunGroup, comparison: Comparison) -> str:
    return evidence(comparison, is_modelled=group.is_simulated)


def _without_compaction(group: RunGroup, compacting: list[Point]) -> list[Sentence]:
    baseline = group.baseline
    if baseline is None:
        text = ", the benefit of compaction cannot be quantified."
        return [say("Without a usable run of ", Verbatim(BASELINE), text)]
    if not compacting:
        return []
    fastest = min(compacting, key=lambda p: (p.query_s, p.cost_s))
    latency = _compare_latency(group, BASELINE, fastest.strategy)
    never, query = (human_duration(s) for s in (baseline.values[QUERY] or math.nan, fastest.query_s))
    name = Verbatim(fastest.strategy)
    if _has_no_interval(latency):
        return [
            say(
                "Without compaction (", Verbatim(BASELINE), f"), the mean query latency is {never}, compared "
                f"with {query} with the fastest strategy that compacts, ", name,
                f" (undecided: {latency.reason}).",
            )
        ]  # fmt: skip
    ratio = claim(latency, LATENCY_WITHOUT_COMPACTION)
    return [
        say(
            "Without compaction (", Verbatim(BASELINE), f"), the mean query latency {ratio} the fastest "
            "strategy that compacts, ", name, f"{_evidence(group, latency)}: {never} compared with {query}.",
        )
    ]  # fmt: skip


def _trends(group: RunGroup) -> list[Sentence]:
    """Whose latency still increases, by the slope of the median over the repetitions."""
    increasing: list[Sentence] = []
    others: list[str] = []
    for label, latency in band(group.latency, "wall_s").items():
        slope = trend((latency["at_ms"] / 1000).tolist(), latency["median"].tolist())
        if slope.verdict == "rises":
            increasing.append(say(Verbatim(label), _rate(slope)))
        else:
            others.append(label)
    if not increasing:
        return [say("No strategy shows a significant latency increase during the run.")] if others else []
    start = say("The latency increases significantly during the run with ") + joined(increasing)
    rest = say("; no significant increase with ") + listed(others) if others else say()
    return [start + rest + say(".")]


def _rate(slope: Trend) -> str:
    rate, low, high = (human_duration(v or 0) for v in (slope.slope_per_h, slope.low_per_h, slope.high_per_h))
    return f" ({rate} per hour of scenario time, 95 % CI {low} to {high})"


def _on_the_front(group: RunGroup, point: Point, cheaper: Point | None) -> Sentence:
    """A strategy of the front, compared with its cheaper neighbour."""
    line = say(Verbatim(point.strategy), ": ") + _figures(group, point) + say(".")
    if cheaper is None or cheaper.cost_s <= 0:
        return line
    return line + say(" It ") + _compared(group, point, "", cheaper)


def _figures(group: RunGroup, point: Point) -> Sentence:
    """Cost and latency, and the break-even where queries are significantly faster than without compaction."""
    cost = f"{human_duration(point.cost_s)} of {cost_words(group)}" if point.cost_s else "no compaction"
    figures = f"{cost}, mean query latency {human_duration(point.query_s)}"
    rate = group.row(point.strategy).values["break_even_queries_per_h"]
    if rate is None:
        return say(figures)
    if _compare_latency(group, point.strategy, BASELINE).verdict != "less":
        return say(f"{figures}, break-even undecided")
    return say(f"{figures}, pays for itself from {format_value('queries/h', rate)} queries per hour on")


def _dominated(group: RunGroup, worse: Point, better: Point) -> Sentence:
    """Why a strategy is not on the front, and whether the runs prove it."""
    start = say(Verbatim(worse.strategy), " is dominated by ", Verbatim(better.strategy), ": it ")
    if better.cost_s > 0:
        return start + _compared(group, worse, "", better)
    latency = _compare_latency(group, worse.strategy, better.strategy)
    return start + say(
        f"uses {human_duration(worse.cost_s)} of {cost_words(group)}, ",
        Verbatim(better.strategy),
        f" uses none, {claim(latency, LATENCY)}{_evidence(group, latency)}.",
    )
