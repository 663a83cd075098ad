"""What the timings leave undecided, and the number of repetitions that would decide it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from bench.results.metrics import LATENCY
from bench.text import human_duration
from reports.data.group import RunGroup
from reports.phrases import Sentence, Verbatim, joined, say, sentence
from reports.verdicts import repetitions
from reports.verdicts.compare import Comparison
from reports.verdicts.contrasts import confirmatory_metrics
from reports.verdicts.page_verdicts import PageVerdicts
from reports.verdicts.pareto_front import pareto_front, points
from reports.verdicts.unmodelled import unmodelled


@dataclass(frozen=True, slots=True)
class _Open:
    """Two strategies, and the undecided comparisons between them by metric."""

    strategy: str
    other: str
    comparisons: Mapping[str, Comparison]


def undecided(group: RunGroup, verdicts: PageVerdicts) -> tuple[Sentence, ...]:
    """Neighbours on the front that cannot be told apart, and strategies that cannot be compared at all."""
    if group.is_simulated:
        return tuple(_not_comparable(group))
    pairs = [pair for part in group.parts for pair in _open(part, verdicts)]
    if not pairs:
        return ()
    runs = max(len(row.repetitions) for row in group.rows)
    return (
        sentence(
            "Undecided after {times}: {pairs}. {remedy}",
            times="one repetition" if runs == 1 else f"{runs} repetitions",
            pairs=joined([_words(group, pair) for pair in pairs]),
            remedy=_remedy(group, pairs, runs, verdicts.number),
        ),
    )


def _not_comparable(group: RunGroup) -> Iterator[Sentence]:
    by_reason: dict[str, list[Sentence]] = {}
    for label in group.strategies:
        why = unmodelled(group, label)
        if why is not None:
            by_reason.setdefault(why, []).append(say(Verbatim(label)))
    for why, labels in by_reason.items():
        yield joined(labels) + say(f": not comparable: {why}.")


def _open(group: RunGroup, verdicts: PageVerdicts) -> Iterator[_Open]:
    metrics = confirmatory_metrics(group)
    for cheaper, faster in pairwise(pareto_front(points(group))):
        of_both = ((metric, verdicts.of(metric, faster.strategy, cheaper.strategy)) for metric in metrics)
        unclear = {metric: c for metric, c in of_both if c is not None and c.verdict == "undecided"}
        if unclear:
            yield _Open(cheaper.strategy, faster.strategy, unclear)


def _words(group: RunGroup, pair: _Open) -> Sentence:
    words = {group.cost_metric: "cost", LATENCY: "latency"}
    return sentence(
        "how {strategy} compares with {other} in {metrics}",
        strategy=Verbatim(pair.strategy), other=Verbatim(pair.other),
        metrics=" and ".join(words[metric] for metric in pair.comparisons),
    )  # fmt: skip


def _remedy(group: RunGroup, pairs: list[_Open], runs: int, family: int) -> Sentence:
    """How many repetitions would decide such differences, and how long the additional ones take."""
    comparisons = [comparison for pair in pairs for comparison in pair.comparisons.values()]
    wanted = [repetitions.needed(comparison, family) for comparison in comparisons]
    possible = [number for number in wanted if number is not None]
    if not possible:
        text = "would probably not decide it: the difference is too small for the noise of these runs."
        return say(f"Even {repetitions.MOST} repetitions {text}")
    most = max(max(possible), runs + 1)
    minutes = repetitions.minutes(group, most - runs)
    time = "" if not minutes else f", about {human_duration(60 * max(round(minutes), 1))} more"
    is_known = all(comparison.low is not None for comparison in comparisons)
    return sentence(
        "In four of five cases {most} repetitions decide it{time} ({option}){rest}."
        if is_known
        else "At least {most} repetitions are needed{time} ({option}){rest}.",
        most=str(most), time=time, option=Verbatim(f"--repetitions {most}"),
        rest="; the closest of them stay open" if len(possible) < len(wanted) else "",
    )  # fmt: skip
