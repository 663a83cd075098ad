"""The answer: the best trade-off, and the cheapest strategy for each latency that may be acceptable."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from bench.results.metrics import LATENCY
from bench.results.rows import BASELINE, Row
from bench.text import human_duration, human_percent, human_ratio
from reports.data.group import RunGroup
from reports.data.queries import query_text
from reports.page.sections.costs import about_dashes, about_intervals, break_even_column
from reports.page.sections.money import money_column
from reports.page.tables import Cell, Column, Table, by_columns, durations, has_values, metric_cells, seconds
from reports.phrases import Sentence, Verbatim, joined, listed, say, sentence, separated
from reports.text import cost_text
from reports.verdicts.apart import is_told_apart, not_told_apart
from reports.verdicts.best import likely_best
from reports.verdicts.compare import corrected
from reports.verdicts.judge import compare_strategies
from reports.verdicts.pareto_front import (
    Point,
    alike,
    candidates,
    compacting_front,
    differ_in_staleness,
    pareto_front,
    points,
)
from reports.verdicts.repeating import MODELLED_TOLERANCE

_BUDGET_METRICS = (  # shown after cost and latency, where a run has a value
    ("files_end", "Files at end"),
    ("delete_files_end", "Delete files at end"),
    ("storage_bytes_end", "Storage at end"),
)
TRADE_OFF = say(
    "Best trade-off: the knee of the Pareto front, which is the strategy farthest below the chord between "
    "the cheapest and the fastest compacting strategy, on logarithmic axes. It is a rule of thumb, and "
    "depends on the strategies that ran."
)
_BREAK_EVEN = f"Break-even: with more queries, a strategy takes less CPU than {BASELINE}."
_TOLERANCE = human_percent(MODELLED_TOLERANCE)
_EITHER_SHOWN = 5  # strategies of which any may be the best


def headline(group: RunGroup) -> tuple[Sentence, ...]:
    """What to choose, and the trade-off of that choice; dominated strategies are not named."""
    return tuple(_headline(group))


def _headline(group: RunGroup) -> Iterator[Sentence]:
    all_points, choices = points(group), compacting_front(group)
    if not all_points:
        yield say("No strategy has a compaction cost and a query latency that can be compared.")
        if group.is_simulated and group.usable_runs:
            yield say(
                "Counts and bytes hold. For a verdict on seconds, simulate a shorter stream or a smaller "
                "table with as many files, or fit the model to larger tables (calibrate)."
            )
        return
    if choices:
        yield sentence("{basis}{choice}", basis=_basis(group), choice=_choice(group, choices))
        yield _without_compaction(group, choices)
        yield from _waiting(group)
        yield from _by_total_cost(group)
    elif any(not point.is_baseline for point in candidates(all_points)):
        text = "{basis}no compaction strategy has a lower mean query latency than {never}."
        yield sentence(text, basis=_basis(group), never=Verbatim(group.rows[0].baseline))
    else:
        yield say("No strategy compacted during the stream.")
    yield from _idle(all_points)
    if choices:
        yield from _unplaced(group, all_points)
        if group.cost is not group.compaction_cost:
            yield say(
                "Costs are the CPU of commits and policy together, since not all strategies commit in the "
                "same way."
            )


def budgets(group: RunGroup) -> Table | None:
    """A row for each point of the front, the fastest first; None if there is no choice.

    Latencies are rounded up, so that each holds as a limit. Of several with one printed latency the cheapest
    has the row. A strategy that did the same as the point of a row, or is not told apart from it, shares it.
    """
    front = pareto_front(points(group))[::-1]
    if differ_in_staleness(front):
        return None
    unit, printed = durations([point.query_s for point in front], rounded_up=True)
    by_latency = dict(zip(printed, front, strict=True))  # of one latency the last, which is the cheapest
    latencies, front = tuple(by_latency), tuple(by_latency.values())
    if len(front) < 2:
        return None
    rows = [group.row(point.strategy) for point in front]
    metrics = [
        (name, group.in_delete_words(title), "") for name, title in _BUDGET_METRICS if _is_shown(rows, name)
    ]
    rates, money = break_even_column(group, rows), money_column(group, rows)
    costs = zip(seconds(point.cost_s for point in front), front, strict=True)
    shown = [
        (Column("If the mean query may take up to", unit),
         [Cell(text, value=point.query_s) for text, point in zip(latencies, front, strict=True)]),
        (Column("Cheapest strategy", is_number=False), [_shared(group, point) for point in front]),
        (Column(group.cost.title, "s"), [Cell(text, value=point.cost_s) for text, point in costs]),
        *((Column(title, of), [Cell(c.text, value=c.value) for c in metric_cells(rows, name)])
          for name, title, of in metrics),
        *rates, *money,
    ]  # fmt: skip
    modelled = "Times and bytes are modelled. " if group.is_simulated else ""
    means = (
        f"{modelled}Means of the strategies on the Pareto front; the summary has intervals and the others."
    )
    about_rates = (_BREAK_EVEN, *about_dashes(rates, rows)) if rates else ()
    note = " ".join((means, *about_rates, *about_intervals(*rates, *money)))
    caption = "The cheapest strategy for each mean query latency that may be acceptable"
    return by_columns(shown, note, caption=caption)


def _shared(group: RunGroup, point: Point) -> Cell:
    others = [
        *(label for label, better in not_told_apart(group).items() if better == point.strategy),
        *group.twins(point.strategy),
    ]
    return Cell(Verbatim(point.strategy), f"or {', '.join(others)}" if others else "")


def primary_query(group: RunGroup) -> Sentence:
    """Which query the latencies are of, with its text where the run recorded it."""
    m = group.manifest
    sql = query_text(group, m.primary_probe)
    return sentence(
        "The latencies are those of the primary query, {name}{text}.",
        name=Verbatim(m.primary_probe), text=say(": ", Verbatim(sql)) if sql else "",
    )  # fmt: skip


def best(group: RunGroup) -> str | None:
    """The strategy that the headline recommends; None if it names several or none."""
    choices = compacting_front(group)
    named = _decided(group, choices).named if choices else []
    return named[0].strategy if len(named) == 1 else None


@dataclass(frozen=True, slots=True)
class _Decision:
    """The strategies to choose from, and why; `others` are less likely ones that could replace them."""

    why: Literal["only one", "by age", "as fast", "no cheaper", "trade-off"]
    named: list[Point]
    others: list[str]


def _decided(group: RunGroup, choices: list[Point]) -> _Decision:
    if len(choices) == 1:
        return _Decision("only one", choices, [])
    if differ_in_staleness(choices):
        return _Decision("by age", choices, [])
    if _is_as_fast(group, choices):
        return _Decision("as fast", choices[:1], [])
    if _costs_no_more(group, choices):
        return _Decision("no cheaper", choices[-1:], [])
    return _Decision("trade-off", *_likely(group, choices))


def _basis(group: RunGroup) -> str:
    """What the choice is based on; the noise of means is reported with the timings."""
    repetitions = max(len(row.repetitions) for row in group.rows)
    if group.is_simulated:
        return "As modelled, "
    if repetitions == 1:
        return "In one repetition, whose noise is unknown, "
    return f"On the means of {repetitions} repetitions, "


def _choice(group: RunGroup, choices: list[Point]) -> Sentence:
    decided, cheapest, fastest = _decided(group, choices), choices[0], choices[-1]
    if decided.why == "only one":
        return _only(group, cheapest)
    if decided.why == "by age":
        return _by_age(group, choices)
    values = {
        "cheapest": Verbatim(cheapest.strategy), "cheapest_figures": _figures(group, cheapest),
        "fastest": Verbatim(fastest.strategy), "fastest_figures": _figures(group, fastest),
    }  # fmt: skip
    if {point.strategy for point in choices[1:]} <= {*group.twins(cheapest.strategy)}:
        return sentence(
            "{labels} did exactly the same, and no other strategy that compacts is on the Pareto front: "
            "{cheapest_figures}.",
            labels=listed([point.strategy for point in choices]), **values,
        )  # fmt: skip
    if decided.why == "as fast":
        return sentence(
            "{cheapest} is the cheapest strategy, and within {tolerance} as fast as the fastest, {fastest}: "
            "{cheapest_figures}, against {fastest_figures}.",
            tolerance=_TOLERANCE, **values,
        )  # fmt: skip
    if decided.why == "no cheaper":
        return sentence(
            "{fastest} is proven to be faster than the others on the front, and none of these is proven to "
            "be cheaper: {fastest_figures}, against {cheapest_figures} with {cheapest}.",
            **values,
        )  # fmt: skip
    likely, others = decided.named, decided.others
    or_others = (
        sentence(" Within the noise it may be {labels} instead.", labels=listed(others)) if others else say()
    )
    if len(likely) == 1:
        return sentence(
            "{best} is the best trade-off: {figures}. Against the fastest on the front, {fastest}, it "
            "{trade}.",
            best=Verbatim(likely[0].strategy), figures=_figures(group, likely[0]),
            trade=_trade(group, likely[0], fastest), **values,
        ) + or_others  # fmt: skip
    if likely:
        return _either(group, likely) + or_others
    return sentence(
        "{why}: {cheapest} is {rank}, with {cheapest_figures}; {fastest} is the fastest, with "
        "{fastest_figures}. {cheapest} {trade}.",
        why="there are two to choose from" if len(choices) == 2 else "no strategy stands out",
        rank=_rank(group, cheapest), trade=_trade(group, cheapest, fastest), **values,
    )  # fmt: skip


def _rank(group: RunGroup, cheapest: Point) -> Sentence:
    """What the cheapest choice is beside `never`, which may cost less."""
    if group.row(cheapest.strategy).values["compactions"]:
        return say("the cheapest that compacts")
    is_beaten = any(point.is_baseline and point.cost_s < cheapest.cost_s for point in points(group))
    return (
        say("the cheapest besides ", Verbatim(group.rows[0].baseline)) if is_beaten else say("the cheapest")
    )


def _likely(group: RunGroup, choices: list[Point]) -> tuple[list[Point], list[str]]:
    """The likely best trade-offs, and less likely ones, off the front, that could replace them.

    In a simulation all that are as good within its tolerance are the first.
    """
    labels = likely_best(group)
    on_front = {point.strategy for point in choices}
    named = {label for label in labels if group.is_simulated or label in on_front}
    if named.isdisjoint(labels[:1]):
        named = set(labels)
    by_label = {point.strategy: point for point in points(group)}
    return [by_label[label] for label in labels if label in named], [x for x in labels if x not in named]


def _is_as_fast(group: RunGroup, choices: list[Point]) -> bool:
    """Whether the cheapest choice of a simulation answers as fast as the fastest, within its tolerance."""
    if not group.is_simulated:
        return False
    return choices[0].query_s <= choices[-1].query_s * (1 + MODELLED_TOLERANCE)


def _costs_no_more(group: RunGroup, choices: list[Point]) -> bool:
    """Whether the fastest choice is proven to be faster than the others, and none of them to be cheaper."""
    if group.is_simulated:
        return False
    fastest, others = choices[-1].strategy, [p.strategy for p in choices[:-1]]
    faster = corrected([compare_strategies(group, LATENCY, fastest, other) for other in others])
    return all(one.verdict == "less" for one in faster) and all(
        compare_strategies(group, group.cost_metric, fastest, other).contains_1 for other in others
    )


def _by_age(group: RunGroup, choices: list[Point]) -> Sentence:
    """The choices in the order of how fresh the rows are that queries see."""
    ages = [
        say(Verbatim(p.strategy), f" {human_duration(p.staleness_s)}, with {_figures(group, p)}")
        for p in sorted(choices, key=lambda point: point.staleness_s)
    ]
    return sentence(
        "what to choose depends on how old the rows may be that queries see. Mean age: {ages}.",
        ages=separated("; ", ages),
    )


def _either(group: RunGroup, likely: list[Point]) -> Sentence:
    """Several strategies, each of which may be the knee within the noise or the model's tolerance."""
    noise = "noise decides which is"
    tolerance = f"with a tolerance of {_TOLERANCE} for each figure, each of these may be"
    shown = [say(Verbatim(p.strategy), f", with {_figures(group, p)}") for p in likely[:_EITHER_SHOWN]]
    more = len(likely) - len(shown)
    return sentence(
        "{why} the best trade-off: {strategies}{more}.",
        why=tolerance if group.is_simulated else noise, strategies=separated("; or ", shown),
        more=f"; or one of {more:,} more" if more else "",
    )  # fmt: skip


