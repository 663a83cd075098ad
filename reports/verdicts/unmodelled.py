"""What a strategy did in a simulation that its cost model cannot price."""

from collections.abc import Collection, Iterable

from bench.results.records import CompactionRecord, Manifest
from reports.data.group import RunGroup

# Work whose cost is not fitted, and the field of a compaction's record that is true if it was done.
_UNMODELLED = {"conversion": "is_converting", "sorting": "is_sorted"}


def unmodelled(group: RunGroup, strategy: str) -> str | None:
    """Why the times of a simulated strategy get no verdict; None if they do, and for real runs.

    Conversions of deletes and sorting are priced by guesses until the coefficients of the runs are fitted.
    """
    if not group.is_simulated:
        return None
    runs = [run for run in group.usable_runs if run.manifest.strategy == strategy]
    compactions = [run.of(CompactionRecord) for run in runs if not _is_fitted(run.manifest)]
    done = [work for work, field in _UNMODELLED.items() if any(c.column(field).any() for c in compactions)]
    if not done:
        return None
    return f"{' and '.join(done)} {'is' if len(done) == 1 else 'are'} not modelled yet"


def unmodelled_between(groups: Iterable[RunGroup], strategies: Collection[str]) -> str | None:
    """Why simulated times of these strategies cannot be compared with each other; None if they can.

    Coefficients of two formats are unrelated guesses until they are fitted to measured runs.
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
