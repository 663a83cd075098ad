"""The limits of `compare --fail-if`: how a condition is read, and whether a comparison breaks the limit."""

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from bench.errors import ScenarioError
from bench.keys import known_text
from bench.results.rows import METRIC_BY_NAME
from reports.compare import Comparison

Outcome = Literal["holds", "broken", "undecided"]
_CONDITION = re.compile(r"\s*(?P<metric>\w+)\s*(?P<sign>[<>]=?)\s*(?P<ratio>\d+(\.\d+)?|\.\d+)\s*x\s*")
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

    def outcome(self, comparison: Comparison) -> Outcome:
        """Broken only where the whole interval, or an exact ratio, lies beyond; undecided where a part does.

        Two figures of 0 count as 1x. An exact figure over 0 lies beyond every ratio; a measured one over 0
        has no ratio and is undecided.
        """
        if comparison.verdict == "equal" and comparison.ratio is None:
            ends = (1.0, 1.0)
        elif comparison.method == "exact" and comparison.ratio is None:
            ends = (math.inf, math.inf)
        elif comparison.low is None or comparison.high is None:
            return "undecided"
        else:
            ends = (comparison.low, comparison.high)
        beyond = [_TESTS[self.sign](end, self.ratio) for end in ends]
        return "broken" if all(beyond) else "undecided" if any(beyond) else "holds"


def parse_limit(text: str) -> Limit:
    """Read `METRIC>RATIOx`, or the same with <, >= or <=. Raises ScenarioError for anything else."""
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise ScenarioError(
            f"--fail-if {text!r}: not a condition; write a metric, one of > >= < <=, and a ratio that ends "
            "in x, such as 'compaction_cpu_s>1.1x' (in quotes, since > is special to the shell)"
        )
    metric, ratio = match["metric"], float(match["ratio"])
    if metric not in METRIC_BY_NAME:
        raise ScenarioError(
            f"--fail-if {text!r}: unknown metric {metric!r}; {known_text(metric, METRIC_BY_NAME)}"
        )
    if ratio == 0 or not math.isfinite(ratio):
        raise ScenarioError(f"--fail-if {text!r}: the ratio must be above 0; 1x means no change")
    sign: Literal[">", ">=", "<", "<="] = match["sign"]  # type: ignore[assignment]
    return Limit(metric, sign, ratio)
