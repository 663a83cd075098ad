"""Money a month: which strategy is the cheapest at the scenario's prices, and a column for tables."""

from collections.abc import Mapping, Sequence

from bench.results.metrics import LATENCY
from bench.results.money import MONTH_DAYS
from bench.results.rows import Row
from bench.text import human_duration, human_number, human_percent
from reports.data.group import RunGroup
from reports.page.tables import Cell, Column, Shown, has_values, ratio_text
from reports.phrases import Sentence, Verbatim, joined, listed, say, sentence
from reports.text import format_value
from reports.verdicts.compare import Comparison
from reports.verdicts.money import MONEY, by_money, money_intervals
from reports.verdicts.page_verdicts import PageVerdicts
from reports.verdicts.repeating import MODELLED_TOLERANCE


def cheapest_in_money(group: RunGroup, verdicts: PageVerdicts) -> tuple[Sentence, ...]:
    """The cheapest strategy, those that are not told apart from it, and what the others cost."""
    rows = by_money(group)
    if not rows:
        return ()
    cheapest, m = rows[0], group.manifest
    compared = {row.strategy: verdicts.of(MONEY, row.strategy, cheapest.strategy) for row in rows[1:]}
    alike = [label for label, comparison in compared.items() if comparison and _is_alike(comparison)]
    other = next((row for row in rows[1:] if row.is_baseline != cheapest.is_baseline), cheapest)
    latency_s = cheapest.values[LATENCY]
    said = sentence(
        "{at} {rate} queries an hour{mean} {strategy} is the cheapest in {parts}: {currency} {money} a month"
        "{interval}{query}.",
        at="As modelled, at" if group.is_simulated else "At", rate=human_number(m.queries_per_h or 0.0),
        mean="" if m.query_weights is None else " on average",
        strategy=Verbatim(cheapest.strategy), parts=_parts(group), currency=m.currency,
        money=_a_month(cheapest.values[MONEY]), interval=_within(money_intervals(group), cheapest, " ({})"),
        query="" if latency_s is None else f", with a mean query of {human_duration(latency_s)}",
    )  # fmt: skip
    if alike:
        has_intervals = any(one.has_interval for one in compared.values() if one)
        is_rough = group.is_simulated and not has_intervals
        how = f"Within {human_percent(MODELLED_TOLERANCE)} of it" if is_rough else "Not told apart"
        said += sentence(" {how}: {labels}.", how=how, labels=listed(alike))
    against = compared.get(other.strategy)
    if against is not None and against.ratio is not None and other.strategy not in alike:
        said += say(" ", Verbatim(other.strategy), f" costs {ratio_text(against)}.")
    return (said,)


def money_column(group: RunGroup, rows: Sequence[Row]) -> tuple[Shown, ...]:
    """Money a month with its interval, where it is known."""
    if not has_values(rows, MONEY):
        return ()
    intervals = money_intervals(group)
    cells = [
        Cell(_a_month(row.values[MONEY]), _within(intervals, row, "{}"), value=row.values[MONEY])
        for row in rows
    ]
    return ((Column("Cost per month", group.manifest.currency), cells),)


def _is_alike(comparison: Comparison) -> bool:
    """Whether the noise is known and does not tell a strategy from the cheapest."""
    return comparison.low is not None and not comparison.is_decided


def _parts(group: RunGroup) -> Sentence:
    """What the money pays for, as far as it has a price."""
    m = group.manifest
    priced = (
        ("compute", True), ("queries", True), ("storage", m.price_per_storage_gb_month is not None),
        ("requests", None not in (m.price_per_1000_puts, m.price_per_1000_gets)),
    )  # fmt: skip
    return joined([say(name) for name, has_price in priced if has_price])


def _a_month(per_day: float | None) -> str:
    return format_value("money", None if per_day is None else per_day * MONTH_DAYS)


def _within(intervals: Mapping[str, tuple[float, float] | None], row: Row, template: str) -> str:
    """The interval of a strategy's money a month; empty if its noise is not known."""
    ends = intervals.get(row.strategy)
    return template.format(f"{_a_month(ends[0])} to {_a_month(ends[1])}") if ends else ""
