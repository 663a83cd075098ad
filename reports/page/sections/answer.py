"""The answer: the best trade-off, and the cheapest strategy for each latency that may be acceptable."""

from collections.abc import Sequence

from bench.results.rows import Row
from bench.text import human_duration, human_percent, human_ratio
from reports.data.group import RunGroup
from reports.page.tables import Cell, Column, Table, durations, has_values, metric_cells, seconds
from reports.phrases import Sentence, Verbatim, joined, listed, say, sentence, separated
from reports.text import cost_text
from reports.verdicts.best import likely_best
from reports.verdicts.judge import compare_strategies
from reports.verdicts.pareto_front import Point, alike, candidates, differ_in_staleness, pareto_front, points
from reports.verdicts.repeating import MODELLED_TOLERANCE

_BUDGET_METRICS = (  # shown after cost and latency, where a run has a value
    ("files_end", "Files at end", ""),
    ("delete_files_end", "Delete files at end", ""),
    ("storage_bytes_end", "Storage at end", ""),
    ("space_amplification", "Space amplification", ""),
)
_TOLERANCE = human_percent(MODELLED_TOLERANCE)


def headline(group: RunGroup) -> tuple[Sentence, ...]:
    """What to choose, and the trade-off of that choice; dominated strategies are not named."""
    all_points = points(group)
    if not all_points:
        return (say("No run has both a compaction cost and a query latency: there is nothing to compare."),)
    choices = _choices(group)
    if not choices:
        return (*_none(group, all_points), *_idle(all_points))
    return (
        _choice(group, choices), *_without_compaction(group, choices), *_waiting(group),
        *_by_total_cost(group), *_idle(all_points), *_unplaced(group, all_points), *_what_cost_is(group),
    )  # fmt: skip


def budgets(group: RunGroup) -> Table | None:
    """A row for each point of the front, the fastest first; None if there is no choice."""
    front = pareto_front(points(group))[::-1]
    if len(front) < 2 or differ_in_staleness(front):
        return None
    unit, latencies = durations([point.query_s for point in front])
    rows = [group.row(point.strategy) for point in front]
    metrics = [metric for metric in _BUDGET_METRICS if _is_shown(rows, metric[0])]
    priced = has_values(rows, "money_per_day")
    cells = [
        [Cell(text, value=p.query_s) for text, p in zip(latencies, front, strict=True)],
        [Cell(Verbatim(point.strategy)) for point in front],
        [Cell(t, value=p.cost_s) for t, p in zip(seconds(p.cost_s for p in front), front, strict=True)],
        *(_plain(metric_cells(rows, name)) for name, _, _ in metrics),
        *([_plain(metric_cells(rows, "money_per_day"))] if priced else []),
    ]
    columns = (
        Column("If the mean query may take up to", unit), Column("Cheapest strategy", is_number=False),
        Column(group.cost.title, "s"),
        *(Column(group.in_delete_words(title), unit) for _, title, unit in metrics),
        *([Column("Cost per day", group.manifest.currency)] if priced else []),
    )  # fmt: skip
    modelled = "Times and bytes are modelled. " if group.is_simulated else ""
    note = f"{modelled}Means; the strategies of the Pareto front. The summary has intervals and the others."
    caption = "The cheapest strategy for each mean query latency that may be acceptable"
    return Table(columns, tuple(zip(*cells, strict=True)), note, caption=caption)


def primary_query(group: RunGroup) -> Sentence:
    """Which query the latencies are of, with its text where the run recorded it."""
    m = group.manifest
    sql = query_text(group, m.primary_probe)
    return sentence(
        "The latencies are those of the primary query, {name}{text}.",
        name=Verbatim(m.primary_probe), text=say(": ", Verbatim(sql)) if sql else "",
    )  # fmt: skip


