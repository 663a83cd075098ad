"""Whose latency increases during the run, in one sentence."""

from bench.text import human_duration
from reports.compare import Trend, trend
from reports.load import RunGroup, band
from reports.phrases import Sentence, Verbatim, joined, listed, say


def trends(group: RunGroup) -> tuple[Sentence, ...]:
    """By the slope of the median over the repetitions; nothing where latencies are modelled."""
    increasing: list[Sentence] = []
    others: list[str] = []
    if group.is_simulated:  # a modelled latency has no noise to build an interval from
        return ()
    for label, latency in band(group.latency, "wall_s").items():
        slope = trend((latency["at_ms"] / 1000).tolist(), latency["median"].tolist())
        if slope.verdict == "rises":
            increasing.append(say(Verbatim(label), _rate(slope)))
        else:
            others.append(label)
    if not increasing:
        return (say("No strategy shows a significant latency increase during the run."),) if others else ()
    start = say("The latency increases significantly during the run with ") + joined(increasing)
    rest = say("; no significant increase with ") + listed(others) if others else say()
    return (start + rest + say("."),)


def _rate(slope: Trend) -> str:
    rate, low, high = (human_duration(v or 0) for v in (slope.slope_per_h, slope.low_per_h, slope.high_per_h))
    return f" ({rate} per hour of scenario time, 95 % CI {low} to {high})"