def _only(group: RunGroup, point: Point) -> Sentence:
    others = [p for p in candidates(points(group)) if not p.is_baseline and p != point]
    is_beaten = any(p.cost_s < point.cost_s or p.query_s < point.query_s for p in others)
    within = f", within {_TOLERANCE}" if is_beaten else ""
    why = f"is both the cheapest and the fastest strategy that compacts{within}"
    if not others:
        why = "is the only strategy that compacts"
    elif any(p.cost_s * (1 + point.tolerance) < point.cost_s for p in others):  # the baseline beats these
        why = "is the fastest strategy that compacts, and no cheaper one is faster than no compaction"
    like = [] if group.is_simulated else [
        p.strategy for p in others if not is_told_apart(group, p.strategy, point.strategy)
    ]  # fmt: skip
    equal = [label for label, other in alike(group).items() if other == point.strategy]
    equals = sentence(
        " {labels} {equal} it within {tolerance}.",
        labels=listed(equal), equal="equals" if len(equal) == 1 else "equal", tolerance=_TOLERANCE,
    )  # fmt: skip
    return sentence(
        "{strategy} {why}: {figures}.{equals}{like}",
        strategy=Verbatim(point.strategy), why=why, figures=_figures(group, point),
        equals=equals if equal else "",
        like=sentence(" Statistically indistinguishable from {labels}.", labels=listed(like)) if like else "",
    )  # fmt: skip


