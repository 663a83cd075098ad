"""The answer in one line for each format: what to choose, what it gains, and what it costs."""

from collections.abc import Iterator

from bench.results.metrics import LATENCY, MIN_RUNS
from bench.results.rows import Row
from bench.text import human_duration, human_ratio
from reports.data.formats import part_name
from reports.data.group import RunGroup
from reports.page.sections.answer import best, headline
from reports.page.sections.keeping_up import keeping_up
from reports.page.sections.money import cheapest_in_money
from reports.phrases import Sentence, Verbatim, say, sentence
from reports.text import cost_text
from reports.verdicts.best import likely_best
from reports.verdicts.keeping_up import all_keep_up
from reports.verdicts.page_verdicts import PageVerdicts, page_verdicts
from reports.verdicts.pareto_front import differ_in_staleness, pareto_front, points


def one_line(group: RunGroup) -> Iterator[Sentence]:
    """A sentence for each part in which a policy is chosen, after who cannot keep up with the stream there.

    The strategy is that of the page's headline: the cheapest in money where the scenario has prices,
    otherwise the best trade-off.
    """
    (verdicts,) = page_verdicts([group])
    for part in group.parts:
        name = say() if part is group else say(Verbatim(part_name(part, group)), ": ")
        if not all_keep_up(part):
            yield from (name + line for line in keeping_up(part))
        for line in cheapest_in_money(part, verdicts) or _trade_off(part, verdicts):
            yield name + line


def _trade_off(part: RunGroup, verdicts: PageVerdicts) -> tuple[Sentence, ...]:
    front = [point for point in pareto_front(points(part)) if not point.is_baseline]
    chosen = best(part)
    if chosen is not None:
        ends = (chosen, front[-1].strategy)
        text = "{label} has {gain}, for {price}{modelled}."
    elif len(front) < 2 or differ_in_staleness(front) or likely_best(part):
        return headline(part)[:1]
    else:
        ends = (front[0].strategy, front[-1].strategy)
        text = "{label} is the cheapest, with {gain}, for {price}; {fastest} has {gain_of_fastest}{modelled}."
    label, fastest = ends
    values: dict[str, str | Sentence] = {
        "label": Verbatim(label), "gain": _gain(part.row(label), verdicts), "price": _price(part, *ends),
        "fastest": Verbatim(fastest), "gain_of_fastest": _gain(part.row(fastest), verdicts),
        "modelled": " (as modelled)" if part.is_simulated else "",
    }  # fmt: skip
    return (sentence(text, **values),)


def _price(part: RunGroup, label: str, fastest: str) -> Sentence:
    """The cost of a strategy, beside that of the fastest one."""
    own_s, other_s = (part.row(one).values[part.cost_metric] for one in (label, fastest))
    if own_s is None:
        return say("an unknown cost")
    if not own_s or not other_s or label == fastest:
        return say(f"{cost_text(own_s)} of {part.cost.words}")
    return say(
        f"{human_ratio(own_s / other_s)} the {part.cost.short} of ", Verbatim(fastest), ", the fastest"
    )


def _gain(row: Row, verdicts: PageVerdicts) -> Sentence:
    """What queries gain over no compaction, as far as noise or the errors of the model allow to say."""
    query_s, compared = row.values[LATENCY], verdicts.with_baseline(row)
    mean = say("" if query_s is None else f"a mean query of {human_duration(query_s)}")
    if compared is None or not compared.ratio:
        return mean
    never = Verbatim(row.baseline)
    if compared.verdict in ("more", "less"):
        ratio, how = max(compared.ratio, 1 / compared.ratio), "faster" if compared.ratio < 1 else "slower"
        return sentence("{ratio} {how} queries than {never}", ratio=human_ratio(ratio), how=how, never=never)
    if compared.low is None and compared.n < MIN_RUNS:
        return mean + sentence(", {ratio} that of {never} in too few runs to know the noise",
                               ratio=human_ratio(compared.ratio), never=never)  # fmt: skip
    return sentence("queries that are not told apart from those of {never}", never=never)
