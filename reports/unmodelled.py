"""What a strategy did in a simulation that its cost model cannot price."""

import re
from typing import TYPE_CHECKING

from bench.results.records import CompactionRecord

if TYPE_CHECKING:
    from reports.load import RunGroup

# What an action of a record says of work that is not fitted: see `describe_action` of strategies/plan.py.
_UNMODELLED = {
    "conversion": re.compile(r"\bdeletes of \d+ files converted\b"),
    "sorting": re.compile(r"\bsorted by \b|\bstrategy=sort\b|\bsort_order="),
}


def unmodelled(group: "RunGroup", strategy: str) -> str | None:
    """Why the times of a simulated strategy get no verdict; None where they do, and for real runs.

    Conversions of deletes and sorting are priced by guesses until the coefficients of the runs are fitted.
    """
    coefficients = group.manifest.options.get("coefficients")
    if not group.is_simulated or (isinstance(coefficients, dict) and coefficients.get("calibrated")):
        return None
    actions = {
        action
        for run in group.usable_runs
        if run.manifest.strategy == strategy
        for compaction in run.of(CompactionRecord)
        for action in compaction.actions
    }
    found = [work for work, said in _UNMODELLED.items() if any(said.search(action) for action in actions)]
    if not found:
        return None
    return f"{' and '.join(found)} {'is' if len(found) == 1 else 'are'} not modelled yet"
