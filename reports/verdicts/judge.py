"""How one metric of two strategies is compared, depending on its basis and on how the runs were made."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

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
from reports.verdicts.samples import Sample, sample
from reports.verdicts.sittings import SittingEffect, compare_sittings
from reports.verdicts.timings import compare_timings
from reports.verdicts.unmodelled import unmodelled, unmodelled_between

Side = tuple[Literal["new", "old"], str]  # a strategy in new or old results


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What decides how samples are compared, apart from their values.

    `unmodelled` is the reason why simulated times get no verdict.
    """

    is_simulated: bool = False
    unmodelled: str | None = None
    bytes_noise: BytesNoise = field(default_factory=BytesNoise)
    sitting: SittingEffect | None = None


def compare_strategies(
    group: RunGroup, metric: str, strategy: str, other: str, sitting: SittingEffect | None = None
) -> Comparison:
    """One metric of two strategies of a group."""
    samples: dict[Side, Sample] = {("new", label): sample(group, metric, label) for label in group.strategies}
    circumstances = _circumstances(metric, (strategy, other), (group,), sitting)
    return judge(METRIC_BY_NAME[metric].basis, samples, ("new", strategy), ("new", other), circumstances)


def compare_with_old(
    new: RunGroup, old: RunGroup, metric: str, strategy: str, sitting: SittingEffect | None = None
) -> Comparison:
    """One metric of a strategy compared with itself in old results."""
    samples: dict[Side, Sample] = {
        **{("new", label): sample(new, metric, label) for label in new.strategies},
        **{("old", label): sample(old, metric, label) for label in old.strategies},
    }
    circumstances = _circumstances(metric, (strategy,), (new, old), sitting)
    return judge(METRIC_BY_NAME[metric].basis, samples, ("new", strategy), ("old", strategy), circumstances)


def _circumstances(
    metric: str, strategies: Collection[str], groups: Sequence[RunGroup], sitting: SittingEffect | None
) -> Circumstances:
    if groups[0].is_simulated:
        reasons = (unmodelled(group, label) for group in groups for label in strategies)
        reason = next(filter(None, reasons), None) or unmodelled_between(groups, strategies)
        return Circumstances(is_simulated=True, sitting=sitting, unmodelled=reason)
    if METRIC_BY_NAME[metric].basis != "bytes":
        return Circumstances(sitting=sitting)
    by_strategy = [
        group.values(metric, group.runs_with(metric, label)) for group in groups for label in group.strategies
    ]
    return Circumstances(sitting=sitting, bytes_noise=bytes_noise(by_strategy))


def judge(
    basis: Basis, samples: Mapping[Side, Sample], a: Side, b: Side, circumstances: Circumstances
) -> Comparison:
    """Compare a with b: simulated figures as modelled, counts exactly, bytes with a tolerance.

    Timings have an interval, for which the noise of all `samples` counts. Counts that do not repeat have
    noise, and are compared like timings.
    """
    a_values, b_values = samples[a].values, samples[b].values
    comparison: Comparison | None = None
    if circumstances.is_simulated:
        if basis == "timing" and circumstances.unmodelled:
            n = min(len(a_values), len(b_values))
            return undecided(None, n, circumstances.unmodelled)
        comparison = compare_modelled(a_values, b_values, basis)
    elif basis == "count":
        comparison = compare_counts(a_values, b_values)
    elif basis == "bytes":
        comparison = compare_bytes(a_values, b_values, circumstances.bytes_noise)
    if comparison is None and a_values and b_values:
        comparison = compare_sittings(samples[a], samples[b])
    return comparison or compare_timings(samples, a, b, circumstances.sitting)
