"""How far coefficients move when one of the streams that they were fitted to is left out."""

from collections.abc import Mapping, Sequence
from typing import TypeGuard

from bench.calibration.fit import NO_COST, Fitted, fit_operations
from bench.calibration.measured import MeasuredStep
from bench.engines.simulated.steps import PLANNING_OF, Operation

# By operation, part of its cost and coefficient: the least and the greatest value.
Spans = Mapping[tuple[Operation, str, str], tuple[float, float]]


def spans_without_a_stream(
    fitted: Mapping[Operation, Fitted], steps: Sequence[MeasuredStep], table_format: str
) -> Spans:
    """The span of each fitted coefficient over the fits that lack one of the streams with its operation.

    There is none for a coefficient that one of these fits does not identify: then a single stream tells it.
    """
    streams = dict.fromkeys(step.stream for step in steps)
    fits = {
        left_out: fit_operations([step for step in steps if step.stream != left_out], table_format)
        for left_out in streams
    }
    telling = {(step.step.operation, step.stream) for step in steps if not step.is_initial}
    planned = {planning: query for query, planning in PLANNING_OF.items()}
    spans = {}
    for operation, one in fitted.items():
        of = planned.get(operation, operation)
        own = [fits[stream].get(operation) for stream in streams if (of, stream) in telling]
        for part, coefficients in one.cost.parts.items():
            for name in coefficients:
                values = [fit.cost.parts[part].get(name, 0.0) for fit in own if _identifies(fit, name)]
                if len(values) == len(own):
                    spans[operation, part, name] = (min(values), max(values))
    return spans


def _identifies(fitted: Fitted | None, name: str) -> TypeGuard[Fitted]:
    return fitted is not None and fitted.dropped.get(name, NO_COST) == NO_COST
