"""What the variants of a scenario change: each strategy in a variant, compared with the scenario as it is."""

from bench.results.metrics import LATENCY
from reports.load import RunGroup
from reports.page_verdicts import PageVerdicts
from reports.tables import Table, Versus, versus_table

_NOTE = (
    "Each strategy in a variant, compared with the same strategy in the scenario as it is: ratio and 95 % "
    "confidence interval over the repetitions. One that contains 1 is inconclusive, as is one marked as "
    "unproven. The best trade-off above is one of the scenario as it is."
)


def variants(group: RunGroup, verdicts: PageVerdicts) -> Table | None:
    """A row per strategy and variant; None without variants, or without the scenario as it is."""
    labels = set(group.strategies)
    shown = [row for row in group.rows if row.variant is not None and row.base_strategy in labels]
    if not shown:
        return None
    cost_metric = group.cost_metric
    lines = [
        Versus(
            row.strategy, row.values[cost_metric], row.values[LATENCY],
            verdicts.of(cost_metric, row.strategy, row.base_strategy),
            verdicts.of(LATENCY, row.strategy, row.base_strategy),
        )
        for row in shown
    ]  # fmt: skip
    return versus_table(group, lines, "as it is", _NOTE, "What the variants change")
