"""Rent or buy on Iceberg tables with delete files, see `strategies.break_even`."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import attrgetter
from statistics import fmean

from strategies.break_even import (
    LEFT_ALONE_SHARE,
    BreakEven,
    Prices,
    describe_merges,
    describe_prices,
    joined,
    merge_figures,
)
from strategies.iceberg.delete_planners import convert_groups, is_converted, unneeded_deletes
from strategies.iceberg.deletes.index import DeleteIndex, delete_index
from strategies.iceberg.files import IcebergDataFile, IcebergState
from strategies.merging import merge_groups, small_runs
from strategies.plan import Capability, FileGroup, Plan, Reason, Rewrite, state_as
from strategies.planner import Answer, PlannerTraits
from strategies.round_costs import RoundCosts, round_costs, seen_rounds
from strategies.series import Run
from strategies.state import TableState

CONVERSION = "conversion"  # the kind of `iceberg.convert_deletes` too
LATEST_CONVERSIONS = 3


@dataclass(frozen=True, slots=True)
class IcebergBreakEven(BreakEven):
    """Like `break_even`, with a price for deletes too: for tables with delete files, given a query rate.

    Each pair of a data file and a delete file that applies to it owes the time that it has added to each
    query since the delete file was added. Pairs of small files count towards merging these files, which
    applies their deletes. Once the pairs of all other files have paid for a conversion, the deletes of all
    files that stay are converted to one delete file each, and small files are merged in the same commit. A
    conversion costs what the last ones did.

    A file is rewritten instead of converted once filtering its deleted rows has cost as much as rewriting it:
    the more of its rows are deleted, the more a query reads in vain, and the fewer bytes are to be written.
    Its deleted rows are those of deletes that name the file, such as converted ones; whether others hit it is
    unknown.

    `queries_per_minute` and `cpu_s_per_query_second` are those of `break_even`. In a table with deletes
    nothing is planned while another plan is pending.
    """

    def traits(self) -> PlannerTraits:
        return PlannerTraits(needs=frozenset({Capability.REWRITE, Capability.CONVERT}), decides_when=True)

    def decide(self, state: TableState) -> Answer:
        table = state_as(IcebergState, state)
        if not table.delete_files:
            return BreakEven.decide(self, table)
        if table.pending:
            return Answer(None, state.observed_at_ms)
        return _answer(table, self.prices(state, round_costs(state, frozenset({CONVERSION}))))


@dataclass(frozen=True, slots=True)
class _Debts:
    """What the deletes of data files owe."""

    index: DeleteIndex
    prices: Prices
    numbers: list[int]  # data sequence numbers of all delete files, ascending
    waited_s: list[float]  # sums of the time that the delete files from each place on have waited

    def pairs_cpu_s(self, file: IcebergDataFile, spared_count: int = 0) -> float:
        """What the pairs of the file owe, but for so many of them, which will stay."""
        count = self.index.applying_to(file).files_count - spared_count
        if count <= 0:
            return 0.0
        per_pair = self.prices.cpu_s_per_s * self.prices.known.costs.query_s_per_delete
        return per_pair * count * self._mean_waited_s(file)

    def _mean_waited_s(self, file: IcebergDataFile) -> float:
        """The mean over all delete files of the table that are newer than the file, whatever their scope."""
        place = min(bisect_right(self.numbers, file.data_sequence_number), len(self.numbers) - 1)
        return self.waited_s[place] / (len(self.numbers) - place)

    def weight_bytes(self, run: Run[IcebergDataFile]) -> int:
        """Of a file of the run where it is cut into tasks: it comes with all deletes that apply to it."""
        return run.first.size_bytes + self.index.applying_to(run.first).size_bytes

    def owed_cpu_s(self, run: Run[IcebergDataFile]) -> float:
        """What a small file of the run owes: for itself, and for the pairs that a merge leaves none of."""
        return self.prices.file_cpu_s(run) + self.pairs_cpu_s(run.first)


def _debts(table: IcebergState, prices: Prices) -> _Debts:
    deletes = sorted(table.delete_files, key=attrgetter("data_sequence_number"))
    newest_first = accumulate(prices.waited_s(delete.added_at_ms) for delete in reversed(deletes))
    numbers = [delete.data_sequence_number for delete in deletes]
    return _Debts(delete_index(table), prices, numbers, [*newest_first][::-1])


@dataclass(frozen=True, slots=True)
class _Applied:
    """A file whose deletes are applied by rewriting it: filtering them has cost at least as much."""

    file: IcebergDataFile
    deleted_share: float
    filtered_cpu_s: float
    rewrite_cpu_s: float


def _answer(table: IcebergState, prices: Prices) -> Answer:
    debts, target_bytes = _debts(table, prices), table.target_file_size_bytes
    places = small_runs(table, target_bytes * LEFT_ALONE_SHARE, with_equal_keys=True)
    merges = joined(places, debts.owed_cpu_s, prices.known, target_bytes)
    merged = tuple(
        group
        for one in merges
        for group in merge_groups(sorted(one.runs, key=debts.weight_bytes), target_bytes, debts.weight_bytes)
    )
    named = frozenset(path for group in merged for path in group.paths)
    others = (file for file in table.data_files if file.path not in named)
    staying = sorted(others, key=attrgetter("partition", "path"))
    applied = list(_applied(staying, debts))
    groups = (*merged, *(FileGroup((one.file.path,), one.file.partition) for one in applied))
    rewritten = named.union(one.file.path for one in applied)
    left = [file for file in staying if file.path not in rewritten]
    figures = {
        **merge_figures(merges, prices.known),
        "files_applied": len(applied),
        "applied_surplus_cpu_s": sum(one.filtered_cpu_s - one.rewrite_cpu_s for one in applied),
        "pairs_owed_cpu_s": sum(debts.pairs_cpu_s(file, spared_count=1) for file in left),
        "conversion_cpu_s": _conversion_cpu_s(table, prices.known, debts.index, left),
    }
    why = f"{describe_merges(figures)}; {_describe_applied(applied)}"
    detail = f"{describe_prices(prices, merges, table)}{_describe_ages(table)}"
    plan = None
    if prices.cpu_s_per_s > 0 and figures["pairs_owed_cpu_s"] >= figures["conversion_cpu_s"]:
        plan = _conversion(table, groups, left, debts.index, f"{_describe_pairs(figures)}; {why}; {detail}")
    surplus_cpu_s = figures["surplus_cpu_s"] + figures["applied_surplus_cpu_s"]
    if plan is None and groups and prices.pays_for_a_round(surplus_cpu_s):
        action = Rewrite(groups, target_bytes, unneeded_deletes(table, left))
        plan = Plan((action,), Reason.COST, f"{why}; {_describe_pairs(figures)}; {detail}", "merge")
    return Answer(plan, table.observed_at_ms, figures)


def _conversion(
    table: IcebergState,
    groups: tuple[FileGroup, ...],
    left: Iterable[IcebergDataFile],
    index: DeleteIndex,
    detail: str,
) -> Plan | None:
    """All deletes of the files left are converted, so each delete file but converted ones is dropped."""
    converted = [f for f in left if index.applying_to(f).files_count and not is_converted(f, index)]
    if not converted:
        return None
    paths = frozenset(file.path for file in converted)
    removed = unneeded_deletes(table, (file for file in left if file.path not in paths))
    action = Rewrite((*groups, *convert_groups(converted)), table.target_file_size_bytes, removed)
    return Plan((action,), Reason.DELETES, detail, CONVERSION)


def _applied(files: Iterable[IcebergDataFile], debts: _Debts) -> Iterator[_Applied]:
    """The files for which filtering has cost as much as rewriting costs.

    Their deleted rows came one by one, so on average half of them were filtered since the file was added.
    """
    prices, known = debts.prices, debts.prices.known
    for file in files:
        deleted_rows = debts.index.applying_to(file).file_scoped_rows
        if not (deleted_rows and file.rows):
            continue
        share = min(1.0, deleted_rows / file.rows)
        million_rows = share / 2 * file.rows / 1e6
        filtered_s = known.costs.query_s_per_delete + million_rows * known.costs.query_s_per_million_rows
        filtered_cpu_s = prices.cpu_s_per_s * prices.waited_s(file.added_at_ms) * filtered_s
        rewrite_cpu_s = known.bytes_cpu_s(file.size_bytes) * (1 - share / 2)
        if filtered_cpu_s >= rewrite_cpu_s:
            yield _Applied(file, share, filtered_cpu_s, rewrite_cpu_s)


def _conversion_cpu_s(
    table: IcebergState, known: RoundCosts, index: DeleteIndex, files: Iterable[IcebergDataFile]
) -> float:
    """The mean of the last conversions; before the first one what a conversion of these files should cost."""
    seen = [c.cpu_s for c in seen_rounds(table) if c.kind == CONVERSION]
    if seen:
        return fmean(seen[-LATEST_CONVERSIONS:])
    pairs_count = sum(index.applying_to(file).files_count for file in files)
    return known.costs.conversion_cpu_s + known.costs.cpu_s_per_delete * pairs_count


def _describe_applied(applied: Sequence[_Applied]) -> str:
    shares = [one.deleted_share for one in applied]
    if not shares:
        return "no file is cheaper to rewrite than to filter"
    filtered_cpu_s = sum(one.filtered_cpu_s for one in applied)
    rewrite_cpu_s = sum(one.rewrite_cpu_s for one in applied)
    return (
        f"{len(shares)} files, {fmean(shares):.2g} of whose rows are deleted, are cheaper to rewrite: that "
        f"costs {rewrite_cpu_s:.4g} CPU s, and filtering has cost {filtered_cpu_s:.4g} CPU s"
    )


def _describe_pairs(figures: dict[str, float]) -> str:
    return (
        f"deletes of files that stay owe {figures['pairs_owed_cpu_s']:.4g} CPU s, a conversion costs "
        f"{figures['conversion_cpu_s']:.4g} CPU s"
    )


def _describe_ages(table: IcebergState) -> str:
    unknown = sum(delete.added_at_ms is None for delete in table.delete_files)
    return f"; {unknown} delete files of unknown age count as a day old" if unknown else ""
