"""Whether the strategies keep up with the stream: the first sentence of an answer."""

import math

from bench.text import counted, human_duration, human_percent, human_ratio
from reports.data.group import LABELS_SHOWN, RunGroup
from reports.phrases import Sentence, Verbatim, joined, listed, say, sentence, some_of
from reports.verdicts.keeping_up import Lag, Load, lags, loads, not_judged


def keeping_up(group: RunGroup) -> tuple[Sentence, ...]:
    """Who keeps up, how many cores the others need, and who is not judged; nothing if nobody is."""
    others, modelled = not_judged(group), "As modelled, " if group.is_simulated else ""
    if group.manifest.is_at_once:
        return _with_a_real_clock(lags(group), others, modelled)
    every = sorted(loads(group), key=lambda load: load.share)
    if not every:
        return ()
    late, cores = [load for load in every if not load.keeps_up], group.manifest.cores
    values: dict[str, str | Sentence] = {
        "modelled": modelled,
        "cores": "" if cores is None else f" on {counted(cores, 'core')}",
        "others": _not_judged(others),
    }
    if late:
        text = (
            "{modelled}{labels} cannot keep up with the stream{cores}: one after the other, commits, "
            "compactions and maintenance take {needs}{others}."
        )
        labels, needs = listed([load.strategy for load in late]), joined([_need(load) for load in late])
        return (sentence(text, labels=labels, needs=needs, **values),)
    text = (
        "{modelled}{who} with the stream{cores}: one after the other, commits, compactions and maintenance "
        "take {shares} of its time{others}."
    )
    least, most = every[0], every[-1]
    if least is most:
        who, shares = say(Verbatim(least.strategy), " keeps up"), say(human_percent(least.share))
    else:
        who = say(f"{_how_many(len(every), len(others), is_first=not modelled)} keep up")
        shares = _share(least) + say(" to ") + _share(most)
    return (sentence(text, who=who, shares=shares, **values),)


def _with_a_real_clock(every: list[Lag], others: list[str], modelled: str) -> tuple[Sentence, ...]:
    late = [lag for lag in every if not lag.keeps_up]
    if late:
        how_late = joined(
            [say(f"{human_duration(lag.late_s)} under ", Verbatim(lag.strategy)) for lag in late]
        )
        text = (
            "{modelled}{labels} cannot keep up with the stream: the last commits are late, by {late}{others}."
        )
        labels = listed([lag.strategy for lag in late])
        said = sentence(text, modelled=modelled, labels=labels, late=how_late, others=_not_judged(others))
        return (said,)
    if not every:
        return ()
    verb = "keeps" if len(every) == 1 and others else "keep"
    who = _how_many(len(every), len(others), is_first=not modelled)
    return (say(f"{modelled}{who} {verb} up with the stream") + _not_judged(others) + say("."),)


def _how_many(judged_count: int, others_count: int, *, is_first: bool) -> str:
    """Who keeps up if no strategy is late: all of them only if all were judged."""
    if others_count:
        return f"{judged_count:,} of {judged_count + others_count:,} strategies"
    return "All strategies" if is_first else "all strategies"


def _not_judged(labels: list[str]) -> Sentence:
    if not labels:
        return say()
    return say("; not judged, because the cost model does not cover them: ") + some_of(labels, LABELS_SHOWN)


def _share(load: Load) -> Sentence:
    return say(f"{human_percent(load.share)} (", Verbatim(load.strategy), ")")


def _need(load: Load) -> Sentence:
    remedy = ""
    if load.needed_cores == math.inf:
        remedy = " (more cores would not help)"
    elif load.needed_cores is not None:
        remedy = f" ({counted(int(load.needed_cores), 'core')} would do)"
    return say(f"{human_ratio(load.share)} its time under ", Verbatim(load.strategy), remedy)
