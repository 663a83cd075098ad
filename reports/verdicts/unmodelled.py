"""What a strategy did in a simulation that its cost model cannot price."""

import re
from collections.abc import Collection, Iterable

from bench.results.records import CompactionRecord, Manifest
from reports.data.group import RunGroup

# Work that is not fitted: the field of a record that says whether it was done, and what the actions say of it
# where the record does not, as in older results (see `describe_action` of strategies/plan.py).
_UNMODELLED = {
    "conversion": ("is_converting", re.compile(r"\bdeletes of \d+ files? converted\b")),
    "sorting": ("is_sorted", re.compile(r"\bsorted by \b|\bstrategy=sort\b|\bsort_order=")),
}


def unmodelled(group: RunGroup, strategy: str) -> str | None:
    """Why the times of a simulated strategy get no verdict; None where they do, and for real runs.

    Conversions of deletes and sorting are priced by guesses until the coefficients of the runs are fitted.
    """
    if not group.is_simulated:
        return None
    runs = [run for run in group.usable_runs if run.manifest.strategy == strategy]
    compactions = [c for run in runs if not _is_fitted(run.manifest) for c in run.of(CompactionRecord)]
    found = [work for work in _UNMODELLED if any(_did(work, compaction) for compaction in compactions)]
    if not found:
        return None
    return f"{' and '.join(found)} {'is' if len(found) == 1 else 'are'} not modelled yet"


def _did(work: str, compaction: CompactionRecord) -> bool:
    field, words = _UNMODELLED[work]
    said: bool | None = getattr(compaction, field)
    return any(words.search(action) for action in compaction.actions) if said is None else said


def unmodelled_between(groups: Iterable[RunGroup], strategies: Collection[str]) -> str | None:
    """Why simulated times of these strategies cannot be compared with each other; None where they can.

    Coefficients of two formats are guesses of their own until they are fitted to measured runs.
    """
    runs = [
        run.manifest
        for group in groups
        for run in group.usable_runs
        if group.is_simulated and run.manifest.strategy in strategies
    ]
    if len({manifest.format for manifest in runs}) < 2 or all(map(_is_fitted, runs)):
        return None
    return "coefficients of two formats are not fitted yet, so their times do not compare"


def _is_fitted(manifest: Manifest) -> bool:
    coefficients = manifest.options.get("coefficients")
    return isinstance(coefficients, dict) and bool(coefficients.get("calibrated"))
