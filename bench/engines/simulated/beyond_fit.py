"""Notes what a simulation priced without its having been measured."""

from bench.engines.simulated.costs import OperationCost
from bench.engines.simulated.steps import PLANNING_OF, Operation, Step
from bench.results.values import BEYOND_MAX, BeyondFit

# Of little weight, and set by hand where no measured run has one.
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
        for name, (_, greatest) in cost.ranges.items():
            amount = step.amounts.get(name, 0)
            if amount > greatest:
                key = f"{step.operation.value} {name}"
                self._factors[key] = max(_factor(amount, greatest), self._factors.get(key, 0))

    @property
    def told(self) -> BeyondFit:
        factors = {key: round(factor, 2) for key, factor in sorted(self._factors.items())}
        return BeyondFit(tuple(sorted(self._unfitted)), factors)


def _factor(amount: float, greatest: float) -> float:
    return amount / greatest if greatest else float(amount)


def is_far_beyond(cost: OperationCost, step: Step) -> bool:
    """Whether there is so much of something in the step that its time gets no verdict."""
    return any(
        _factor(step.amounts.get(name, 0), greatest) > BEYOND_MAX
        for name, (_, greatest) in cost.ranges.items()
    )
