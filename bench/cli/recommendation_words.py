"""A recommendation in sentences."""

import math
from collections.abc import Iterator, Sequence
from functools import partial

from bench.results.cells import cell_of
from bench.results.metrics import LATENCY, METRIC_BY_NAME
from bench.results.rows import Row
from bench.text import human_ratio, named_once
from reports.data.cost import COMPACTION_CPU, COMPACTION_TIME, TOTAL_CPU
from reports.data.families import families
from reports.data.group import RunGroup
from reports.page.sections.keeping_up import keeping_up
from reports.text import format_value
from reports.verdicts.compare import Comparison
from reports.verdicts.limit import Limit
from reports.verdicts.money import MONEY
from reports.verdicts.recommended import Kept, Recommendation
from reports.verdicts.robust import Robust

_SHOWN = 5
# Costs by which policies are compared, in words; any other figure was asked for by its name, and keeps it.
_COSTS = {cost.metric: cost.words for cost in (COMPACTION_CPU, COMPACTION_TIME, TOTAL_CPU)} | {
    MONEY: "cost per day"
}


def sentences(group: RunGroup, answer: Recommendation, limits: Sequence[Limit]) -> Iterator[str]:
    """Beginning with who keeps up with the stream."""
    yield from map(str, keeping_up(group))
    objective, best = answer.objective, answer.best
    words, value_text = _in_words(objective), partial(_with_currency, group)
    choices = [row for row in group.choices if row.strategy not in answer.behind]
    without = [row.strategy for row in choices if row.values[objective] is None]
    if best is None:
        yield _no_answer(group, answer, limits, choices)
    else:
        label = best.strategy
        yield f"Run {label}: {group.manifest_of(label).strategy_summary}."
        value = value_text(objective, best.values[objective])
        most = "most" if METRIC_BY_NAME[objective].better == "higher" else "least"
        judged_count = len(choices) - len(without) - len(answer.unjudged)
        if len(answer.keeping) == 1:
            of = "and no other strategy keeps the limits"
        elif len(answer.keeping) == judged_count and limits:
            of = f"the {most} of all {judged_count:,}: the limits exclude none"
        else:
            of = f"the {most} of {len(answer.keeping):,} that keep the limits"
        yield f"Its {words} is {value}, {of}."
        yield from (_kept_in_words(group, kept) for kept in answer.kept)
    if answer.rising_s is not None and all(kept.at_end is None for kept in answer.kept):
        last = format_value(LATENCY, answer.rising_s)
        yield f"Its queries get slower: {last} in the last quarter of the stream, and more after it."
    if answer.few is not None:
        times = "once" if answer.few == 1 else "twice"
        yield f"It compacted {times} only: its figures depend on where the stream happens to end."
    if answer.safe:
        safe = value_text(objective, answer.safe.values[objective])
        yield f"To be safe: {answer.safe.strategy}, {safe}, keeps the limits by more than that."
    if answer.beyond:
        row, limit = answer.beyond
        yield (
            f"{'Cheaper' if objective in _COSTS else 'Better'}, but beyond a limit: {row.strategy}, "
            f"{value_text(objective, row.values[objective])} with {limit.metric} = "
            f"{value_text(limit.metric, row.values[limit.metric])}."
        )
    if group.alike:
        yield f"Left out, because all their figures are those of another one: {group.alike_in_words}."
    if best is not None and (near := _neighbours(group, best, objective, limits)):
        yield f"Next to it: {'; '.join(near)}."
    if best is not None and without:
        yield f"Left out, because their {words} is not known: {named_once(without)}."
    if answer.same:
        yield f"With the very same {words}: {named_once(answer.same)}."
    if answer.alike:
        shown = "; ".join(f"{label} ({_ratio(one)})" for label, one in answer.alike[:_SHOWN])
        more = f"; and {len(answer.alike) - _SHOWN:,} more" if len(answer.alike) > _SHOWN else ""
        why = "the errors of the model do not" if group.is_simulated else "noise does not"
        yield f"By {words}, {why} tell it from {shown}{more}."
    for why in dict.fromkeys(why for _, why in answer.unjudged):
        yield f"No verdict on {named_once(label for label, own in answer.unjudged if own == why)}: {why}."


