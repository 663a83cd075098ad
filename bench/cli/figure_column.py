"""Columns of figures that share one unit, printed in the heading."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bench.text import MISSING, byte_unit, human_number
from reports.text import format_value


@dataclass(frozen=True, slots=True)
class Scale:
    """How the figures of a unit are printed: multiplied by `factor`, as numbers of `unit`.

    With `factor` None each figure is printed with its own unit, and `unit` is empty.
    """

    metric_unit: str
    unit: str = ""
    factor: float | None = None

    def cells(self, values: Iterable[float | None]) -> list[str]:
        """The figures as text; an unknown one is a dash."""
        return [self._cell(value) for value in values]

    def _cell(self, value: float | None) -> str:
        if value is None or math.isnan(value):
            return MISSING
        return (
            format_value(self.metric_unit, value)
            if self.factor is None
            else human_number(value * self.factor)
        )


def scale_of(metric_unit: str, values: Iterable[float | None]) -> Scale:
    """The scale for all of `values`, by the largest: µs, ms or s; B to PiB; percent for shares."""
    known: Sequence[float] = [abs(value) for value in values if value is not None and not math.isnan(value)]
    largest = max(known, default=0.0)
    if metric_unit == "s":
        factor, unit = (
            (1, "s") if largest >= 1 or not largest else (1e3, "ms") if largest >= 1e-3 else (1e6, "µs")
        )
        return Scale(metric_unit, unit, factor)
    if metric_unit == "bytes":
        size_bytes, unit = byte_unit(largest)
        return Scale(metric_unit, unit, 1 / size_bytes)
    return Scale(metric_unit, "%", 100) if metric_unit == "share" else Scale(metric_unit)
