"""What must hold for a figure: the limits of `recommend`, and those of `compare --fail-if` on ratios."""

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

Sign = Literal["<=", "<", ">=", ">"]
_TESTS: Mapping[Sign, Callable[[float, float], bool]] = {
    "<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Limit:
    """A metric must be `sign` `value`, in the metric's unit or as a ratio of two figures."""

    metric: str
    sign: Sign
    value: float

    @property
    def is_upper(self) -> bool:
        return self.sign in ("<=", "<")

    def is_kept_with(self, value: float | None) -> bool:
        return value is not None and _TESTS[self.sign](value, self.value)

    def breach(self, value: float | None) -> float:
        """By what factor a value is beyond the limit, 1 at the limit; infinite if it is not known."""
        if value is None:
            return math.inf
        over, under = (value, self.value) if self.is_upper else (self.value, value)
        return over / under if under else math.inf
