"""How one metric of two samples is compared: as what it rests on, and how the runs were made, allow."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from reports.verdicts.compare import Comparison, compare, compare_unpaired
from reports.verdicts.repeating import Basis, BytesNoise, compare_bytes, compare_counts, compare_modelled
from reports.verdicts.sittings import Sample, SittingEffect, compare_sittings, sitting_variance


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What decides how samples are compared, beside their values.

    are_paired: both samples are in the same order of repetitions, and the runs of each were made close
    together. `unmodelled` says why simulated times get no verdict, and is None where they do.
    """

    are_paired: bool = False
    is_simulated: bool = False
    unmodelled: str | None = None
    bytes_noise: BytesNoise = field(default_factory=BytesNoise)
    sitting: SittingEffect | None = None


def judge(basis: Basis, a: Sample, b: Sample, given: Circumstances) -> Comparison:
    """Compare a with b: simulated figures as modelled, counts exactly, bytes with a tolerance.

    Timings have an interval. Counts that do not repeat have noise, and are compared like timings.
    """
    found: Comparison | None = None
    if given.is_simulated:
        if basis == "timing" and given.unmodelled:
            return Comparison(None, None, None, _n(a.values, b.values), "none", "undecided", given.unmodelled)
        found = compare_modelled(a.values, b.values, basis)
    elif basis == "count":
        found = compare_counts(a.values, b.values)
    elif basis == "bytes":
        found = compare_bytes(a.values, b.values, given.bytes_noise)
    return found or _timings(a, b, given)


def _timings(a: Sample, b: Sample, given: Circumstances) -> Comparison:
    if given.are_paired:
        return compare(a.values, b.values)
    by_sittings = compare_sittings(a, b) if a.values and b.values else None
    if by_sittings is not None:
        return by_sittings
    variance = sitting_variance(a, b, given.sitting)
    freedom = given.sitting.freedom if given.sitting is not None else float("inf")
    return compare_unpaired(a.values, b.values, variance, freedom)


def _n(a_values: Sequence[float], b_values: Sequence[float]) -> int:
    return min(len(a_values), len(b_values))
