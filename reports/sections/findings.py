"""The answer in words, computed: the cheapest strategy, the fastest, `never`, and the Pareto front."""

import math

from bench.results.rows import BASELINE
from bench.text import human_duration, human_ratio
from reports.compare import Comparison
from reports.load import RunGroup
from reports.pareto_front import Point, candidates, dominated, pareto_front, points
from reports.phrases import (
    COST,
    LATENCY,
    LATENCY_WITHOUT_COMPACTION,
    Sentence,
    Verbatim,
    claim,
    evidence,
    format_range,
    joined,
    listed,
    say,
)
from reports.text import format_value
from reports.trend import Trend

QUERY = "query_mean_s"
_CAUSES = {
    "rises with the table": ", as the table grows",
    "rises": ", which the files of the table do not explain",
}


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
        f"{evidence(cost)}, {claim(latency, LATENCY)}{evidence(latency)}.",
    )


def _has_no_interval(comparison: Comparison) -> bool:
    """Whether there are too few runs for any claim."""
    return comparison.verdict == "undecided" and comparison.low is None


def _compare_cost(group: RunGroup, a: Point, b: Point) -> Comparison:
    return group.compare(group.cost_metric, a.strategy, b.strategy)


def _compare_latency(group: RunGroup, strategy: str, other: str) -> Comparison:
    """The mean latency of the primary query under one strategy compared with another."""
    return group.compare(QUERY, strategy, other)


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
            "strategy that compacts, ", name, f"{evidence(latency)}: {never} compared with {query}.",
        )
    ]  # fmt: skip


def _trends(group: RunGroup) -> list[Sentence]:
    """Whose latency still increases against the control query, and whether the table explains it."""
    by_verdict: dict[str, list[tuple[str, Trend]]] = {}
    for label, found in group.latency_trends.items():
        by_verdict.setdefault(found.verdict, []).append((label, found))
    lines = []
    for verdict, cause in _CAUSES.items():
        rising = [say(Verbatim(label), _growth(found)) for label, found in by_verdict.get(verdict, [])]
        if rising:
            lines.append(say("Queries get slower during the run with ") + joined(rising) + say(f"{cause}."))
    flat = [label for label, _ in by_verdict.get("flat or undecided", [])]
    if flat:
        lines.append(say("No rise in latency can be detected with ") + listed(flat) + say("."))
    untold = by_verdict.get("cannot tell", [])
    if untold:
        reason = untold[0][1].reason
        labels = listed([label for label, _ in untold])
        lines.append(say("Whether latency rises cannot be told of ") + labels + say(f": {reason}."))
    return lines


def _growth(found: Trend) -> str:
    if found.ratio is None or found.low is None or found.high is None:
        return ""
    return f" ({human_ratio(found.ratio)} over the run, 95 % CI {format_range(found.low, found.high)})"


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
        f" uses none, {claim(latency, LATENCY)}{evidence(latency)}.",
    )
