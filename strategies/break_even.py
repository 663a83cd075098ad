"""Rent or buy: compact once waiting has cost queries as much as a round costs.

Source of the rule: a stream of small files is the acknowledgement problem of TCP with a linear cost of delay,
for which paying once the waiting has cost as much is 2-competitive, and no deterministic rule is better
(Dooly, Goldman, Scott 2001). Partitions that share the fixed cost of a round make it joint replenishment.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

from strategies.merging import Runs, bytes_of, files_count, merge_groups, small_runs
from strategies.options import check_range
from strategies.plan import Capability, FileGroup, Plan, Reason, Rewrite
from strategies.planner import Answer, Planner, PlannerTraits
from strategies.round_costs import RoundCosts, round_costs
from strategies.series import Run
from strategies.state import Place, TableState

KIND = "merge"

# The growth that a merge has to bring: one that makes a file of `GROWTH` times the size is one of the merges
# which its bytes need anyway on the way to the target. Chosen in simulations, see docs/decisions.
GROWTH = 8

UNKNOWN_QUERIES_PER_MINUTE = 1.0
UNKNOWN_AGE_MS = 24 * 60 * 60 * 1000


@dataclass(frozen=True, slots=True)
class Prices:
    """What a file owes: `owed_cpu_s` for each file that a query opens, and for each second that it waited.

    `tick_ms` is the time until the next evaluation, which counts as waited.
    """

    queries_per_s: float
    cpu_s_per_query_second: float
    known: RoundCosts
    now_ms: int
    tick_ms: int
    knows_rate: bool

    @property
    def per_s(self) -> float:
        """CPU seconds that a second of latency in each query is worth, for each second that passes."""
        return self.queries_per_s * self.cpu_s_per_query_second

    def waited_s(self, added_at_ms: int | None) -> float:
        age_ms = UNKNOWN_AGE_MS if added_at_ms is None else max(0, self.now_ms - added_at_ms)
        return (age_ms + self.tick_ms) / 1000

    def file_cpu_s(self, run: Run[Any]) -> float:
        """What each file of the run owes."""
        return self.per_s * self.known.costs.query_s_per_file * self.waited_s(run.first.added_at_ms)


@dataclass(frozen=True, slots=True)
class Joined:
    """The files of one place that have paid for their bytes, and what they have paid beyond."""

    runs: Runs
    surplus_cpu_s: float


@dataclass(frozen=True, slots=True)
class BreakEven(Planner):
    """Merge small files once they have cost queries as much as merging them costs.

    Choose it where what counts is the sum of both. It needs to know how often the table is queried, and what
    a second of a query is worth; the rest it learns. A file owes, for each query since it was added, the time that it adds to a query. Files whose debt has paid for their bytes
    join the next round, and the round is made as soon as what they have paid beyond has paid for the fixed
    cost of a round. The time until the next evaluation counts too, so evaluate it often: with the trigger
    `after_commits`, or `every` as often as the stream commits. Files above half of the target are done.

    `queries_per_minute` is the rate of queries; without it the rate at which the table is probed, or one a
    minute if that is unknown. `cpu_s_per_query_second` is how many CPU seconds of compaction a second of one
    query is worth; 0 never compacts.

    Costs are learnt from the rounds of the rule's executor, and expected before: see the plan's detail. A
    file of unknown age counts as a day old. Files that apply deletes owe no more than others, see
    `iceberg.break_even`.
    """

    queries_per_minute: float | None = None
    cpu_s_per_query_second: float = 1.0

    def __post_init__(self) -> None:
        check_range("queries_per_minute", self.queries_per_minute, 0, 1e9)
        check_range("cpu_s_per_query_second", self.cpu_s_per_query_second, 0, 1e9)

    def traits(self) -> PlannerTraits:
        return PlannerTraits(needs=frozenset({Capability.REWRITE}))

    def decide(self, state: TableState) -> Answer:
        prices = self.prices(state, round_costs(state))
        merges = joined(small_runs(state, state.target_file_size_bytes // 2), prices, state)
        figures = merge_figures(merges, prices.known)
        surplus_cpu_s = figures["surplus_cpu_s"]
        groups = groups_of(merges, state.target_file_size_bytes)
        plan = None
        if groups and prices.per_s and surplus_cpu_s >= prices.known.costs.fixed_cpu_s:
            detail = f"{describe_merges(merges, prices)}; {describe_prices(prices, merges, state)}"
            action = Rewrite(groups, state.target_file_size_bytes)
            plan = Plan((action,), Reason.COST, detail, KIND)
        return Answer(plan, state.observed_at_ms, figures)

    def prices(self, state: TableState, known: RoundCosts) -> Prices:
        rate_per_s = state.probe_rate_per_s or UNKNOWN_QUERIES_PER_MINUTE / 60
        if self.queries_per_minute is not None:
            rate_per_s = self.queries_per_minute / 60
        knows_rate = self.queries_per_minute is not None or state.probe_rate_per_s > 0
        return Prices(
            rate_per_s, self.cpu_s_per_query_second, known, state.observed_at_ms, _tick_ms(state), knows_rate
        )


def _tick_ms(state: TableState) -> int:
    """The time until the next evaluation: as long as since the last one, or between the latest commits."""
    if isinstance(state.note, int) and state.observed_at_ms > state.note:
        return state.observed_at_ms - state.note
    times_ms = [commit.at_ms for commit in state.commits[-10:]]
    steps_ms = [later - earlier for earlier, later in pairwise(times_ms)]
    return round(median(steps_ms)) if steps_ms else 0


def joined(places: Mapping[Place, Runs], prices: Prices, state: TableState) -> list[Joined]:
    """The files that join a round, by place; none of a place in which only one has paid."""
    found = (_joined_of(runs, prices, state.target_file_size_bytes) for runs in places.values())
    return [one for one in found if files_count(one.runs) > 1]


def _joined_of(runs: Runs, prices: Prices, target_bytes: int) -> Joined:
    """The most files of a place that have paid for their bytes, given how large the merged file gets.

    More files make a larger file, in which the bytes of each are cheaper (`charge`). So each file needs an
    output of some size to join, and as many as have it join: the longest prefix in the order of that need.
    """
    needed = sorted(
        ((_needed_bytes(run, prices), place) for place, run in enumerate(runs)),
    )
    total_bytes = bytes_of(runs)
    while needed and needed[-1][0] > min(total_bytes, target_bytes):
        _, place = needed.pop()
        total_bytes -= runs[place].count * runs[place].first.size_bytes
    members = [runs[place] for place in sorted(place for _, place in needed)]
    output_bytes = min(total_bytes, target_bytes)
    return Joined(members, sum(_surplus_cpu_s(members, output_bytes, prices)))


def _needed_bytes(run: Run[Any], prices: Prices) -> float:
    """The least size of the merged file at which a file of the run has paid for its bytes."""
    size_bytes = run.first.size_bytes
    bytes_cpu_s = prices.known.bytes_cpu_s(size_bytes)
    if not bytes_cpu_s:
        return 0.0
    return float(size_bytes * GROWTH ** (1 - prices.file_cpu_s(run) / bytes_cpu_s))


def charge_cpu_s(size_bytes: int, output_bytes: float, known: RoundCosts) -> float:
    """What a file is charged for its bytes if a merge makes a file of `output_bytes` of them.

    A byte is rewritten about log(target / size) / log(`GROWTH`) times until its file has the target size,
    whenever that is done. A merge that makes the file `GROWTH` times as large is one of these, and costs
    nothing extra. One that makes it less large leaves more of them to do, and costs the rest.
    """
    if not size_bytes:
        return 0.0
    growth = math.log(max(output_bytes, size_bytes) / size_bytes, GROWTH)
    return known.bytes_cpu_s(size_bytes) * max(0.0, 1 - growth)


def _surplus_cpu_s(runs: Iterable[Run[Any]], output_bytes: int, prices: Prices) -> Iterator[float]:
    """What each run has paid beyond its bytes, less its share in what the merged file goes on to owe."""
    for run in runs:
        size_bytes = run.first.size_bytes
        gain_cpu_s = prices.file_cpu_s(run) - charge_cpu_s(size_bytes, output_bytes, prices.known)
        share = size_bytes / output_bytes if output_bytes else 1.0
        yield run.count * gain_cpu_s * (1 - share)


def groups_of(merges: Iterable[Joined], target_bytes: int) -> tuple[FileGroup, ...]:
    return tuple(group for one in merges for group in merge_groups(one.runs, target_bytes))


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


def describe_merges(merges: Iterable[Joined], prices: Prices) -> str:
    count = sum(files_count(one.runs) for one in merges)
    surplus_cpu_s = sum(one.surplus_cpu_s for one in merges)
    fixed_cpu_s = prices.known.costs.fixed_cpu_s
    return (
        f"{count} files owe {surplus_cpu_s:.4g} CPU s beyond their bytes >= {fixed_cpu_s:.4g} CPU s, "
        "the fixed cost of a round"
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
