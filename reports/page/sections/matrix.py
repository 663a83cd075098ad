"""Several scenarios in one table: cost and latency of each strategy in each scenario."""

from collections.abc import Sequence

from bench.results.metrics import LATENCY
from bench.text import MISSING, named_once
from reports.data.group import RunGroup
from reports.page.sections.answer import best
from reports.page.tables import Cell, Column, Table
from reports.phrases import Verbatim
from reports.text import cost_text, format_value
from reports.verdicts.unmodelled import unmodelled

_NOTE = (
    "Cost, which a heading names, and mean query latency. Bold: the best trade-off of the scenario in a "
    "format, if there is one, as defined below its answer."
)


def matrix(groups: Sequence[RunGroup]) -> Table | None:
    if len(groups) < 2:
        return None
    labels = dict.fromkeys(label for group in groups for label in group.strategies)
    columns = (
        Column("Strategy", is_number=False),
        *(Column(Verbatim(group.manifest.scenario), _about(group)) for group in groups),
    )
    chosen = [{best(part) for part in group.parts} for group in groups]
    rows = tuple(
        (
            Cell(Verbatim(label)),
            *(_cell(group, label, label in some) for group, some in zip(groups, chosen, strict=True)),
        )
        for label in labels
    )
    return Table(columns, rows, _NOTE, caption="Every strategy in every scenario")


def _about(group: RunGroup) -> str:
    formats = named_once(part.manifest.format for part in group.parts)
    return f"{formats}, {group.manifest.mode}: {group.cost.words}"


def _cell(group: RunGroup, label: str, is_best: bool) -> Cell:
    if label not in group.strategies:
        return Cell(MISSING)
    values = group.row(label).values
    cost_s, query_s = values[group.cost_metric], values["query_mean_s"]
    query = format_value(LATENCY, query_s)
    why = unmodelled(group, label, group.cost_metric, LATENCY)
    if why is not None:
        return Cell(why, query)
    return Cell(MISSING if cost_s is None else cost_text(cost_s), query, is_best)