def query_text(group: RunGroup, name: str) -> str | None:
    queries = group.manifest.scenario_text.get("probes")
    known = [query for query in queries if isinstance(query, dict)] if isinstance(queries, list) else []
    return next((str(q["sql"]) for q in known if q.get("name") == name and "sql" in q), None)


def best(group: RunGroup) -> str | None:
    """The strategy that the headline recommends; None if it names several or none."""
    choices = _choices(group)
    if not choices:
        return None
    if len(choices) == 1 or _is_as_fast(group, choices):
        return choices[0].strategy
    likely = likely_best(group)
    return likely[0] if len(likely) == 1 else None


def _choices(group: RunGroup) -> list[Point]:
    return [point for point in pareto_front(points(group)) if not point.is_baseline]


def _choice(group: RunGroup, choices: list[Point]) -> Sentence:
    cheapest, fastest = choices[0], choices[-1]
    if len(choices) == 1:
        return _only(group, cheapest)
    if differ_in_staleness(choices):
        return _by_age(group, choices)
    if _is_as_fast(group, choices):
        return _as_fast(group, cheapest, fastest)
    known = points(group) if group.is_simulated else choices
    likely = [point for label in likely_best(group) for point in known if point.strategy == label]
    if len(likely) == 1:
        return _best_of(group, likely[0], fastest)
    if likely:
        return _either(group, likely)
    return sentence(
        "{basis}{why}: {cheapest} is the cheapest, with {cheapest_figures}; {fastest} is the fastest, with "
        "{fastest_figures}. The cheapest {trade}.",
        basis=_basis(group),
        why="there are two to choose from" if len(choices) == 2 else "no strategy stands out",
        cheapest=Verbatim(cheapest.strategy), cheapest_figures=_figures(group, cheapest),
        fastest=Verbatim(fastest.strategy), fastest_figures=_figures(group, fastest),
        trade=_trade(group, cheapest, fastest),
    )  # fmt: skip


def _is_as_fast(group: RunGroup, choices: list[Point]) -> bool:
    """Whether the cheapest choice of a simulation answers as fast as the fastest, within its tolerance."""
    if not group.is_simulated or differ_in_staleness(choices):
        return False
    return choices[0].query_s <= choices[-1].query_s * (1 + MODELLED_TOLERANCE)


def _as_fast(group: RunGroup, cheapest: Point, fastest: Point) -> Sentence:
    return sentence(
        "{basis}{cheapest} is the cheapest strategy, and within {tolerance} as fast as the fastest, "
        "{fastest}: {cheapest_figures}, against {fastest_figures}.",
        basis=_basis(group), tolerance=_TOLERANCE,
        cheapest=Verbatim(cheapest.strategy), cheapest_figures=_figures(group, cheapest),
        fastest=Verbatim(fastest.strategy), fastest_figures=_figures(group, fastest),
    )  # fmt: skip


def _by_age(group: RunGroup, choices: list[Point]) -> Sentence:
    """The choices in the order of how fresh the rows are that queries see."""
    ages = [
        sentence(
            "{strategy} {age}, with {figures}", strategy=Verbatim(point.strategy),
            age=human_duration(point.staleness_s), figures=_figures(group, point),
        )
        for point in sorted(choices, key=lambda point: point.staleness_s)
    ]  # fmt: skip
    return sentence(
        "{basis}what to choose depends on how old the rows may be that queries see. Mean age: {ages}.",
        basis=_basis(group), ages=separated("; ", ages),
    )  # fmt: skip


def _best_of(group: RunGroup, chosen: Point, fastest: Point) -> Sentence:
    return sentence(
        "{basis}{chosen} is the best trade-off: {figures}. Against the fastest on the front, {fastest}, it "
        "{trade}.",
        basis=_basis(group), chosen=Verbatim(chosen.strategy), figures=_figures(group, chosen),
        fastest=Verbatim(fastest.strategy), trade=_trade(group, chosen, fastest),
    )  # fmt: skip


