"""AutoComp's choice among the partitions of a table: traits, weights, and greedy selection within a budget.

Source: "AutoComp: Automated Data Compaction for Log-Structured Tables in Data Lakes" (arXiv 2504.04186), and
`OpenHouseDataLayoutStrategyGenerator`, `SimpleWeightedSumDataLayoutStrategyScorer` and
`GreedyMaxBudgetCandidateSelector` of LinkedIn's OpenHouse. There the candidates are tables. Differences:

- Candidates are the partitions of one table, which one job compacts. So the cost of starting a job, 0.5
  GB-hours for each table there, is left out.
- A budget is never exceeded. OpenHouse takes one more candidate, the one that exceeds it.
- Candidates that would save no file, or of whose files no two fit into one, are left out.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from strategies.merging import Runs, bytes_of, files_count, merge_groups, packed, small_runs
from strategies.options import check_range
from strategies.plan import Capability, Plan, Reason, Rewrite
from strategies.planner import Answer, Planner, PlannerTraits
from strategies.state import GIB, MIB, Place, TableState

KIND = "autocomp"
SMALL_SHARE = 0.75  # MIN_BYTE_SIZE_RATIO_DEFAULT: files below this share of the target are compacted


@dataclass(frozen=True, slots=True)
class Candidate:
    """A partition and its traits: how many files compaction saves, and what it costs in GB-hours."""

    place: Place
    runs: Runs
    files_saved: int
    gb_hours: float


@dataclass(frozen=True, slots=True)
class AutoComp(Planner):
    """Compact the best partitions within a budget: for many partitions, with a trigger that says when.

    It ranks partitions, and does not say when compaction is worth its cost: if there are candidates it plans.
    So it needs a trigger such as `every`, and to know how many GB-hours an evaluation may spend.

    Candidates are partitions with two small files or more, below 0.75 of the target. Their benefit is the
    number of files that are saved, `small files - ceil(bytes / target)`, and must be `min_files_saved` or
    more. Their cost is `memory` x bytes / `bytes_per_s`, in GB-hours. Both are scaled to 0 to 1 over all
    candidates, the lowest to the highest, and the score is `gain_weight` x benefit - (1 - `gain_weight`) x
    cost. A trait that is the same for all candidates, as with a single one, counts as 0 for each: the order
    then is that of the other trait, and of partitions.

    Candidates are taken in the order of their scores until `budget_gb_hours` has no room for the next one, or
    `max_partitions` are chosen; without them all are. A budget below the first candidate plans nothing.
    """

    gain_weight: float = 0.7
    min_files_saved: int = 1
    budget_gb_hours: float | None = None
    max_partitions: int | None = None
    memory_bytes: int = 2 * GIB
    bytes_per_s: int = 2 * MIB

    def __post_init__(self) -> None:
        check_range("gain_weight", self.gain_weight, 0, 1)
        check_range("min_files_saved", self.min_files_saved, 1, 1e9)
        check_range("budget_gb_hours", self.budget_gb_hours, 0, 1e12)
        check_range("max_partitions", self.max_partitions, 1, 1e9)
        check_range("memory_bytes", self.memory_bytes, 1, 2**50)
        check_range("bytes_per_s", self.bytes_per_s, 1, 2**50)

    def traits(self) -> PlannerTraits:
        return PlannerTraits(needs=frozenset({Capability.REWRITE}))

    def decide(self, state: TableState) -> Answer:
        candidates = self._candidates(state)
        chosen = self._chosen(ranked(candidates, self.gain_weight))
        figures = {
            "candidates": len(candidates),
            "partitions_chosen": len(chosen),
            "files_saved": sum(one.files_saved for one in chosen),
            "gb_hours": sum(one.gb_hours for one in chosen),
            "cheapest_gb_hours": min((one.gb_hours for one in candidates), default=0.0),
        }
        groups = tuple(
            group
            for one in sorted(chosen, key=lambda one: one.place)
            for group in merge_groups(one.runs, state.target_file_size_bytes)
        )
        if not groups:
            return Answer(None, figures=figures)
        budget = "no budget" if self.budget_gb_hours is None else f"budget {self.budget_gb_hours:g} GB-hours"
        detail = (
            f"{len(chosen)} of {len(candidates)} partitions save {figures['files_saved']} files for "
            f"{figures['gb_hours']:.4g} GB-hours, {budget}"
        )
        plan = Plan((Rewrite(groups, state.target_file_size_bytes),), Reason.SMALL_FILES, detail, KIND)
        return Answer(plan, figures=figures)

    def _candidates(self, state: TableState) -> list[Candidate]:
        target_bytes = state.target_file_size_bytes
        places = small_runs(state, SMALL_SHARE * target_bytes)
        found = (
            self._candidate(place, runs, target_bytes)
            for place, runs in places.items()
            if files_count(next(packed(runs, target_bytes))) > 1
        )
        return [one for one in found if one.files_saved >= self.min_files_saved]

    def _candidate(self, place: Place, runs: Runs, target_bytes: int) -> Candidate:
        size_bytes = bytes_of(runs)
        files_saved = files_count(runs) - -(-size_bytes // target_bytes)
        hours = size_bytes / self.bytes_per_s / 3600
        return Candidate(place, runs, files_saved, self.memory_bytes / GIB * hours)

    def _chosen(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        chosen, spent_gb_hours = list[Candidate](), 0.0
        for one in candidates:
            if self.budget_gb_hours is not None and spent_gb_hours + one.gb_hours > self.budget_gb_hours:
                break
            if self.max_partitions is not None and len(chosen) == self.max_partitions:
                break
            chosen.append(one)
            spent_gb_hours += one.gb_hours
        return chosen


def ranked(candidates: Sequence[Candidate], gain_weight: float) -> list[Candidate]:
    """Candidates by their score, the highest first; of equal scores in order of their places."""
    gains = _scaled([one.files_saved for one in candidates])
    costs = _scaled([one.gb_hours for one in candidates])
    scores = [gain_weight * gain - (1 - gain_weight) * cost for gain, cost in zip(gains, costs, strict=True)]
    order = sorted(range(len(candidates)), key=lambda place: (-scores[place], candidates[place].place))
    return [candidates[place] for place in order]


def _scaled(values: Sequence[float]) -> list[float]:
    """From 0, the lowest, to 1, the highest; 0 if all are equal (`minMaxNormalize`)."""
    low, high = min(values, default=0), max(values, default=0)
    return [(value - low) / (high - low) if high > low else 0.0 for value in values]
