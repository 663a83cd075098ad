"""Every policy in every format, where a scenario has several."""

from bench.results.metrics import LATENCY
from bench.results.rows import Row
from reports.data.formats import part_name
from reports.data.group import RunGroup
from reports.page.tables import Cell, Column, Shown, Table, by_columns, seconds
from reports.phrases import Verbatim
from reports.text import duration_unit
from reports.verdicts.unmodelled import unmodelled, unmodelled_between

_CAPTION = "Each policy in each format: its cost, and the mean query"
_NOTE = (
    "Means over the runs. Formats differ in their tables, their own commands and the rules that a policy has "
    "in each of them, so a policy is chosen within a format."
)


def policies_by_format(group: RunGroup) -> Table | None:
    """A row per policy, and two columns per part of the group; None if it has one part."""
    if len(group.parts) == 1:
        return None
    rows = [{row.base_strategy: row for row in part.choices} for part in group.parts]
    policies = list(dict.fromkeys(policy for of_part in rows for policy in of_part))
    metrics = (group.cost_metric, LATENCY)
    figures = {
        metric: [[_value(group, of_part.get(policy), metric) for policy in policies] for of_part in rows]
        for metric in metrics
    }
    known = [value for column in figures[LATENCY] for value in column if value is not None]
    per_second, unit = duration_unit(max(known, default=0.0))
    heads = {group.cost_metric: (f"{group.cost.title}, s", 1.0), LATENCY: (f"query mean, {unit}", per_second)}
    shown: list[Shown] = [
        (Column("Policy", is_number=False), [Cell(Verbatim(policy)) for policy in policies])
    ]
    for place, part in enumerate(group.parts):
        for metric in metrics:
            words, factor = heads[metric]
            column = [None if value is None else value * factor for value in figures[metric][place]]
            cells = [Cell(text, value=value) for text, value in zip(seconds(column), column, strict=True)]
            shown.append((Column(part_name(part, group), words), cells))
    why = unmodelled_between([group], group.strategies)
    notes = ["Times are modelled."] if group.is_simulated else []
    notes += [_NOTE] if why is None else [_NOTE, f"Do not compare formats here: {why}."]
    if any(value is None for columns in figures.values() for column in columns for value in column):
        notes.append("A dash: the policy does not run there, or its times get no verdict.")
    return by_columns(shown, " ".join(notes), caption=_CAPTION)


def _value(group: RunGroup, row: Row | None, metric: str) -> float | None:
    """None for a policy that the format does not have, and for times that get no verdict."""
    if row is None or unmodelled(group, row.strategy, metric) is not None:
        return None
    return row.values[metric]
