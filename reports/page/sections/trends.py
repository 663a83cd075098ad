"""Whose latency rises during the run, against the control query."""

from bench.text import human_ratio
from reports.data.group import RunGroup
from reports.phrases import Sentence, Verbatim, format_range, joined, listed, say, sentence
from reports.verdicts.trend import Trend
from reports.verdicts.trend_series import latency_trends

_CAUSES = {
    "rises with the table": ", while the table grows",
    "rises": ", which the files of the table do not explain",
}


def trends(group: RunGroup) -> tuple[Sentence, ...]:
    """A sentence for each outcome; none for modelled latencies, which have no noise."""
    if group.is_simulated:
        return ()
    by_verdict: dict[str, list[tuple[str, Trend]]] = {}
    for label, trend in latency_trends(group).items():
        by_verdict.setdefault(trend.verdict, []).append((label, trend))
    lines = []
    for verdict, cause in _CAUSES.items():
        rising = [say(Verbatim(label), _growth(trend)) for label, trend in by_verdict.get(verdict, [])]
        if rising:
            text = (
                "Queries get slower in the course of the run, relative to the control query, with "
                "{strategies}{cause}."
            )
            lines.append(sentence(text, strategies=joined(rising), cause=cause))
    flat = [say(Verbatim(label), _growth(trend)) for label, trend in by_verdict.get("flat or undecided", [])]
    if flat:
        lines.append(sentence("No rise in latency is shown with {strategies}.", strategies=joined(flat)))
    untold = by_verdict.get("cannot tell", [])
    if untold:
        lines.append(
            sentence(
                "It is unclear whether latency rises with {strategies}: {reason}.",
                strategies=listed([label for label, _ in untold]), reason=untold[0][1].reason,
            )
        )  # fmt: skip
    return tuple(lines)


def _growth(trend: Trend) -> str:
    """The factor with its interval; empty if the points do not bound it."""
    if trend.ratio is None or trend.low is None or trend.high is None:
        return ""
    return f" ({human_ratio(trend.ratio)}, 95 % CI {format_range(trend.low, trend.high)})"
