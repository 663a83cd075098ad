"""What a simulation did that its cost model cannot price: other work than it was fitted to, or far more."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from bench.results.folders import RunResult
from bench.results.metrics import METRIC_BY_NAME
from bench.results.records import CompactionRecord, Manifest, QueryRecord
from bench.text import human_number
from reports.data.group import RunGroup

# Operations that coefficients may not be fitted to: the field of a compaction's record that is true if it was
# done, and its name in sentences.
_UNFITTED = {
    "convert": ("is_converting", "conversion"),
    "sort": ("is_sorted", "sorting"),
}
# Metrics by a word in their name, and the figure of which the error is known; that of others is compaction's.
_FIGURES = {"query": "query_mean_s", "commit": "commit_cpu_s"}
# How far beyond the greatest measured amount times may be extrapolated.
BEYOND_MAX = 3.0
OUT_OF_RANGE = "out of range:"


def unmodelled(group: RunGroup, strategy: str) -> str | None:
    """Why the times of a simulated strategy get no verdict; None if they do, and for real runs."""
    if not group.is_simulated:
        return None
    runs = [run for run in group.usable_runs if run.manifest.strategy == strategy]
    done = [
        name
        for operation, (field, name) in _UNFITTED.items()
        if any(
            not is_fitted(run.manifest, operation) and run.of(CompactionRecord).column(field).any()
            for run in runs
        )
    ]
    if done:
        return f"{' and '.join(done)} {'is' if len(done) == 1 else 'are'} not modelled yet"
    beyond = next((words for run in runs for words in out_of_range(run)), None)
    return beyond and f"{OUT_OF_RANGE} {beyond}"


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
    if len({manifest.format for manifest in runs}) < 2:
        return None
    if all(is_fitted(manifest, "query") for manifest in runs):
        return None
    return "coefficients of two formats are not fitted yet, so their times do not compare"


def ratio_error(groups: Iterable[RunGroup], strategies: Collection[str], metric: str) -> float | None:
    """The standard deviation of the logarithm of a modelled ratio of two strategies; None if it is not known.

    It is that of the figure of runs to which the metric belongs, for the format that is the worst.
    """
    errors = [
        _error(run.manifest, metric, "ratio_log_sd")
        for group in groups
        for run in group.usable_runs
        if run.manifest.strategy in strategies
    ]
    known = [error for error in errors if error is not None]
    return max(known) if known and len(known) == len(errors) else None


def figure_error(manifest: Manifest, metric: str) -> float | None:
    """The standard deviation of log(modelled / real); None if it is not known, and for all but seconds."""
    return _error(manifest, metric, "log_sd") if METRIC_BY_NAME[metric].basis == "timing" else None


def _error(manifest: Manifest, metric: str, name: str) -> float | None:
    coefficients = manifest.options.get("coefficients")
    errors = coefficients.get("errors") if isinstance(coefficients, dict) else None
    figure = next((figure for word, figure in _FIGURES.items() if word in metric), "compaction_cpu_s")
    known = errors.get(figure) if isinstance(errors, dict) else None
    value = known.get(name) if isinstance(known, dict) else None
    return float(value) if isinstance(value, int | float) else None


def is_fitted(manifest: Manifest, operation: str) -> bool:
    """Whether the coefficients of a simulated run were fitted to steps of an operation."""
    return bool(_operation(manifest, operation).get("steps"))


# Columns of records whose greatest values are compared with what was measured: the operation, the amount, how
# many units of the column it has, and what it is called.
_AMOUNTS = (
    ("query", QueryRecord, "files_count", "s_per_file", 1, "files in a query"),
    ("query", QueryRecord, "opened_bytes", "s_per_mib", 2**20, "MiB in a query"),
    ("query", QueryRecord, "delete_files_count", "s_per_delete_file", 1, "delete files in a query"),
    ("rewrite", CompactionRecord, "read_files_count", "s_per_file", 1, "files in a compaction"),
    ("rewrite", CompactionRecord, "read_data_bytes", "s_per_mib", 2**20, "MiB in a compaction"),
)


def out_of_range(run: RunResult) -> Iterator[str]:
    """The amounts of work of a simulated run that are more than `BEYOND_MAX` times what was measured."""
    for operation, kind, column, name, unit, words in _AMOUNTS:
        ranges: Mapping[str, Any] = _operation(run.manifest, operation).get("ranges") or {}
        records = run.of(kind)
        if name in ranges and len(records):
            greatest, measured = records.column(column).max() / unit, ranges[name][1]
            if greatest > BEYOND_MAX * measured:
                yield f"{human_number(greatest)} {words}, measured up to {human_number(measured)}"


def _operation(manifest: Manifest, operation: str) -> Mapping[str, Any]:
    coefficients = manifest.options.get("coefficients")
    operations = coefficients.get("operations") if isinstance(coefficients, dict) else None
    known = operations.get(operation) if isinstance(operations, dict) else None
    return known if isinstance(known, dict) else {}
