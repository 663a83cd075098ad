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
    """A sentence for each outcome; nothing where latencies are modelled, which have no noise."""
    if group.is_simulated:
        return ()
    by_verdict: dict[str, list[tuple[str, Trend]]] = {}
    for label, found in latency_trends(group).items():
        by_verdict.setdefault(found.verdict, []).append((label, found))
    lines = []
    for verdict, cause in _CAUSES.items():
        rising = [say(Verbatim(label), _growth(found)) for label, found in by_verdict.get(verdict, [])]
        if rising:
            text = (
                "Queries get slower in the course of the run, relative to the control query, with "
                "{strategies}{cause}."
            )
            lines.append(sentence(text, strategies=joined(rising), cause=cause))
    flat = [say(Verbatim(label), _growth(found)) for label, found in by_verdict.get("flat or undecided", [])]
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


def _growth(found: Trend) -> str:
    """By what factor, with its interval; nothing where the points do not bound it."""
    if found.ratio is None or found.low is None or found.high is None:
        return ""
    return f" ({human_ratio(found.ratio)}, 95 % CI {format_range(found.low, found.high)})"
