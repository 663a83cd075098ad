"""The strategy to run if it is not known which of several scenarios will come true."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.results.metrics import METRIC_BY_NAME
from reports.data.group import RunGroup
from reports.verdicts.recommended import Recommendation


@dataclass(frozen=True, slots=True)
class Robust:
    """Keeps the limits in all scenarios; its objective is at most `factor` times worse than the best of each.

    The factor is infinite where the best has an objective of 0 and this strategy has not.
    """

    strategy: str
    factor: float


def not_in_all(groups: Sequence[RunGroup]) -> list[str]:
    """The strategies that some of the scenarios do not have, so that they cannot be the answer for all."""
    labels: list[set[str]] = [
        {label for row in group.choices for label in (row.strategy, *group.alike.get(row.strategy, ()))}
        for group in groups
    ]
    return sorted(set[str]().union(*labels) - labels[0].intersection(*labels))


def robust(answers: Sequence[tuple[RunGroup, Recommendation]]) -> Robust | None:
    """The one with the least factor (minimax regret); None if none keeps the limits in all scenarios."""
    figures = [_figures(group, answer) for group, answer in answers]
    common = [label for label in figures[0] if all(label in own for own in figures)]
    worst = {label: max(_factor(own, label) for own in figures) for label in common}
    best = min(worst, key=worst.__getitem__, default=None)
    return None if best is None else Robust(best, worst[best])


def _figures(group: RunGroup, answer: Recommendation) -> Mapping[str, float]:
    """The objective of each strategy that keeps the limits, 1 over it if more is better."""
    is_more_better = METRIC_BY_NAME[answer.objective].better == "higher"
    return {
        label: (1 / value if value else math.inf) if is_more_better else value
        for row in answer.keeping
        if (value := row.values[answer.objective]) is not None
        for label in (row.strategy, *group.alike.get(row.strategy, ()))
    }


def _factor(figures: Mapping[str, float], label: str) -> float:
    least, own = min(figures.values()), figures[label]
    if own == least:
        return 1.0
    return own / least if least else math.inf
