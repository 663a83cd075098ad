"""How one metric of two strategies is compared, depending on its basis and on how the runs were made."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from bench.results.metrics import METRIC_BY_NAME
from reports.data.group import RunGroup
from reports.verdicts.compare import Comparison, compare, compare_unpaired
from reports.verdicts.repeating import (
    Basis,
    BytesNoise,
    bytes_noise,
    compare_bytes,
    compare_counts,
    compare_modelled,
)
from reports.verdicts.samples import Sample, sample, samples
from reports.verdicts.sittings import SittingEffect, compare_sittings, sitting_variance
from reports.verdicts.unmodelled import unmodelled, unmodelled_between


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What decides how samples are compared, apart from their values.

    are_paired: both samples are in the same order of repetitions, and the runs of each were made close
    together. `unmodelled` is the reason why simulated times get no verdict.
    """

    are_paired: bool = False
    is_simulated: bool = False
    unmodelled: str | None = None
    bytes_noise: BytesNoise = field(default_factory=BytesNoise)
    sitting: SittingEffect | None = None


def compare_strategies(
    group: RunGroup, metric: str, strategy: str, other: str, sitting: SittingEffect | None = None
) -> Comparison:
    """One metric of two strategies: in pairs if each run has a partner, otherwise as groups."""
    return compare_samples(group, metric, (strategy, other), samples(group, metric, strategy, other), sitting)


def compare_samples(
    group: RunGroup, metric: str, strategies: tuple[str, str], drawn: tuple[Sample, Sample, bool],
    sitting: SittingEffect | None = None,
) -> Comparison:  # fmt: skip
    """Compare two samples returned by `samples`."""
    a, b, are_paired = drawn
    circumstances = _circumstances(metric, strategies, (group,), sitting)
    return judge(METRIC_BY_NAME[metric].basis, a, b, replace(circumstances, are_paired=are_paired))


def compare_with_old(
    new: RunGroup, old: RunGroup, metric: str, strategy: str, sitting: SittingEffect | None = None
) -> Comparison:
    """One metric of a strategy compared with itself in old results, as groups."""
    circumstances = _circumstances(metric, (strategy,), (new, old), sitting)
    a, b = sample(new, metric, strategy), sample(old, metric, strategy)
    return judge(METRIC_BY_NAME[metric].basis, a, b, circumstances)


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


def judge(basis: Basis, a: Sample, b: Sample, circumstances: Circumstances) -> Comparison:
    """Compare a with b: simulated figures as modelled, counts exactly, bytes with a tolerance.

    Timings have an interval. Counts that do not repeat have noise, and are compared like timings.
    """
    comparison: Comparison | None = None
    if circumstances.is_simulated:
        if basis == "timing" and circumstances.unmodelled:
            n = min(len(a.values), len(b.values))
            return Comparison(None, None, None, n, "none", "undecided", circumstances.unmodelled)
        comparison = compare_modelled(a.values, b.values, basis)
    elif basis == "count":
        comparison = compare_counts(a.values, b.values)
    elif basis == "bytes":
        comparison = compare_bytes(a.values, b.values, circumstances.bytes_noise)
    return comparison or _timings(a, b, circumstances)


def _timings(a: Sample, b: Sample, circumstances: Circumstances) -> Comparison:
    if circumstances.are_paired:
        return compare(a.values, b.values)
    by_sittings = compare_sittings(a, b) if a.values and b.values else None
    if by_sittings is not None:
        return by_sittings
    variance = sitting_variance(a, b, circumstances.sitting)
    freedom = circumstances.sitting.freedom if circumstances.sitting is not None else float("inf")
    return compare_unpaired(a.values, b.values, variance, freedom)
