"""Fits the cost model of a format: its operations, how well they fit, and what to."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bench.calibration.errors import left_out_errors, operation_errors
from bench.calibration.fit import Fitted, fit_operations
from bench.calibration.measured import MeasuredStep
from bench.calibration.origin import cores_of, origin_of
from bench.calibration.stability import Spans, spans_without_a_stream
from bench.engines.simulated.costs import ModelError
from bench.engines.simulated.steps import Operation
from bench.results.records import Manifest


@dataclass(frozen=True, slots=True)
class Calibration:
    """Fitted operations, how well they fit, and what to.

    `cores` is the most that a run had, `fixed_work_cpu_s` the speed of the machine that the operations hold
    for, None if no run measured that.
    """

    fitted: Mapping[Operation, Fitted]
    cores: int
    fixed_work_cpu_s: float | None
    origin: str = ""
    errors: Mapping[str, ModelError] = field(default_factory=dict)  # by figure
    operation_errors: Mapping[str, ModelError] = field(default_factory=dict)  # by operation
    spans: Spans = field(default_factory=dict)


def calibrated(
    steps: Sequence[MeasuredStep],
    table_format: str,
    fixed_work_cpu_s: float | None,
    beside: Sequence[MeasuredStep] = (),
) -> Calibration:
    """All that simulations need. The steps `beside` are fitted to, but their own errors do not count."""
    every = [*steps, *beside]
    return Calibration(
        fit_operations(every, table_format), cores_of(every), fixed_work_cpu_s,
        errors=left_out_errors(steps, table_format, beside),
    )  # fmt: skip


def documented(
    steps: Sequence[MeasuredStep],
    table_format: str,
    fixed_work_cpu_s: float | None,
    manifests: Iterable[Manifest],
    beside: Sequence[MeasuredStep] = (),
) -> Calibration:
    """`calibrated`, with what readers of the file learn of the runs, the operations and each coefficient."""
    made, every = calibrated(steps, table_format, fixed_work_cpu_s, beside), [*steps, *beside]
    return replace(
        made,
        origin=origin_of(every, manifests),
        operation_errors=operation_errors(steps, table_format, beside),
        spans=spans_without_a_stream(made.fitted, every, table_format),
    )
