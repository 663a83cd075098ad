"""What strategies cost over the best schedule in hindsight, where a search has stored it beside the runs."""

from bench.text import human_number
from reports.data.group import RunGroup
from reports.page.tables import Column, Table, figure_cell, strategy_table
from reports.text import cost_text
from reports.verdicts.regrets import EXTRA_CPU, Regrets, stored_regrets

_CAPTION = "Extra CPU over that of the best schedule in hindsight, as modelled"
_NOTE = (
    f"{EXTRA_CPU} The best schedule knew the whole stream; its extra CPU is "
    "{best}. compactbench hindsight says at which moments it compacts, and how much less any schedule could "
    "take."
)


def over_best(group: RunGroup) -> Table | None:
    """A row per strategy and a column per rate of queries, the least first at the highest rate."""
    every = stored_regrets(group.runs)
    if not every:
        return None
    rows = sorted(group.choices, key=lambda row: _place(every[-1].extra_s(row.strategy)))
    best = ", ".join(f"{cost_text(one.best_extra_s)} at {_rate(one)} queries/h" for one in every)
    shown = [
        (
            Column(_rate(one), "queries/h"),
            [figure_cell("ratio", one.over_best(row.strategy)) for row in rows],
        )
        for one in every
    ]
    return strategy_table(rows, shown, _NOTE.format(best=best), _CAPTION)


def _place(extra_s: float | None) -> tuple[bool, float]:
    """Unknown costs come last."""
    return extra_s is None, extra_s or 0.0


def _rate(one: Regrets) -> str:
    return human_number(one.found.queries_per_h)
