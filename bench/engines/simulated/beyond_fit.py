"""Notes what a simulation priced without its having been measured."""

import math

from bench.engines.simulated.costs import OperationCost
from bench.engines.simulated.steps import PLANNING_OF, Operation, Step
from bench.results.values import BEYOND_MAX, BeyondFit

# Cheap, and often set by hand.
_UNNOTED = (Operation.NOOP, *PLANNING_OF.values())


class BeyondFitNotes:
    def __init__(self) -> None:
        self._unfitted: set[str] = set()
        self._factors: dict[str, float] = {}

    def note(self, cost: OperationCost, step: Step) -> None:
        if step.operation in _UNNOTED:
            return
        if not cost.steps:
            self._unfitted.add(step.operation.value)
        for name in cost.ranges:
            factor = _factor(cost, step, name)
            if factor > 1:
                key = f"{step.operation.value} {name}"
                self._factors[key] = max(factor, self._factors.get(key, 0))

    @property
    def found(self) -> BeyondFit:
        factors = sorted(self._factors.items())
        return BeyondFit(
            tuple(sorted(self._unfitted)),
            {key: round(factor, 2) for key, factor in factors if math.isfinite(factor)},
            tuple(key for key, factor in factors if math.isinf(factor)),
        )


def is_far_beyond(cost: OperationCost, step: Step) -> bool:
    """Whether there is so much of something in the step that its time gets no verdict."""
    return any(_factor(cost, step, name) > BEYOND_MAX for name in cost.ranges)


def _factor(cost: OperationCost, step: Step, name: str) -> float:
    """The step's amount over the greatest measured one; infinite if no measured step had any."""
    amount, (_, greatest) = step.amounts.get(name, 0), cost.ranges[name]
    if not amount:
        return 0.0
    return amount / greatest if greatest else math.inf