def _figures(group: RunGroup, point: Point) -> str:
    return (
        f"{cost_text(point.cost_s)} of {group.cost.words} and a mean query of {human_duration(point.query_s)}"
    )


def _trade(group: RunGroup, cheap: Point, fast: Point) -> str:
    """What the cheaper of two saves in cost and gives up in latency."""
    share = _ratio(group, group.cost_metric, cheap.strategy, fast.strategy, cheap.cost_s / fast.cost_s)
    ratio = _ratio(group, LATENCY, cheap.strategy, fast.strategy, cheap.query_s / fast.query_s)
    saved, lost = cost_text(fast.cost_s - cheap.cost_s), human_duration(cheap.query_s - fast.query_s)
    return (
        f"takes {share} the {group.cost.short} (saves {saved}) and gives up {lost} a query ({ratio} the "
        "latency)"
    )


def _ratio(group: RunGroup, metric: str, strategy: str, other: str, of_means: float) -> str:
    """The ratio that all tables have, at equal speed of the machine; that of the means without one."""
    return human_ratio(compare_strategies(group, metric, strategy, other).ratio or of_means)


def _without_compaction(group: RunGroup, choices: list[Point]) -> Sentence:
    never = Verbatim(group.rows[0].baseline)
    baseline = group.baseline
    never_s = None if baseline is None else baseline.values[LATENCY]
    if baseline is None or never_s is None:
        text = "Without a usable run of {never}, the benefit of compaction cannot be quantified."
        return sentence(text, never=never)
    named = next((point for point in choices if point.strategy == best(group)), choices[-1])
    ratio = _ratio(group, LATENCY, baseline.strategy, named.strategy, never_s / named.query_s)
    return sentence(
        "Without compaction ({never}) the mean query takes {time}: {ratio} the latency of {named}.",
        never=never, time=human_duration(never_s), ratio=ratio, named=Verbatim(named.strategy),
    )  # fmt: skip


