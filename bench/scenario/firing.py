"""Rules that can never fire within a scenario: strategies that are the baseline under another name."""

from collections.abc import Collection, Iterator
from itertools import pairwise

from bench.keys import duration_ms_text
from bench.scenario.scenario import Scenario
from bench.scenario.specs import StrategySpec
from bench.text import counted
from strategies.never import Never
from strategies.strategy import Rule
from strategies.triggers import AfterCommits, interval_ms_of


def never_firing(scenario: Scenario, only: Collection[str] = ()) -> Iterator[str]:
    """One sentence for each strategy that cannot compact anything before the scenario ends, and why.

    `only` limits them to these labels, unless it is empty.
    Triggers that fire at an interval or after a number of commits are judged; any other may fire. A strategy
    without a planner that plans anything, such as a baseline, is not mentioned.
    """
    for spec in scenario.strategies:
        if only and spec.label not in only:
            continue
        judged = [
            (rule, _cannot_fire(rule, start_ms, end_ms, scenario))
            for start_ms, end_ms, rules in _periods(scenario, spec)
            for rule in rules
            if not isinstance(rule.planner, Never)
        ]
        reasons = dict.fromkeys(reason for _, reason in judged if reason)
        if judged and all(reason for _, reason in judged):
            lasts = duration_ms_text(scenario.duration_ms)
            yield (
                f"{spec.label} can never compact here: {' and '.join(reasons)}, and the scenario lasts "
                f"{lasts} ({counted(scenario.commits_count, 'commit')}). It would come out like a table that "
                "is never compacted; lengthen the duration or change the trigger"
            )


def _periods(scenario: Scenario, spec: StrategySpec) -> Iterator[tuple[int, int, tuple[Rule, ...]]]:
    """From and until when, in scenario milliseconds, which rules are in force."""
    rules = {each.label: each.strategy.rules for each in scenario.strategies}
    begun = [(0, spec.label), *(switch for switch in spec.switches if switch[0] <= scenario.duration_ms)]
    for (start_ms, label), (end_ms, _) in pairwise([*begun, (scenario.duration_ms, "")]):
        yield start_ms, end_ms, rules[label]


def _cannot_fire(rule: Rule, start_ms: int, end_ms: int, scenario: Scenario) -> str | None:
    """Why a rule that is in force for this time cannot fire; None if it can, or may."""
    interval_ms = interval_ms_of(rule.trigger)
    if interval_ms is not None and end_ms // interval_ms == start_ms // interval_ms:
        return f"it acts every {duration_ms_text(interval_ms)}"
    if isinstance(rule.trigger, AfterCommits):
        commits = end_ms // scenario.commit_interval_ms - start_ms // scenario.commit_interval_ms
        initial = int(start_ms == 0 and next(scenario.shape()).is_initial)
        if commits + initial < rule.trigger.commits:
            return f"it acts after {counted(rule.trigger.commits, 'commit')}"
    return None
