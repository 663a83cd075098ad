"""Limits of `compare --fail-if`: what a condition means, and whether a comparison keeps it."""

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
    """A ratio that must not lie beyond `ratio` in the direction of `sign`: the condition of a failure."""

    metric: str
    sign: Literal[">", ">=", "<", "<="]
    ratio: float

    @property
    def condition(self) -> str:
        """As it was asked for, in one spelling: "files_end>1.1x"."""
        return f"{self.metric}{self.sign}{self.ratio:g}x"

    @property
    def kept(self) -> str:
        """What must be so: "files_end <= 1.1x"."""
        return f"{self.metric} {_OPPOSITE[self.sign]} {self.ratio:g}x"

    def outcome(self, found: Comparison) -> Outcome:
        """Broken only where the whole interval, or an exact ratio, lies beyond; undecided on both sides.

        Two figures of 0 are as 1x, an exact figure over 0 lies beyond any ratio; a measured one over 0
        has no ratio: undecided.
        """
        if found.verdict == "equal" and found.ratio is None:
            ends = (1.0, 1.0)
        elif found.method == "exact" and found.ratio is None:
            ends = (math.inf, math.inf)
        elif found.low is None or found.high is None:
            return "undecided"
        else:
            ends = (found.low, found.high)
        beyond = [_TESTS[self.sign](end, self.ratio) for end in ends]
        return "broken" if all(beyond) else "undecided" if any(beyond) else "holds"


def parse_limit(text: str) -> Limit:
    """`METRIC>RATIOx`, or with <, >=, <=. Raises ScenarioError saying what is wrong with it."""
    found = _CONDITION.fullmatch(text)
    if found is None:
        raise ScenarioError(
            f"--fail-if {text!r}: is no condition; write METRIC, one of > >= < <= and a ratio with an x, "
            "such as 'compaction_cpu_s>1.1x' (quoted, or the shell takes > for itself)"
        )
    metric, ratio = found["metric"], float(found["ratio"])
    if metric not in METRIC_BY_NAME:
        raise ScenarioError(f"--fail-if {text!r}: no metric {metric!r}; {known_text(metric, METRIC_BY_NAME)}")
    if ratio == 0 or not math.isfinite(ratio):
        raise ScenarioError(f"--fail-if {text!r}: the ratio must be above 0; 1x is no change")
    sign: Literal[">", ">=", "<", "<="] = found["sign"]  # type: ignore[assignment]
    return Limit(metric, sign, ratio)