def _waiting(group: RunGroup) -> Iterator[Sentence]:
    """How long callers wait for commits that compactions delay, which neither cost nor latency shows."""
    rows = group.choices
    if any(row.commits_wait for row in rows):
        waits = [
            say(Verbatim(row.strategy), f" {_returned(row)}")
            for row in rows
            if row.commits_wait or row.is_baseline
        ]
        yield sentence(
            "Compactions make the callers of commits wait. Until a call returns, 95th percentile: {waits}. "
            "The front is decided by costs and queries alone, which do not include these waits.",
            waits=joined(waits),
        )


def _returned(row: Row) -> str:
    wait_s = row.values["commit_returned_p95_s"]
    return "not known" if wait_s is None else human_duration(wait_s)


def _by_total_cost(group: RunGroup) -> Iterator[Sentence]:
    """The front by each policy's whole CPU, if that of the same strategies by compaction CPU differs."""
    if group.cost is not group.compaction_cost:
        return
    known = {point.strategy for point in candidates(points(group))}
    by_policy = tuple(point for point in points(group, "policy_cpu_s") if point.strategy in known)
    if len(by_policy) < len(known):  # a front of fewer strategies is another one for that alone
        return
    by_compaction, by_total = (
        [point.strategy for point in pareto_front(some) if not point.is_baseline]
        for some in (points(group), by_policy)
    )
    if by_total and by_total != by_compaction:
        text = "If the CPU of maintenance and evaluations counts too, the Pareto front consists of {labels}."
        yield sentence(text, labels=listed(by_total))


def _idle(all_points: tuple[Point, ...]) -> Iterator[Sentence]:
    """Strategies whose compactions, if any, pay off after the stream."""
    for is_late, text in (
        (
            False,
            "{labels} did not compact during the stream: its latency differs from {never} by noise only.",
        ),
        (True, "{labels} compacted at the last tick only, which pays off after the stream."),
    ):
        labels = [point.strategy for point in all_points if point.is_idle and point.is_late == is_late]
        if labels:
            yield sentence(text, labels=listed(labels), never="a table without compaction")


def _unplaced(group: RunGroup, all_points: tuple[Point, ...]) -> Iterator[Sentence]:
    """Strategies with a latency and an unknown cost, as of older results whose steps overlap."""
    placed = {point.strategy for point in all_points}
    unplaced = [
        row.strategy
        for row in group.choices
        if row.strategy not in placed
        and row.values[LATENCY] is not None
        and row.values[group.cost_metric] is None
    ]
    if unplaced:
        yield sentence("Not ranked, since their cost is unknown: {labels}.", labels=listed(unplaced))


def _is_shown(rows: Sequence[Row], name: str) -> bool:
    """Delete files are shown if there are any, everything else if it is known."""
    return any(row.values[name] for row in rows) if name.startswith("delete") else has_values(rows, name)
