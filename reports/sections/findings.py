"""The answer in words, computed: the cheapest, the fastest, `never`, and the steps between them."""

import math

from bench.results.rows import BASELINE
from reports.compare import Comparison, Trend, trend
from reports.front import Point, candidates, dominated, front, points
from reports.load import Section, band
from reports.phrases import COST, QUERIES, Sentence, Verbatim, claim, joined, listed, say
from reports.text import format_duration, format_value

QUERY = "query_mean_s"


def answers(section: Section) -> tuple[Sentence, ...]:
    """The sentences a reader in a hurry needs, the most important first."""
    found = points(section)
    compacting = [point for point in candidates(found) if point.strategy != BASELINE]
    idle = [point.strategy for point in found if point not in candidates(found)]
    if not found:
        return (say("No run gave both a cost and a latency, so nothing can be said."),)
    lines = [*_extremes(section, compacting), *_idle(idle), *_without_compaction(section, compacting)]
    if section.is_simulated:  # a model's latency has no noise that an interval could be of
        return tuple(lines)
    return (*lines, *_rising(section))


def along_the_front(section: Section) -> tuple[Sentence, ...]:
    """A line for each strategy nothing beats, from the cheapest to the fastest, then for the others."""
    found = points(section)
    optimal = front(found)
    lines = [_step(section, p, optimal[i - 1] if i else None) for i, p in enumerate(optimal)]
    by_name = {point.strategy: point for point in found}
    beaten = dominated(found).items()
    return (*lines, *(_beaten(section, by_name[worse], by_name[better]) for worse, better in beaten))


def cost_words(section: Section) -> str:
    """What the cost of the section is called."""
    return "compaction CPU" if section.cost_metric == "compaction_cpu_s" else "compaction time"


def query_against(section: Section, strategy: str, other: str) -> Comparison:
    """The mean latency of the primary probe of one strategy against another's."""
    return section.compare(QUERY, strategy, other)


def _extremes(section: Section, compacting: list[Point]) -> list[Sentence]:
    if not compacting:
        return [say("No strategy compacted: there is no compaction to judge.")]
    cheapest = min(compacting, key=lambda p: (p.cost_s, p.query_s))
    fastest = min(compacting, key=lambda p: (p.query_s, p.cost_s))
    dearest = max(compacting, key=lambda p: p.cost_s)
    if len(compacting) == 1:
        only = say(Verbatim(cheapest.strategy), " is the only strategy that compacts: ")
        return [only + _figures(section, cheapest) + say(".")]
    if cheapest is fastest:
        both = say(
            "On the means, ", Verbatim(cheapest.strategy), " is the cheapest and also the fastest. It "
        )
        return [both + _against(section, cheapest, "the dearest, ", dearest)]
    start = say("The cheapest strategy that compacts, ", Verbatim(cheapest.strategy), ", ")
    return [start + _against(section, cheapest, "the fastest, ", fastest)]


def _idle(labels: list[str]) -> list[Sentence]:
    """Strategies with nothing to tell them from `never`."""
    if not labels:
        return []
    said = " did not compact during the stream and can differ from a table nobody compacts by noise alone."
    return [listed(labels) + say(said)]


def _against(section: Section, a: Point, title: str, b: Point) -> Sentence:
    """a's cost and latency against b's, without a's name."""
    costs = _cost_against(section, a, b)
    if costs.n == 0:
        return say(f"cannot be compared with {title}", Verbatim(b.strategy), f": {costs.reason}.")
    cost, cost_proof = claim(costs, COST, cost=cost_words(section))
    query, query_proof = claim(query_against(section, a.strategy, b.strategy), QUERIES)
    return say(f"{cost} than {title}", Verbatim(b.strategy), f"{cost_proof}; its {query}{query_proof}.")


def _cost_against(section: Section, a: Point, b: Point) -> Comparison:
    return section.compare(section.cost_metric, a.strategy, b.strategy)


def _without_compaction(section: Section, compacting: list[Point]) -> list[Sentence]:
    baseline = section.baseline
    if baseline is None:
        return [say("No run of ", Verbatim(BASELINE), " is there to tell what compaction buys.")]
    if not compacting:
        return []
    fastest = min(compacting, key=lambda p: (p.query_s, p.cost_s))
    query, query_proof = claim(query_against(section, BASELINE, fastest.strategy), QUERIES)
    never_s = format_duration(baseline.values[QUERY] or math.nan)
    means = f"{never_s} against {format_duration(fastest.query_s)} on average"
    start = say(
        "Without compaction (", Verbatim(BASELINE), f") {query} than with the fastest that compacts, "
    )
    return [start + say(Verbatim(fastest.strategy), f"{query_proof}: {means}.")]


def _rising(section: Section) -> list[Sentence]:
    """Whose latency still climbs, by the slope of the median over the repetitions."""
    rising: list[Sentence] = []
    other: list[str] = []
    for label, found in band(section.latency, "wall_s").items():
        slope = trend((found["at_ms"] / 1000).tolist(), found["median"].tolist())
        if slope.verdict == "rises":
            rising.append(say(Verbatim(label), _rate(slope)))
        else:
            other.append(label)
    if not rising:
        return [say("No strategy's latency rises beyond doubt during the run.")] if other else []
    start = say("During the run latency rises with ") + joined(rising)
    rest = say("; no rise can be told with ") + listed(other) if other else say()
    return [start + rest + say(".")]


def _rate(slope: Trend) -> str:
    rate, low, high = (
        format_duration(v or 0) for v in (slope.slope_per_h, slope.low_per_h, slope.high_per_h)
    )
    return f" ({rate} an hour of scenario time, 95 % interval {low} to {high})"


def _step(section: Section, point: Point, before: Point | None) -> Sentence:
    """A strategy of the front, and what the step to it from its cheaper neighbour costs and buys."""
    line = say(Verbatim(point.strategy), ": ") + _figures(section, point) + say(".")
    if before is None or before.cost_s <= 0:
        return line
    return line + say(" It ") + _against(section, point, "", before)


def _figures(section: Section, point: Point) -> Sentence:
    """Cost, latency, and payback where queries are faster than without compaction beyond doubt."""
    cost = f"{format_duration(point.cost_s)} of {cost_words(section)}" if point.cost_s else "no compaction"
    figures = f"{cost}, {format_duration(point.query_s)} mean query"
    passes = section.row(point.strategy).values["payback_passes"]
    if passes is None:
        return say(figures)
    if query_against(section, point.strategy, BASELINE).verdict != "less":
        return say(f"{figures}, payback undecided")
    return say(f"{figures}, paid back after {format_value('passes', round(passes))} queries")


def _beaten(section: Section, worse: Point, better: Point) -> Sentence:
    """Why a strategy is not on the front, and whether the runs prove it."""
    name = say(Verbatim(worse.strategy), " lies behind ", Verbatim(better.strategy), ": it ")
    if better.cost_s > 0:
        cost, cost_proof = claim(_cost_against(section, worse, better), COST, cost=cost_words(section))
    else:
        cost, cost_proof = (
            f"costs {format_duration(worse.cost_s)} of {cost_words(section)} where that costs none",
            "",
        )
    query, query_proof = claim(query_against(section, worse.strategy, better.strategy), QUERIES)
    return name + say(f"{cost}{cost_proof}; its {query}{query_proof}.")
