"""The answer for terminals and slides: what to choose, what queries gain, and what it costs."""

from collections.abc import Iterator

from bench.results.metrics import LATENCY, MIN_RUNS
from bench.results.rows import Row
from bench.text import human_duration, human_ratio
from reports.data.formats import part_name
from reports.data.group import RunGroup
from reports.page.sections.answer import best, headline
from reports.page.sections.keeping_up import keeping_up
from reports.page.sections.money import cheapest_in_money
from reports.phrases import Sentence, Verbatim, listed, say, sentence, separated
from reports.text import cost_text
from reports.verdicts.apart import clusters
from reports.verdicts.best import likely_best
from reports.verdicts.judge import compare_strategies
from reports.verdicts.keeping_up import all_keep_up
from reports.verdicts.page_verdicts import PageVerdicts, page_verdicts
from reports.verdicts.pareto_front import Point, compacting_front, differ_in_staleness, points
from reports.verdicts.unmodelled import unmodelled


def one_line(group: RunGroup) -> Iterator[Sentence]:
    """A line for each part in which a policy is chosen, after who cannot keep up with the stream there.

    The strategy is that of the page's headline: the cheapest in money where the scenario has prices,
    otherwise the best trade-off. Each clause has one comparison, and claims no difference that is not proven.
    """
    (verdicts,) = page_verdicts([group])
    for part in group.parts:
        name = say() if part is group else say(Verbatim(part_name(part, group)), ": ")
        if not all_keep_up(part):
            yield from (name + line for line in keeping_up(part))
        for line in cheapest_in_money(part, verdicts) or (_trade_off(part, verdicts),):
            yield name + line


def _trade_off(part: RunGroup, verdicts: PageVerdicts) -> Sentence:
    front = compacting_front(part)
    chosen = best(part)
    if chosen is None and (len(front) < 2 or differ_in_staleness(front) or likely_best(part)):
        said = headline(part)
        return said[0] if points(part) else sum((say(" ") + further for further in said[1:]), said[0])
    if chosen is None:
        return _to_choose_from(front, part) + _proven(part, verdicts)
    row = part.row(chosen)
    clauses = (
        _gain(row, verdicts), say(", for "), _cost(part, row), say("."), _faster(part, chosen, front[-1]),
        _alike(part, chosen), _waits(part, row),
    )  # fmt: skip
    return sum(clauses, say("As modelled, " if part.is_simulated else ""))


def _to_choose_from(front: list[Point], part: RunGroup) -> Sentence:
    """Figures alone, from the cheapest to the fastest."""
    figures = [
        say(Verbatim(p.strategy), f" {human_duration(p.query_s)}, {cost_text(p.cost_s)}") for p in front
    ]
    return sentence(
        "{no} strategy stands out. Mean query and {cost}: {figures}.",
        no="As modelled, no" if part.is_simulated else "No", cost=part.cost.words,
        figures=separated("; ", figures),
    )  # fmt: skip


def _gain(row: Row, verdicts: PageVerdicts) -> Sentence:
    """The mean query, and how fast that is beside no compaction, as far as noise or the model tell."""
    query_s, compared = row.values[LATENCY], verdicts.with_baseline(row)
    said = say(Verbatim(row.strategy), ": mean query ", "" if query_s is None else human_duration(query_s))
    if compared is None or not compared.ratio:
        return said
    ratio, never = human_ratio(1 / compared.ratio), Verbatim(row.baseline)
    if compared.is_decided:
        return said + sentence(", {ratio} as fast as {never}", ratio=ratio, never=never)
    why = (
        "" if compared.n >= MIN_RUNS or compared.low is not None else ", with too few runs to know the noise"
    )
    return said + sentence(", not proven to be faster than {never}{why}", never=never, why=why)


def _cost(part: RunGroup, row: Row) -> Sentence:
    """Beside no compaction, if that costs something too."""
    own_s = row.values[part.cost_metric]
    if own_s is None:
        return say("an unknown cost")
    said = say(f"{cost_text(own_s)} of {part.cost.words}")
    if row.baseline not in part.strategies or not part.row(row.baseline).values[part.cost_metric]:
        return said
    compared = compare_strategies(part, part.cost_metric, row.strategy, row.baseline)
    if not compared.is_decided or compared.ratio is None:
        return said + sentence(", not told apart from that of {never}", never=Verbatim(row.baseline))
    ratio = human_ratio(compared.ratio)
    return said + sentence(", {ratio} that of {never}", ratio=ratio, never=Verbatim(row.baseline))


def _faster(part: RunGroup, chosen: str, fastest: Point) -> Sentence:
    """What the fastest strategy adds, if it is proven to be faster."""
    if fastest.strategy == chosen:
        return say()
    query, cost = (
        compare_strategies(part, metric, fastest.strategy, chosen) for metric in (LATENCY, part.cost_metric)
    )
    if query.verdict != "less" or not query.ratio or not cost.ratio:
        return say()
    return sentence(
        " {fastest} is {ratio} as fast as that, for {cost} the {words}.",
        fastest=Verbatim(fastest.strategy), ratio=human_ratio(1 / query.ratio), cost=human_ratio(cost.ratio),
        words=part.cost.short,
    )  # fmt: skip


def _alike(part: RunGroup, chosen: str) -> Sentence:
    """Strategies of the same part that may as well be chosen."""
    cluster = next((cluster for cluster in clusters(part) if chosen in cluster), ())
    labels = [label for label in cluster if label != chosen]
    said = sentence(" Not told apart from it: {labels}.", labels=listed(labels)) if labels else say()
    if twins := part.twins(chosen):
        said += sentence(" {labels} did exactly the same.", labels=listed([*twins]))
    return said


def _proven(part: RunGroup, verdicts: PageVerdicts) -> Sentence:
    """Which strategies are proven to be faster than no compaction."""
    compared = [(row.strategy, verdicts.with_baseline(row)) for row in part.choices]
    labels = [label for label, one in compared if one is not None and one.verdict == "less"]
    never = Verbatim(part.rows[0].baseline)
    if part.rows[0].baseline not in part.strategies:
        return sentence(" Without a run of {never}, what queries gain is not known.", never=never)
    if why := unmodelled(part, part.rows[0].baseline, LATENCY):
        return sentence(" {never} is not compared: {why}.", never=never, why=why)
    if not labels:
        return sentence(" None is proven to be faster than {never}.", never=never)
    return sentence(" Proven to be faster than {never}: {labels}.", never=never, labels=listed(labels))


def _waits(part: RunGroup, row: Row) -> Sentence:
    """How long callers wait for commits that compact, which neither cost nor latency shows."""
    if not row.commits_wait or row.baseline not in part.strategies:
        return say()
    own_s, never_s = (one.values["commit_returned_p95_s"] for one in (row, part.row(row.baseline)))
    if own_s is None or never_s is None:
        return say()
    return sentence(
        " But its commits return after {own} (95th percentile), those of {never} after {other}.",
        own=human_duration(own_s), never=Verbatim(row.baseline), other=human_duration(never_s),
    )  # fmt: skip
