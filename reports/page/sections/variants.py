"""What the variants of a scenario change: each strategy in a variant, compared with the scenario as it is."""

from bench.results.metrics import LATENCY
from reports.data.formats import format_name
from reports.data.group import RunGroup
from reports.page.blocks import Prose
from reports.page.tables import Table, Versus, versus_table
from reports.phrases import say
from reports.verdicts.compare import Comparison
from reports.verdicts.page_verdicts import PageVerdicts
from reports.verdicts.unmodelled import unmodelled_between

_NOTE = (
    "Each strategy in a variant, compared with the same strategy in the scenario as it is: ratio and 95 % "
    "confidence interval, a moderated t-interval over the repetitions. One that contains 1 is inconclusive, "
    "as is one marked as unproven."
)
_MODELLED = (
    "Each strategy in a variant, compared with the same strategy in the scenario as it is; all ratios are "
    "modelled."
)
_OF_BASE = "The best trade-off above is for the scenario as it is."


def variants(group: RunGroup, verdicts: PageVerdicts) -> Table | Prose | None:
    """A row per strategy and variant that can be compared with the scenario as it is, or why none can.

    None without variants, or without the scenario as it is.
    """
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
    lines = [line for line in lines if _has_ratio(line.cost) or _has_ratio(line.latency)]
    why = unmodelled_between([group], group.strategies)
    if not lines:
        return None if why is None else Prose(say(f"Variants are not compared: the {why}."))
    notes = [_MODELLED if group.is_simulated else _NOTE, _formats(group)]
    notes += [] if why is None else [f"Variants in another format are left out: the {why}."]
    return versus_table(group, lines, "as it is", " ".join(notes), "What the variants change")


def _has_ratio(comparison: Comparison | None) -> bool:
    return comparison is not None and comparison.ratio is not None


def _formats(group: RunGroup) -> str:
    """The formats of the variants and what a ratio of two formats covers, if there are several."""
    own, *others = group.parts
    if not others:
        return _OF_BASE
    named = [f"variant {part.rows[0].variant} is {format_name(part)}" for part in others]
    return (
        f"As it is, the scenario is {format_name(own)}; {', '.join(named)}. A ratio of two formats is that "
        "of their tables, their own commands and the rules that the strategy has in each."
        + ("" if group.is_simulated else " Their verdicts are corrected for their own number.")
    )
