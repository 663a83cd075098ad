"""What the timings leave undecided, and the number of repetitions that would decide it."""

from collections.abc import Iterator
from itertools import pairwise

from bench.results.metrics import LATENCY
from bench.text import human_duration
from reports.data.group import RunGroup
from reports.phrases import Sentence, Verbatim, joined, listed, say, sentence
from reports.verdicts import repetitions
from reports.verdicts.compare import Comparison
from reports.verdicts.page_verdicts import PageVerdicts
from reports.verdicts.pareto_front import pareto_front, points
from reports.verdicts.unmodelled import unmodelled


def undecided(group: RunGroup, verdicts: PageVerdicts) -> tuple[Sentence, ...]:
    """Neighbours on the front that noise cannot separate, and strategies that cannot be compared at all."""
    if group.is_simulated:
        return tuple(_not_comparable(group))
    pairs = [pair for part in group.parts for pair in _undecided_pairs(part, verdicts)]
    if not pairs:
        return ()
    runs = max(len(row.repetitions) for row in group.rows)
    comparisons = [comparison for _, own in pairs for comparison in own]
    return (
        sentence(
            "Undecided after {times}: {pairs}. {remedy}",
            times="one repetition" if runs == 1 else f"{runs} repetitions",
            pairs=joined([words for words, _ in pairs]),
            remedy=_remedy(group, comparisons, runs, verdicts.number),
        ),
    )


def _not_comparable(group: RunGroup) -> Iterator[Sentence]:
    by_reason: dict[str, list[str]] = {}
    for label in group.strategies:
        why = unmodelled(group, label, group.cost_metric, LATENCY)
        if why is not None:
            by_reason.setdefault(why, []).append(label)
    for why, labels in by_reason.items():
        yield sentence("{strategies}: not comparable: {why}.", strategies=listed(labels), why=why)


def _undecided_pairs(group: RunGroup, verdicts: PageVerdicts) -> Iterator[tuple[Sentence, list[Comparison]]]:
    """Neighbours on the front with undecided comparisons: the pair in words, and these comparisons."""
    for cheaper, faster in pairwise(pareto_front(points(group))):
        metrics = {"cost": group.cost_metric, "latency": LATENCY}
        by_word = {word: verdicts.of(m, faster.strategy, cheaper.strategy) for word, m in metrics.items()}
        unclear = {word: c for word, c in by_word.items() if c is not None and c.verdict == "undecided"}
        if unclear:
            words = sentence(
                "how {strategy} compares with {other} in {metrics}",
                strategy=Verbatim(cheaper.strategy), other=Verbatim(faster.strategy),
                metrics=" and ".join(unclear),
            )  # fmt: skip
            yield words, list(unclear.values())


def _remedy(group: RunGroup, comparisons: list[Comparison], runs: int, family: int) -> Sentence:
    """How many repetitions would decide such differences, and how long the additional ones take."""
    wanted = [repetitions.needed(comparison, family) for comparison in comparisons]
    possible = [number for number in wanted if number is not None]
    if not possible:
        return say(
            f"Even {repetitions.MOST} repetitions would probably not decide it: the difference is too "
            "small for the noise of these runs."
        )
    most = max(max(possible), runs + 1)
    minutes = repetitions.minutes(group, most - runs)
    time = "" if not minutes else f", about {human_duration(60 * max(round(minutes), 1))} more"
    is_known = all(comparison.low is not None for comparison in comparisons)
    return sentence(
        "In four of five cases {most} repetitions decide it{time} ({option}){rest}."
        if is_known
        else "At least {most} repetitions are needed{time} ({option}){rest}.",
        most=str(most), time=time, option=Verbatim(f"--repetitions {most}"),
        rest="; the closest pairs stay undecided" if len(possible) < len(wanted) else "",
    )  # fmt: skip