def _either(group: RunGroup, likely: list[Point]) -> Sentence:
    """Several strategies, each of which may be the knee within the noise or the model's tolerance."""
    alternatives = [
        sentence("{strategy}, with {figures}", strategy=Verbatim(p.strategy), figures=_figures(group, p))
        for p in likely
    ]
    why = (
        f"where figures within {_TOLERANCE} of each other count as equal, each of these may be"
        if group.is_simulated
        else "noise decides which is"
    )
    return sentence(
        "{basis}{why} the best trade-off: {alternatives}.",
        basis=_basis(group), why=why, alternatives=separated("; or ", alternatives),
    )  # fmt: skip


def _basis(group: RunGroup) -> str:
    """What the choice is based on; the noise of means is reported with the timings."""
    repetitions = max(len(row.repetitions) for row in group.rows)
    if group.is_simulated:
        return "As modelled, "
    return (
        "In one repetition, whose noise is unknown, "
        if repetitions == 1
        else f"On the means of {repetitions} repetitions, "
    )


def _only(group: RunGroup, point: Point) -> Sentence:
    others = [p for p in candidates(points(group)) if not p.is_baseline and p != point]
    is_beaten = any(p.cost_s < point.cost_s or p.query_s < point.query_s for p in others)
    why = "is the only strategy that compacts"
    if others:
        within = f", within {_TOLERANCE}" if is_beaten else ""
        why = f"is both the cheapest and the fastest strategy that compacts{within}"
    like = [] if group.is_simulated else [p.strategy for p in others if _is_like(group, p, point)]
    equal = [label for label, other in alike(group).items() if other == point.strategy]
    equals = sentence(
        " {labels} {equal} it within {tolerance}.",
        labels=listed(equal), equal="equals" if len(equal) == 1 else "equal", tolerance=_TOLERANCE,
    )  # fmt: skip
    return sentence(
        "{basis}{strategy} {why}: {figures}.{equals}{like}",
        basis=_basis(group), strategy=Verbatim(point.strategy), why=why, figures=_figures(group, point),
        equals=equals if equal else "",
        like=sentence(" Statistically indistinguishable from {labels}.", labels=listed(like)) if like else "",
    )  # fmt: skip


def _is_like(group: RunGroup, point: Point, other: Point) -> bool:
    """Whether the intervals of both ratios, of cost and of latency, contain 1."""
    ratios = [
        compare_strategies(group, metric, point.strategy, other.strategy)
        for metric in (group.cost_metric, "query_mean_s")
    ]
    return all(c.low is not None and c.high is not None and c.low <= 1 <= c.high for c in ratios)


def _figures(group: RunGroup, point: Point) -> str:
    query = f"a mean query of {human_duration(point.query_s)}"
    return f"{cost_text(point.cost_s)} of {group.cost.words} and {query}"


def _trade(group: RunGroup, cheap: Point, fast: Point) -> str:
    """What the cheaper of two saves in cost and gives up in latency."""
    share = human_ratio(cheap.cost_s / fast.cost_s)
    saves = f"takes {share} the {group.cost.short} (saves {cost_text(fast.cost_s - cheap.cost_s)})"
    ratio = human_ratio(cheap.query_s / fast.query_s)
    loses = f"gives up {human_duration(cheap.query_s - fast.query_s)} a query ({ratio} the latency)"
    return f"{saves} and {loses}"


def _without_compaction(group: RunGroup, choices: list[Point]) -> tuple[Sentence, ...]:
    never = Verbatim(group.rows[0].baseline)
    never_s = None if group.baseline is None else group.baseline.values["query_mean_s"]
    if never_s is None:
        text = "Without a usable run of {never}, the benefit of compaction cannot be quantified."
        return (sentence(text, never=never),)
    named = next((point for point in choices if point.strategy == best(group)), choices[-1])
    return (
        sentence(
            "Without compaction ({never}) the mean query takes {time}: {ratio} the latency of {named}.",
            never=never, time=human_duration(never_s), ratio=human_ratio(never_s / named.query_s),
            named=Verbatim(named.strategy),
        ),
    )  # fmt: skip