def _in_words(metric: str) -> str:
    return _COSTS.get(metric, metric)


def _with_currency(group: RunGroup, metric: str, value: float | None) -> str:
    currency = f"{group.manifest.currency} " if METRIC_BY_NAME[metric].unit == "money" else ""
    return f"{currency}{format_value(metric, value)}"


def _no_answer(
    group: RunGroup, answer: Recommendation, limits: Sequence[Limit], choices: Sequence[Row]
) -> str:
    who = "Of the strategies that keep up, none" if answer.behind else "No strategy"
    has_objective = [row.values[answer.objective] is not None for row in choices]
    if unknown := [
        limit.metric for limit in limits if all(row.values[limit.metric] is None for row in choices)
    ]:
        return f"No strategy has the figure {named_once(unknown)}."
    if answer.unjudged:
        return f"{who} with comparable seconds keeps the limits."
    if not limits or not any(has_objective):
        return f"{who} has the figure {answer.objective}."
    kept = named_once(
        f"{limit.metric} {limit.sign} {_with_currency(group, limit.metric, limit.value)}" for limit in limits
    )
    known = "" if all(has_objective) else f" whose {_in_words(answer.objective)} is known"
    no_strategy = f"{who}{known} keeps {kept}."
    if answer.nearest is None:
        return no_strategy
    row, limit = answer.nearest
    value = _with_currency(group, limit.metric, row.values[limit.metric])
    return f"{no_strategy} The nearest is {row.strategy} with {limit.metric} = {value}."


def _neighbours(group: RunGroup, best: Row, objective: str, limits: Sequence[Limit]) -> list[str]:
    """The settings on either side of the best one on its curve, if it is a cell of a sweep."""
    cell, rows = cell_of(best.strategy), {row.strategy: row for row in group.choices}
    family = families(rows).get(cell.family, ()) if cell else ()
    if cell is None or not family:
        return []
    curve = [one for one in family if one.curve == cell.curve]
    place, words = curve.index(cell), list[str]()
    for one in (*curve[max(0, place - 1) : place], *curve[place + 1 : place + 2]):
        values, least = rows[one.label].values, best.values[objective]
        figures = [
            f"{limit.metric} {_with_currency(group, limit.metric, values[limit.metric])}" for limit in limits
        ]
        if (value := values[objective]) is not None and least:
            figures.insert(0, f"{human_ratio(value / least)} the {_in_words(objective)}")
        words.append(f"{one.short} with {', '.join(figures)}")
    return words


def _kept_in_words(group: RunGroup, kept: Kept) -> str:
    metric, bound = kept.limit.metric, "at most" if kept.limit.is_upper else "at least"
    value, limit = (_with_currency(group, metric, one) for one in (kept.value, kept.limit.value))
    if kept.at_end is not None:
        last = format_value(metric, kept.at_end)
        return f"{metric} is {value}, but {last} in the last quarter of the stream: beyond {limit}."
    if kept.factor is None:
        return f"{metric} is {value}, {bound} {limit}; by how much it may differ is not known."
    if kept.is_sure:
        within = "" if kept.factor == 1 else f", also if it is {human_ratio(kept.factor)} off"
        return f"{metric} is {value}, {bound} {limit}{within}."
    factor = human_ratio(kept.factor)
    return f"{metric} is {value}, {bound} {limit}, but it may be {factor} off: the limit may not hold."


def _ratio(comparison: Comparison) -> str:
    if comparison.ratio is None or comparison.low is None or comparison.high is None:
        return "ratio not known"
    interval = f", {human_ratio(comparison.low)} to {human_ratio(comparison.high)}"
    return f"{human_ratio(comparison.ratio)}{interval if comparison.has_interval else ''}"


def robust_sentence(choice: Robust | None, objective: str) -> str:
    """The answer for several scenarios together."""
    words = _in_words(objective)
    if choice is None:
        return "No strategy keeps the limits in all of them."
    if choice.factor == 1:
        how_good = f"Its {words} is the best in each."
    elif math.isinf(choice.factor):
        how_good = f"The best {words} of one of them is 0, which it does not have."
    else:
        how_good = f"Its {words} is within {human_ratio(choice.factor)} of the best in each."
    return f"Run {choice.strategy}: it keeps the limits in all of them. {how_good}"
