"""How one metric of two strategies is compared, depending on its basis and on how the runs were made."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from bench.results.metrics import METRIC_BY_NAME
from reports.data.group import RunGroup
from reports.verdicts.compare import Comparison, undecided
from reports.verdicts.repeating import (
    Basis,
    BytesNoise,
    bytes_noise,
    compare_bytes,
    compare_counts,
    compare_modelled,
)
from reports.verdicts.samples import Sample, samples
from reports.verdicts.sittings import SittingEffect, compare_sittings
from reports.verdicts.timings import compare_timings
from reports.verdicts.unmodelled import (
    UNKNOWN_ERROR,
    ratio_error,
    states_errors,
    unmodelled,
    unmodelled_between,
)

Side = tuple[str, str]  # "new" or "old" results, and a strategy in them


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What decides how samples are compared, apart from their values.

    `unmodelled` is the reason why simulated times get no verdict, `model_error` by how much their ratios are
    off (`ratio_error`).
    """

    is_simulated: bool = False
    unmodelled: str | None = None
    model_error: float | None = None
    bytes_noise: BytesNoise = field(default_factory=BytesNoise)
    sitting: SittingEffect | None = None


def compare_strategies(
    group: RunGroup, metric: str, strategy: str, other: str, sitting: SittingEffect | None = None
) -> Comparison:
    """One metric of two strategies of a group; of a part of one, by the noise of the whole."""
    whole = group.whole or group
    circumstances = _circumstances(metric, (strategy, other), (whole,), sitting)
    basis, sides = METRIC_BY_NAME[metric].basis, _sides(metric, new=whole)
    return judge(basis, sides, ("new", strategy), ("new", other), circumstances)


def compare_with_old(
    new: RunGroup, old: RunGroup, metric: str, strategy: str, sitting: SittingEffect | None
) -> Comparison:
    """One metric of a strategy compared with itself in old results."""
    circumstances = _circumstances(metric, (strategy,), (new, old), sitting)
    basis, sides = METRIC_BY_NAME[metric].basis, _sides(metric, new=new, old=old)
    return judge(basis, sides, ("new", strategy), ("old", strategy), circumstances)


def _sides(metric: str, **groups: RunGroup) -> dict[Side, Sample]:
    return {
        (age, label): own for age, group in groups.items() for label, own in samples(group, metric).items()
    }


def _circumstances(
    metric: str, strategies: Collection[str], groups: Sequence[RunGroup], sitting: SittingEffect | None
) -> Circumstances:
    if groups[0].is_simulated:
        reasons = (unmodelled(group, label, metric) for group in groups for label in strategies)
        reason = next(filter(None, reasons), None) or unmodelled_between(groups, strategies)
        error = None if reason else ratio_error(groups, strategies, metric)
        if error is None and states_errors(groups, strategies):
            reason = reason or UNKNOWN_ERROR
        return Circumstances(is_simulated=True, sitting=sitting, unmodelled=reason, model_error=error)
    if METRIC_BY_NAME[metric].basis != "bytes":
        return Circumstances(sitting=sitting)
    by_strategy = [
        group.values(metric, group.runs_with(metric, label)) for group in groups for label in group.strategies
    ]
    return Circumstances(sitting=sitting, bytes_noise=bytes_noise(by_strategy))


def judge(
    basis: Basis, sides: Mapping[Side, Sample], a: Side, b: Side, circumstances: Circumstances
) -> Comparison:
    """Compare a with b: simulated figures as modelled, counts exactly, bytes with a tolerance.

    Timings have an interval, for which the noise of all `sides` counts. Counts that do not repeat have
    noise, and are compared like timings.
    """
    a_values, b_values = sides[a].values, sides[b].values
    comparison: Comparison | None = None
    if circumstances.is_simulated:
        if basis == "timing" and circumstances.unmodelled:
            n = min(len(a_values), len(b_values))
            return undecided(None, n, circumstances.unmodelled)
        comparison = compare_modelled(a_values, b_values, basis, circumstances.model_error)
    elif basis == "count":
        comparison = compare_counts(a_values, b_values)
    elif basis == "bytes":
        comparison = compare_bytes(a_values, b_values, circumstances.bytes_noise)
    if comparison is None and a_values and b_values:
        comparison = compare_sittings(sides[a], sides[b])
    return comparison or compare_timings(sides, a, b, circumstances.sitting)
