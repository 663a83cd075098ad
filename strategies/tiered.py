"""Size tiers: files of like size are merged into one of the next tier, as in size-tiered LSM trees."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from strategies.grouping import by_key
from strategies.merging import Runs, bytes_of, files_count, group_of, packed, small_runs
from strategies.options import check_range
from strategies.plan import Capability, Plan, Reason, Rewrite
from strategies.planner import Answer, Planner, PlannerTraits
from strategies.round_costs import round_costs
from strategies.state import TableState

KIND = "tier"
_LOWEST = 1_000  # a tier below any other: 2^1000 of them would be smaller than a byte


@dataclass(frozen=True, slots=True)
class Tiered(Planner):
    """Merge files of like size: to bound the bytes rewritten, where nobody knows the rate of queries.

    It needs to know nothing but the files. Tier 0 holds the files from half of the target
    down to `ratio` times less, tier 1 those down to `ratio` times less than these, and so on; a file above
    half of the target is done. A tier of a partition is merged once it has `ratio` files. What that makes is
    merged with the next tier in the same plan if it makes that tier full.

    Each merge takes a file to a larger tier. So a byte that arrives in a file of `size` is rewritten
    floor(log(target / (2 size)) / log(`ratio`)) + 1 times at most: files of 1 MiB, at a target of 128 MiB and
    a ratio of 8, three times. A partition keeps up to `ratio` - 1 files in each tier.

    Files below `levelled_below` are one tier, whatever their sizes: few bytes, which may be rewritten often
    for fewer files. There a byte is rewritten once for each `ratio` - 1 files that come, until its file is
    larger, and the bound holds from then on.
    """

    ratio: int = 8
    levelled_below_bytes: int = 0

    def __post_init__(self) -> None:
        check_range("ratio", self.ratio, 2, 1_000_000)
        check_range("levelled_below_bytes", self.levelled_below_bytes, 0, 2**50)

    def traits(self) -> PlannerTraits:
        return PlannerTraits(needs=frozenset({Capability.REWRITE}))

    def decide(self, state: TableState) -> Answer:
        target_bytes = state.target_file_size_bytes
        places = [self._by_tier(runs, target_bytes) for runs in small_runs(state, target_bytes / 2).values()]
        merges = [merge for tiers in places for merge in self._merges(tiers, target_bytes)]
        counts = [files_count(runs) for tiers in places for runs in tiers.values()]
        figures: dict[str, float] = {
            "tiers": max(map(len, places), default=0),
            "fullest_tier_files": max(counts, default=0),
        }
        if not merges:
            return Answer(None, figures=figures)
        merged = [run for merge in merges for run in merge]
        figures["round_cpu_s"] = round_costs(state).round_cpu_s(files_count(merged), bytes_of(merged))
        detail = f"{len(merges)} merges of tiers with {self.ratio} files or more"
        action = Rewrite(tuple(map(group_of, merges)), target_bytes)
        return Answer(Plan((action,), Reason.SMALL_FILES, detail, KIND), figures=figures)

    def _by_tier(self, runs: Runs, target_bytes: int) -> Mapping[int, Runs]:
        """Runs by tier, the smallest files first."""
        return by_key(runs, lambda run: self._tier(run.first.size_bytes, target_bytes))

    def _tier(self, size_bytes: int, target_bytes: int) -> int:
        """-1 if it is done; a file exactly at a bound is in the tier below it."""
        if 2 * size_bytes > target_bytes:
            return -1
        if size_bytes < max(1, min(self.levelled_below_bytes, target_bytes // 2)):
            return _LOWEST
        tier = int(math.log(target_bytes / (2 * size_bytes), self.ratio))
        # The logarithm may be off by one where it is nearly whole.
        while 2 * size_bytes * self.ratio ** (tier + 1) <= target_bytes:
            tier += 1
        while tier and 2 * size_bytes * self.ratio**tier > target_bytes:
            tier -= 1
        return tier

    def _merges(self, tiers: Mapping[int, Runs], target_bytes: int) -> Iterator[Runs]:
        """The merges of one place: from the smallest tier up, each with what merges below it make."""
        merged = Runs()
        for tier, own in tiers.items():
            lands = self._tier(bytes_of(merged), target_bytes) if merged else None
            if files_count(own) + (lands == tier) >= self.ratio:
                merged += own
            elif lands is not None and lands >= tier:
                yield from self._leaving(merged, target_bytes)
                merged = Runs()
        yield from self._leaving(merged, target_bytes)

    def _leaving(self, runs: Runs, target_bytes: int) -> Iterator[Runs]:
        """The parts of at most the target whose merged file is in a larger tier than each of its files.

        Only the last part can be too small for that. Within the levelled tier it need not be.
        """
        for part in packed(runs, target_bytes):
            largest = self._tier(part[-1].first.size_bytes, target_bytes)
            leaves = self._tier(bytes_of(part), target_bytes) < largest
            if files_count(part) > 1 and (leaves or (largest == _LOWEST and files_count(part) >= self.ratio)):
                yield part
