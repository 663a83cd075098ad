"""What keeps simulated times from a verdict: work that the cost model was not fitted to, and its errors."""

import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from bench.results.folders import RunResult
from bench.results.metrics import METRIC_BY_NAME, METRICS
from bench.results.records import Manifest
from bench.results.rows import Row
from bench.results.values import BEYOND_MAX
from bench.text import human_number
from reports.data.group import RunGroup
from reports.verdicts.confidence import TWO_SIDED, reach

_Sd = Literal["log_sd", "ratio_log_sd"]

UNKNOWN_ERROR = "the error of the model is not known"
_EARLIER = "its coefficients are those of an earlier version: simulate it again"
# The figures of runs whose errors coefficients state, by the first word of the metrics that follow from one
# of them alone. Any other metric may follow from all.
_FIGURES = {"compaction": "compaction_cpu_s", "commit": "commit_cpu_s", "query": "query_mean_s"}
_MAINTENANCE = "maintenance_cpu_s"
# The operations that enter the metrics with such a first word; any other metric may follow from all. Commands
# of a strategy that change metadata alone are steps of maintenance, and cost it as its compactions do.
_OPERATIONS: Mapping[str, frozenset[str]] = {
    "compaction": frozenset({"rewrite", "cluster", "sort", "convert", "single_node", "maintenance"}),
    "commit": frozenset({"commit", "upsert", "merge"}),
    "query": frozenset({"query", "long_lived_query"}),
    "maintenance": frozenset({"maintenance"}),
}
# Operations whose names alone do not say what they are.
_STEPS = {
    "cluster": "a clustering", "convert": "a conversion of deletes", "maintenance": "a maintenance step",
    "single_node": "a compaction without Spark", "long_lived_query": "a query by a long-lived session",
    "upsert": "an upsert",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Beyond:
    """Why times get no verdict; with a `factor`, that there is so many times as much of something."""

    what: str
    factor: float | None = None

    def __str__(self) -> str:
        return self.what if self.factor is None else f"{human_number(self.factor)} times as many {self.what}"


def unmodelled(group: RunGroup, strategy: str, *metrics: str) -> str | None:
    """Why times of a simulated strategy get no verdict; None if they do, and for real runs.

    Only operations that enter one of the `metrics` count, or all of them if none is named.
    """
    found = beyond(group, strategy, *metrics)
    return None if found is None else str(found)


def without_verdict(group: RunGroup, strategy: str) -> Mapping[str, str]:
    """The metrics of a simulated strategy that have a value and get no verdict, with the reasons."""
    return _without_verdict(group)[strategy]


@lru_cache(maxsize=16)  # groups are told apart by identity
def _without_verdict(group: RunGroup) -> Mapping[str, Mapping[str, str]]:
    """By strategy. A sweep has a thousand of them, so its runs are gone through once."""
    runs = defaultdict[str, list[RunResult]](list)
    for run in group.usable_runs if group.is_simulated else ():
        runs[run.manifest.strategy].append(run)
    return {row.strategy: _reasons(row, runs[row.strategy]) for row in group.rows}


def _reasons(row: Row, runs: Iterable[RunResult]) -> Mapping[str, str]:
    timings = (m.name for m in METRICS if m.basis == "timing" and row.values[m.name] is not None)
    found = {name: _first_beyond(runs, (name,)) for name in timings}
    return {name: str(why) for name, why in found.items() if why is not None}


def beyond(group: RunGroup, strategy: str, *metrics: str) -> Beyond | None:
    """The reason of `unmodelled`."""
    if not group.is_simulated:
        return None
    return _first_beyond(group.usable_runs_of(strategy), metrics)


def _first_beyond(runs: Iterable[RunResult], metrics: Sequence[str]) -> Beyond | None:
    return next((why for run in runs for why in _beyond_fit(run, metrics)), None)


def _beyond_fit(run: RunResult, metrics: Sequence[str]) -> Iterator[Beyond]:
    if run.end is None or not coefficients_of(run.manifest):
        return
    if not coefficients_of(run.manifest, "operations"):
        yield Beyond(_EARLIER)
    unfitted = [name for name in run.end.beyond_fit.unfitted_operations if _enters(name, metrics)]
    if unfitted:
        yield Beyond(f"the cost of {' and of '.join(map(_step, unfitted))} is not fitted to any run")
    for key in run.end.beyond_fit.unmeasured or ():
        operation, _, amount = key.partition(" ")
        if _enters(operation, metrics):
            yield Beyond(f"no measured run had {_plural(amount)} in {_step(operation)}")
    extrapolated = run.end.beyond_fit.extrapolated.items()
    far = {
        key: factor
        for key, factor in extrapolated
        if factor > BEYOND_MAX and _enters(key.partition(" ")[0], metrics)
    }
    for key, factor in sorted(far.items(), key=lambda item: -item[1]):
        operation, _, amount = key.partition(" ")
        yield Beyond(f"{_plural(amount)} in {_step(operation)} as were measured", factor)


def _step(operation: str) -> str:
    return _STEPS.get(operation, f"a {operation}")


def _plural(amount: str) -> str:
    """In words, what a coefficient such as `s_per_scanned_file` is multiplied with."""
    words = re.sub("^s_(per|with)_(million_)?", "", amount).replace("_", " ")
    if words.endswith("mib"):
        return words.removesuffix("mib") + "MiB"
    return words if words.endswith("s") else f"{words}s"


def _enters(operation: str, metrics: Sequence[str]) -> bool:
    own = [_OPERATIONS.get(metric.partition("_")[0]) for metric in metrics]
    return not own or any(operations is None or operation in operations for operations in own)


def unmodelled_between(groups: Iterable[RunGroup], strategies: Collection[str]) -> str | None:
    """Why simulated times of these strategies cannot be compared with each other; None if they can.

    Coefficients of two formats are unrelated guesses until they are fitted to measured runs.
    """
    manifests = [*_simulated(groups, strategies)]
    if len({manifest.format for manifest in manifests}) < 2:
        return None
    if all(coefficients_of(manifest, "operations", "query").get("steps") for manifest in manifests):
        return None
    return "coefficients of two formats are not fitted yet, so their times do not compare"


def ratio_error(groups: Iterable[RunGroup], strategies: Collection[str], metric: str) -> float | None:
    """The standard deviation of the logarithm of a modelled ratio of two strategies; None if it is not known.

    The errors of two strategies on one stream have much in common, which cancels. Those on two streams or of
    two formats are independent, and count as such where nothing is known of their ratio.
    """
    manifests = [*_simulated(groups, strategies)]
    sides = {(manifest.strategy, manifest.format): manifest for manifest in manifests}.values()
    if len({(manifest.format, manifest.change_log_hash) for manifest in manifests}) == 1:
        known = [_error(manifest, metric, "ratio_log_sd") for manifest in sides]
        if None not in known:
            return max((error for error in known if error is not None), default=None)
    errors = [figure_error(manifest, metric) for manifest in sides]
    squares = [error**2 for error in errors if error is not None]
    if len(squares) < len(errors) or not squares:
        return None
    return math.sqrt(sum(squares) if len(squares) > 1 else 2 * squares[0])


def states_errors(groups: Iterable[RunGroup], strategies: Collection[str]) -> bool:
    """Whether simulated runs have coefficients of the kind that states its errors."""
    return any(coefficients_of(manifest, "operations") for manifest in _simulated(groups, strategies))


def figure_error(manifest: Manifest, metric: str) -> float | None:
    """The standard deviation of log(modelled / real); None if it is not known, and for all but seconds."""
    return _error(manifest, metric, "log_sd") if METRIC_BY_NAME[metric].basis == "timing" else None


def _error(manifest: Manifest, metric: str, name: _Sd) -> float | None:
    """That of the figure that the metric follows from, or the largest one of all figures."""
    figures: Collection[str] = _FIGURES.values()
    if coefficients_of(manifest, "errors", metric):
        figures = (metric,)
    elif (of := metric.partition("_")[0]) == "maintenance":
        figures = (_MAINTENANCE,)
    elif of in _FIGURES:
        figures = (_FIGURES[of],)
    tables = [coefficients_of(manifest, "errors", figure) for figure in figures]
    known = [
        float(value) * widening(_streams_count(table, name))
        for table in tables
        if isinstance(value := table.get(name), int | float)
    ]
    return max(known) if len(known) == len(tables) else None


def _streams_count(error: Mapping[str, Any], name: _Sd) -> int:
    """How many streams it is from; coefficients of earlier versions do not count those of ratios apart."""
    of_ratios = error.get("ratio_streams") if name == "ratio_log_sd" else None
    return int(of_ratios or error.get("streams", 2))


def widening(streams_count: int) -> float:
    """By how much an interval from the errors of so few streams is wider than one from many (Student's t)."""
    return reach(max(1, streams_count - 1)) / TWO_SIDED


def _simulated(groups: Iterable[RunGroup], strategies: Collection[str]) -> Iterator[Manifest]:
    for group in groups:
        for run in group.usable_runs:
            if group.is_simulated and run.manifest.strategy in strategies:
                yield run.manifest


def coefficients_of(manifest: Manifest, *names: str) -> Mapping[str, Any]:
    """The coefficients of a simulated run, or a table of them; empty if they have none."""
    table: Any = manifest.options.get("coefficients")
    for name in names:
        table = table.get(name) if isinstance(table, dict) else None
    return table if isinstance(table, dict) else {}
