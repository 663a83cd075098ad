"""The limits of `compare --fail-if`: how a condition is read, and which of all limits are broken.

Noise alone breaks any limit at all in at most one of 40 comparisons of equals, however many limits there are:
each is tested one-sidedly, and the p-values are corrected for their number (Holm).
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Literal

from bench.comparison.metric_names import check_metric
from bench.errors import ScenarioError
from reports.verdicts.compare import Comparison, holm
from reports.verdicts.confidence import CONFIDENCE
from reports.verdicts.limit import Limit, Sign

Outcome = Literal["holds", "broken", "missing", "inconclusive"]
JOINT_ERROR = (1 - CONFIDENCE) / 2  # how often noise alone may break a limit, of all limits together
_RATIO = r"\s*(?P<ratio>\d+(\.\d+)?|\.\d+)\s*x\s*"
_CONDITION = re.compile(rf"\s*(?P<metric>\w+)\s*(?P<sign>[<>]=?){_RATIO}")
_OPPOSITE: Mapping[str, Sign] = {">": "<=", ">=": "<", "<": ">=", "<=": ">"}


def condition(limit: Limit) -> str:
    """The condition of a failure, in one spelling: "files_end>1.1x"."""
    return f"{limit.metric}{_OPPOSITE[limit.sign]}{limit.value:g}x"


def kept_text(limit: Limit) -> str:
    """The limit to be kept, the opposite of the condition: "files_end <= 1.1x"."""
    return f"{limit.metric} {limit.sign} {limit.value:g}x"


def outcome_alone(limit: Limit, comparison: Comparison) -> Outcome:
    """The outcome without other limits: broken where the whole interval, or an exact ratio, is beyond.

    It holds where no part of the interval is beyond. Two figures of 0 count as 1x. An exact figure over 0
    lies beyond every ratio.
    """
    if comparison.verdict == "equal" and comparison.ratio is None:
        ends = (1.0, 1.0)
    elif comparison.verdict == "more" and comparison.ratio is None:
        ends = (math.inf, math.inf)
    elif comparison.low is None or comparison.high is None:
        return "inconclusive"
    else:
        ends = (comparison.low, comparison.high)
    kept = [limit.is_kept_with(end) for end in ends]
    return "holds" if all(kept) else "inconclusive" if any(kept) else "broken"


def _p(limit: Limit, comparison: Comparison) -> float | None:
    """How often noise alone gives this ratio, or one further beyond, at the limit; None without noise."""
    return comparison.p_beyond(limit.value, above=limit.is_upper)


def outcomes(tests: Sequence[tuple[Limit, Comparison]]) -> list[Outcome]:
    """Whether each of several limits is broken, tested together.

    One that would be broken alone is inconclusive if its p-value, corrected for all, is above 1 in 40.
    """
    alone = [outcome_alone(limit, comparison) for limit, comparison in tests]
    by_index = {index: _p(limit, comparison) for index, (limit, comparison) in enumerate(tests)}
    tested = {index: p for index, p in by_index.items() if p is not None}
    adjusted = dict(zip(tested, holm(list(tested.values())), strict=True))
    return [
        "inconclusive" if outcome == "broken" and adjusted.get(index, 0.0) > JOINT_ERROR else outcome
        for index, outcome in enumerate(alone)
    ]


def noisy_tests(tests: Sequence[tuple[Limit, Comparison]]) -> int:
    """How many of the limits share the error."""
    return sum(_p(limit, comparison) is not None for limit, comparison in tests)


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
    check_metric(metric, path)
    if ratio == 0 or not math.isfinite(ratio):
        raise ScenarioError("the ratio must be above 0; 1x means no change", code="out-of-range", path=path)
    return Limit(metric, _OPPOSITE[match["sign"]], ratio)
