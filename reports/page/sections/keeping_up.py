"""Whether the strategies keep up with the stream: the first sentence of an answer."""

import math

from bench.text import counted, human_duration, human_percent, human_ratio
from reports.data.group import RunGroup
from reports.phrases import Sentence, Verbatim, joined, listed, say, sentence
from reports.verdicts.keeping_up import Lag, Load, lags, loads


def keeping_up(group: RunGroup) -> tuple[Sentence, ...]:
    """Who keeps up, and how many cores the others need; nothing if no times are known."""
    if group.manifest.is_at_once:
        return _with_a_real_clock(lags(group), "As modelled, " if group.is_simulated else "")
    every = sorted(loads(group), key=lambda load: load.share)
    if not every:
        return ()
    late, cores = [load for load in every if not load.keeps_up], group.manifest.cores
    values = {
        "modelled": "As modelled, " if group.is_simulated else "",
        "cores": "" if cores is None else f" on {counted(cores, 'core')}",
    }
    if late:
        text = (
            "{modelled}{labels} cannot keep up with the stream{cores}: one after the other, commits, "
            "compactions and maintenance take {needs}."
        )
        labels, needs = listed([load.strategy for load in late]), joined([_need(load) for load in late])
        return (sentence(text, labels=labels, needs=needs, **values),)
    text = (
        "{modelled}{who} with the stream{cores}: one after the other, commits, compactions and maintenance "
        "take {shares} of its time."
    )
    least, most = every[0], every[-1]
    if least is most:
        who, shares = say(Verbatim(least.strategy), " keeps up"), say(human_percent(least.share))
    else:
        who = say("all strategies keep up" if group.is_simulated else "All strategies keep up")
        shares = _share(least) + say(" to ") + _share(most)
    return (sentence(text, who=who, shares=shares, **values),)


def _with_a_real_clock(every: list[Lag], modelled: str) -> tuple[Sentence, ...]:
    late = [lag for lag in every if not lag.keeps_up]
    if late:
        how_late = joined(
            [say(f"{human_duration(lag.late_s)} under ", Verbatim(lag.strategy)) for lag in late]
        )
        text = "{modelled}{labels} cannot keep up with the stream: the last commits are late, by {late}."
        labels = listed([lag.strategy for lag in late])
        return (sentence(text, modelled=modelled, labels=labels, late=how_late),)
    everyone = "all strategies" if modelled else "All strategies"
    return (say(f"{modelled}{everyone} keep up with the stream."),) if every else ()


def _share(load: Load) -> Sentence:
    return say(f"{human_percent(load.share)} (", Verbatim(load.strategy), ")")


def _need(load: Load) -> Sentence:
    remedy = ""
    if load.needed_cores == math.inf:
        remedy = " (more cores would not help)"
    elif load.needed_cores is not None:
        remedy = f" ({counted(int(load.needed_cores), 'core')} would do)"
    return say(f"{human_ratio(load.share)} its time under ", Verbatim(load.strategy), remedy)
