"""What the variants of a scenario change: each strategy in a variant, compared with the scenario as it is."""

from bench.results.metrics import LATENCY
from bench.results.rows import Row
from reports.load import RunGroup
from reports.page_verdicts import PageVerdicts
from reports.phrases import Verbatim
from reports.tables import Cell, Column, Table, compared, cost_title, durations, seconds

_NOTE = (
    "Each strategy in a variant, compared with the same strategy in the scenario as it is: ratio and 95 % "
    "confidence interval over the repetitions. One that contains 1 is inconclusive, as is one marked as "
    "unproven. The best trade-off above is one of the scenario as it is."
)
_CAPTION = "What the variants change"


def variants(group: RunGroup, verdicts: PageVerdicts) -> Table | None:
    """A row per strategy and variant; None without variants, or without the scenario as it is."""
    labels = set(group.strategies)
    shown = [row for row in group.rows if row.variant is not None and row.base_strategy in labels]
    if not shown:
        return None
    unit, latencies = durations([row.values[LATENCY] for row in shown])
    costs = seconds(row.values[group.cost_metric] for row in shown)
    rows = tuple(
        (
            Cell(Verbatim(row.strategy)),
            Cell(cost, value=row.values[group.cost_metric]),
            _with_base(verdicts, group.cost_metric, row),
            Cell(latency, value=row.values[LATENCY]),
            _with_base(verdicts, LATENCY, row),
        )
        for row, cost, latency in zip(shown, costs, latencies, strict=True)
    )
    columns = (
        Column("Strategy", is_number=False), Column(cost_title(group), "s"),
        Column("Cost vs as it is", "95 % CI"), Column("Query mean", unit),
        Column("Latency vs as it is", "95 % CI"),
    )  # fmt: skip
    return Table(columns, rows, _NOTE, caption=_CAPTION)


def _with_base(verdicts: PageVerdicts, metric: str, row: Row) -> Cell:
    return compared(verdicts.of(metric, row.strategy, row.base_strategy))