def _waiting(group: RunGroup) -> tuple[Sentence, ...]:
    """How long callers wait for commits that compactions delay, which neither cost nor latency shows."""
    rows = group.choices
    if not any(row.commits_wait for row in rows):
        return ()
    waits = [
        say(Verbatim(row.strategy), f" {_returned(row)}")
        for row in rows
        if row.commits_wait or row.is_baseline
    ]
    return (
        sentence(
            "Compactions make the callers of commits wait. Until a call returns, 95th percentile: {waits}. "
            "Costs and queries alone decide what is on the front: these waits are in neither.",
            waits=joined(waits),
        ),
    )


def _returned(row: Row) -> str:
    wait_s = row.values["commit_returned_p95_s"]
    return "not known" if wait_s is None else human_duration(wait_s)


def _by_total_cost(group: RunGroup) -> tuple[Sentence, ...]:
    """The front by each policy's whole CPU, if it differs from the front by compaction CPU."""
    if group.cost is not group.compaction_cost:
        return ()
    known = {point.strategy for point in candidates(points(group))}
    by_metric = [
        tuple(point for point in points(group, metric) if point.strategy in known)
        for metric in (group.cost_metric, "policy_cpu_s")
    ]
    by_compaction, by_total = (
        [point.strategy for point in pareto_front(among) if not point.is_baseline] for among in by_metric
    )
    if not by_total or by_total == by_compaction:
        return ()
    text = "If the CPU of maintenance and evaluations counts too, the Pareto front consists of {labels}."
    return (sentence(text, labels=listed(by_total)),)


def _none(group: RunGroup, all_points: tuple[Point, ...]) -> tuple[Sentence, ...]:
    if any(not point.is_baseline for point in candidates(all_points)):
        text = "{basis}no compaction strategy beats {never} on mean query latency."
        return (sentence(text, basis=_basis(group), never=Verbatim(group.rows[0].baseline)),)
    return (say("No strategy compacted during the stream."),)


def _idle(all_points: tuple[Point, ...]) -> tuple[Sentence, ...]:
    """Strategies that differ from `never` by noise only."""
    late = [point.strategy for point in all_points if point.is_idle and point.is_late]
    never = [point.strategy for point in all_points if point.is_idle and not point.is_late]
    what_they_did = (
        (never, "did not compact during the stream"),
        (late, "compacted at the last tick only, which pays after the stream"),
    )
    return tuple(
        sentence(
            "{labels} {did}; any difference in latency from a table without compaction is noise.",
            labels=listed(labels), did=did,
        )
        for labels, did in what_they_did
        if labels
    )  # fmt: skip


def _unplaced(group: RunGroup, all_points: tuple[Point, ...]) -> tuple[Sentence, ...]:
    """Strategies with a latency and an unknown cost, since their compactions run concurrently."""
    placed = {point.strategy for point in all_points}
    unplaced = [
        row.strategy
        for row in group.choices
        if row.strategy not in placed
        and row.values["query_mean_s"] is not None
        and row.values[group.cost_metric] is None
    ]
    if not unplaced:
        return ()
    return (sentence("Not ranked, since their cost is unknown: {labels}.", labels=listed(unplaced)),)


def _what_cost_is(group: RunGroup) -> tuple[Sentence, ...]:
    text = (
        "Costs are the CPU of commits and policy together, since not all strategies commit in the same way."
    )
    return () if group.cost is group.compaction_cost else (say(text),)


def _is_shown(rows: Sequence[Row], name: str) -> bool:
    """Delete files are shown if there are any, everything else if it is known."""
    return any(row.values[name] for row in rows) if name.startswith("delete") else has_values(rows, name)


def _plain(cells: list[Cell]) -> list[Cell]:
    """Cells without ranges and marks, which the summary has."""
    return [Cell(cell.text, value=cell.value) for cell in cells]
