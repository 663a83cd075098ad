"""What the cost model of a simulation does not cover, so that its seconds are compared with no others."""

import re

from bench.results.records import CompactionRecord
from reports.load import RunGroup

_NOT_COVERED = (  # how a recorded action says it, and what it is
    (re.compile(r"deletes of \d+ files converted"), "conversion is not modelled"),
    (re.compile(r"\bsorted by |\bstrategy=(?:sort|zorder)\b"), "sorting is not modelled"),
)


def unmodelled(group: RunGroup, strategy: str) -> str | None:
    """Why the modelled cost of a strategy must not be compared with that of another; None where it may be.

    It goes by what the strategy did in the runs, and holds until the coefficients are fitted.
    """
    coefficients = group.manifest.options.get("coefficients")
    is_fitted = isinstance(coefficients, dict) and bool(coefficients.get("calibrated"))
    if not group.is_simulated or is_fitted or strategy not in group.first_runs:
        return None
    actions = [a for c in group.first_runs[strategy].of(CompactionRecord) for a in c.actions]
    return next((why for said, why in _NOT_COVERED if any(said.search(action) for action in actions)), None)
