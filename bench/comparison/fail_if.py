"""The limits of `compare --fail-if`: how a condition is read, and which of all limits are broken.

Noise alone breaks any limit at all in at most one of 40 comparisons of equals, however many limits there are:
each is tested one-sidedly, and the p-values are corrected for their number (Holm).
"""

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from bench.errors import ScenarioError
from bench.names import known_text
from bench.results.metrics import METRIC_BY_NAME
from reports.verdicts.compare import Comparison, holm
from reports.verdicts.confidence import CONFIDENCE

Outcome = Literal["holds", "broken", "missing", "inconclusive"]
JOINT_ERROR = (1 - CONFIDENCE) / 2  # how often noise alone may break a limit, of all limits together
_RATIO = r"\s*(?P<ratio>\d+(\.\d+)?|\.\d+)\s*x\s*"
_CONDITION = re.compile(rf"\s*(?P<metric>\w+)\s*(?P<sign>[<>]=?){_RATIO}")
_TESTS: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le,
}  # fmt: skip
_OPPOSITE = {">": "<=", ">=": "<", "<": ">=", "<=": ">"}


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit on the ratio of a metric: it must not lie beyond `ratio` in the direction of `sign`."""

    metric: str
    sign: Literal[">", ">=", "<", "<="]
    ratio: float

    @property
    def condition(self) -> str:
        """The condition of a failure, in one spelling: "files_end>1.1x"."""
        return f"{self.metric}{self.sign}{self.ratio:g}x"

    @property
    def kept(self) -> str:
        """The limit to be kept, the opposite of the condition: "files_end <= 1.1x"."""
        return f"{self.metric} {_OPPOSITE[self.sign]} {self.ratio:g}x"

    def alone(self, comparison: Comparison) -> Outcome:
        """The outcome without other limits: broken where the whole interval, or an exact ratio, is beyond.

        It holds where no part of the interval is beyond. Two figures of 0 count as 1x. An exact figure over
        0 lies beyond every ratio.
        """
        if comparison.verdict == "equal" and comparison.ratio is None:
            ends = (1.0, 1.0)
        elif comparison.verdict == "more" and comparison.ratio is None:
            ends = (math.inf, math.inf)
        elif comparison.low is None or comparison.high is None:
            return "inconclusive"
        else:
            ends = (comparison.low, comparison.high)
        beyond = [_TESTS[self.sign](end, self.ratio) for end in ends]
        return "broken" if all(beyond) else "inconclusive" if any(beyond) else "holds"

    def p(self, comparison: Comparison) -> float | None:
        """How often noise alone gives this ratio, or one further beyond, at the limit; None without noise."""
        return comparison.p_beyond(self.ratio, above=self._is_upper)

    @property
    def _is_upper(self) -> bool:
        return self.sign in (">", ">=")


def outcomes(tests: Sequence[tuple[Limit, Comparison]]) -> list[Outcome]:
    """Whether each of several limits is broken, tested together.

    One that would be broken alone is inconclusive if its p-value, corrected for all, is above 1 in 40.
    """
    alone = [limit.alone(comparison) for limit, comparison in tests]
    by_index = {index: limit.p(comparison) for index, (limit, comparison) in enumerate(tests)}
    tested = {index: p for index, p in by_index.items() if p is not None}
    adjusted = dict(zip(tested, holm(list(tested.values())), strict=True))
    return [
        "inconclusive" if outcome == "broken" and adjusted.get(index, 0.0) > JOINT_ERROR else outcome
        for index, outcome in enumerate(alone)
    ]


def noisy_tests(tests: Sequence[tuple[Limit, Comparison]]) -> int:
    """How many of the limits share the error."""
    return sum(limit.p(comparison) is not None for limit, comparison in tests)


def parse_planned_ratio(text: str) -> float:
    """Read the ratio above 1 of `--plan`, such as `1.1x`. Raises ScenarioError for anything else."""
    match = re.fullmatch(_RATIO, text)
    ratio = float(match["ratio"]) if match else 0.0
    if not 1 < ratio < math.inf:
        raise ScenarioError(
            "must be a ratio above 1, such as 1.1x", code="out-of-range", path=f"--plan {text!r}"
        )
    return ratio


def parse_limit(text: str) -> Limit:
    """Read `METRIC>RATIOx`, or the same with <, >= or <=. Raises ScenarioError for anything else."""
    path = f"--fail-if {text!r}"
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise ScenarioError(
            "is not a condition: write a metric, one of > >= < <=, and a ratio that ends in x, such as "
            "'compaction_cpu_s>1.1x' (in quotes, since > is special to the shell)",
            code="not-a-condition",
            path=path,
        )
    metric, ratio = match["metric"], float(match["ratio"])
    if metric not in METRIC_BY_NAME:
        problem = f"{metric!r} is not a metric; {known_text(metric, METRIC_BY_NAME)}"
        raise ScenarioError(problem, code="unknown-name", path=path)
    if ratio == 0 or not math.isfinite(ratio):
        raise ScenarioError("the ratio must be above 0; 1x means no change", code="out-of-range", path=path)
    sign: Literal[">", ">=", "<", "<="] = match["sign"]  # type: ignore[assignment]
    return Limit(metric, sign, ratio)
