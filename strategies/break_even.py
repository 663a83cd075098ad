"""Rent or buy: compact once waiting has cost queries as much as a round costs.

Source of the rule: a stream of small files is the acknowledgement problem of TCP with a linear cost of delay,
for which paying once the waiting has cost as much is 2-competitive, and no deterministic rule is better
(Dooly, Goldman, Scott 2001). Partitions that share the fixed cost of a round make it joint replenishment.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any, TypeAlias

from strategies.merging import Runs, bytes_of, files_count, group_of, packed, small_runs
from strategies.options import check_range
from strategies.plan import Capability, Plan, Reason, Rewrite
from strategies.planner import Answer, Planner, PlannerTraits
from strategies.round_costs import RoundCosts, round_costs
from strategies.series import Run
from strategies.state import Place, TableState

KIND = "merge"

# A merged file of half the target is done and never merged again. What is left alone is a little smaller,
# because a merge compresses better: 32 files of 130 KB become one that is 4 % smaller than their sum.
DONE_SHARE = 0.5
LEFT_ALONE_SHARE = 0.45

UNKNOWN_QUERIES_PER_MINUTE = 1.0
UNKNOWN_AGE_MS = 24 * 60 * 60 * 1000

Owed: TypeAlias = Callable[[Run[Any]], float]  # the CPU seconds that each file of a run owes


@dataclass(frozen=True, slots=True)
class Prices:
    """What files and deletes owe.

    `cpu_s_per_s` is what a second of latency in each query is worth for each second that passes. `tick_ms` is
    the time until the next evaluation, which counts as waited.
    """

    queries_per_s: float
    knows_rate: bool
    cpu_s_per_s: float
    known: RoundCosts
    now_ms: int
    tick_ms: int

    def pays_for_a_round(self, surplus_cpu_s: float) -> bool:
        return surplus_cpu_s > 0 and surplus_cpu_s >= self.known.costs.fixed_cpu_s

    def waited_s(self, added_at_ms: int | None) -> float:
        age_ms = UNKNOWN_AGE_MS if added_at_ms is None else max(0, self.now_ms - added_at_ms)
        return (age_ms + self.tick_ms) / 1000

    def file_cpu_s(self, run: Run[Any]) -> float:
        """What each file of the run owes."""
        per_s = self.cpu_s_per_s * self.known.costs.query_s_per_file
        return per_s * self.waited_s(run.first.added_at_ms)


@dataclass(frozen=True, slots=True)
class Joined:
    """Files that are merged into one, and what those that have paid for their bytes have paid beyond."""

    runs: Runs
    surplus_cpu_s: float


@dataclass(frozen=True, slots=True)
class BreakEven(Planner):
    """Merge small files once waiting has cost what merging costs: for the least of both, given a query rate.

    It needs to know how often the table is queried and what a second of a query is worth; what rounds cost it
    learns. A file owes the time that it has added to each query since it was added. Files whose debt has paid
    for their bytes join the next round, and the round is made as soon as what they have paid beyond has paid
    for its fixed cost. Younger files join them if they would have paid by the round after it. The time until
    the next evaluation counts too, so evaluate it often, with `every` at the interval of commits. A file
    above 0.45 of the target is left alone.

    `queries_per_minute` is the rate of queries; without it the rate at which the table is probed, or one a
    minute if that is unknown. A rate that changes counts as if it had always been that of the moment: files
    that came in quiet hours owe too much once readers are busy. `cpu_s_per_query_second` is how many CPU
    seconds of compaction a second of one query is worth; at 0 it never compacts.

    Costs are learnt from the rounds of the rule's executor; until then they are expected, and the detail of a
    plan says so. A file of unknown age counts as a day old. Deletes are not priced: `iceberg.break_even` does
    that.
    """

    queries_per_minute: float | None = None
    cpu_s_per_query_second: float = 1.0

    def __post_init__(self) -> None:
        check_range("queries_per_minute", self.queries_per_minute, 0, 1e9)
        check_range("cpu_s_per_query_second", self.cpu_s_per_query_second, 0, 1e9)

    def traits(self) -> PlannerTraits:
        return PlannerTraits(needs=frozenset({Capability.REWRITE}), decides_when=True)

    def decide(self, state: TableState) -> Answer:
        prices, target_bytes = self.prices(state, round_costs(state)), state.target_file_size_bytes
        places = small_runs(state, target_bytes * LEFT_ALONE_SHARE)
        merges = joined(places, prices.file_cpu_s, prices.known, target_bytes)
        figures = merge_figures(merges, prices.known)
        plan = None
        if prices.pays_for_a_round(figures["surplus_cpu_s"]):
            groups = (group_of(one.runs) for one in merges)
            detail = f"{describe_merges(figures)}; {describe_prices(prices, merges, state)}"
            plan = Plan((Rewrite(tuple(groups), target_bytes),), Reason.COST, detail, KIND)
        return Answer(plan, state.observed_at_ms, figures)

    def prices(self, state: TableState, known: RoundCosts) -> Prices:
        rate_per_s = state.probe_rate_per_s
        if self.queries_per_minute is not None:
            rate_per_s = self.queries_per_minute / 60
        knows_rate = rate_per_s is not None
        if rate_per_s is None:
            rate_per_s = UNKNOWN_QUERIES_PER_MINUTE / 60
        cpu_s_per_s = rate_per_s * self.cpu_s_per_query_second
        return Prices(rate_per_s, knows_rate, cpu_s_per_s, known, state.observed_at_ms, _tick_ms(state))


def _tick_ms(state: TableState) -> int:
    """The time until the next evaluation: as long as since the last one, or between the latest commits."""
    if isinstance(state.note, int) and state.observed_at_ms > state.note:
        return state.observed_at_ms - state.note
    times_ms = [commit.at_ms for commit in state.commits[-10:]]
    steps_ms = [later - earlier for earlier, later in pairwise(times_ms)]
    return round(median(steps_ms)) if steps_ms else 0


def joined(places: Mapping[Place, Runs], owed: Owed, known: RoundCosts, target_bytes: int) -> list[Joined]:
    """The files that join a round, for each file that it would make; none where that would be one file.

    How the files of a place are packed does not depend on what they owe, so that more debt never means fewer
    merges.
    """
    parts = (part for runs in places.values() for part in packed(runs, target_bytes))
    found = (_joined_of(part, owed, known, target_bytes) for part in parts)
    return [one for one in found if files_count(one.runs) > 1]


def _joined_of(part: Runs, owed: Owed, known: RoundCosts, target_bytes: int) -> Joined:
    """The files of a part that have paid for their bytes, and those that will have before the next round.

    The bytes of a small file are rewritten at least once, whenever that is, so a merge that finishes them
    costs nothing extra, and all join. Any other merge is followed by one more, and costs the bytes. A file
    that is left out waits for the next round, which is about as far off as this one was from its first file:
    it joins if it would have paid by then. What it has not paid yet does not delay the round.
    """
    cpu_s_per_byte = known.bytes_cpu_s(1)
    if bytes_of(part) >= DONE_SHARE * target_bytes:
        cpu_s_per_byte = 0.0
    debts = [(run, owed(run), cpu_s_per_byte * run.first.size_bytes) for run in part]
    by_next_cpu_s = max((owed_s for _, owed_s, bytes_s in debts if owed_s >= bytes_s), default=-math.inf)
    members = [
        (run, max(0.0, owed_s - bytes_s)) for run, owed_s, bytes_s in debts if bytes_s <= by_next_cpu_s
    ]
    runs = [run for run, _ in members]
    merged_bytes = max(1, bytes_of(runs))
    # The merged file goes on to owe in place of its files: a file that is all of it saves nothing.
    # `fsum` rounds once, as the product does, so that a series sums to exactly what its files sum to.
    savings = (run.count * (gain * (1 - run.first.size_bytes / merged_bytes)) for run, gain in members)
    return Joined(runs, math.fsum(savings))


def merge_figures(merges: Iterable[Joined], known: RoundCosts) -> dict[str, float]:
    runs = [run for one in merges for run in one.runs]
    count, costs = files_count(runs), known.costs
    return {
        "files_joined": count,
        "surplus_cpu_s": sum(one.surplus_cpu_s for one in merges),
        "round_cpu_s": known.round_cpu_s(count, bytes_of(runs)),
        "fixed_cpu_s": costs.fixed_cpu_s,
        "cpu_s_per_file": costs.cpu_s_per_file,
        "cpu_s_per_mib": costs.cpu_s_per_mib,
        "query_s_per_file": costs.query_s_per_file,
        "rounds_learnt_from": known.rounds_count,
    }


def describe_merges(figures: Mapping[str, float]) -> str:
    return (
        f"{figures['files_joined']:.0f} files join, which have paid {figures['surplus_cpu_s']:.4g} CPU s "
        f"beyond their bytes, the fixed cost of a round is {figures['fixed_cpu_s']:.4g} CPU s"
    )


def describe_prices(prices: Prices, merges: Iterable[Joined], state: TableState) -> str:
    """What the decision rests on, with what had to be taken because it is unknown."""
    known = prices.known
    rate = f"{prices.queries_per_s * 60:.4g} queries a minute"
    parts = [rate if prices.knows_rate else f"{rate}, as their rate is unknown"]
    parts.append(f"{known.costs.query_s_per_file:.3g} s a file")
    parts.append(known.describe(state.executor))
    unknown = sum(run.count for one in merges for run in one.runs if run.first.added_at_ms is None)
    if unknown:
        parts.append(f"{unknown} files of unknown age count as a day old")
    return "; ".join(parts)
