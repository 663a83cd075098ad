"""Rules that cannot fire while a scenario lasts: their strategies compact less than they seem to."""

from collections.abc import Iterator
from dataclasses import dataclass

from bench.keys import duration_ms_text
from bench.scenario.plugins import blaming
from bench.scenario.scenario import Scenario
from bench.scenario.specs import StrategySpec, rule_text
from bench.text import counted
from strategies.strategy import Rule, traits_of
from strategies.triggers import AfterCommits, Every, FileCount, may_fire_of


@dataclass(frozen=True, slots=True)
class IdleRule:
    """A rule that never fires: whose it is (a strategy's label, or "maintenance"), what it says, and why."""

    owner: str
    rule: str
    reason: str

    def __str__(self) -> str:
        return f"{self.rule} of {self.owner} can never fire: {self.reason}"


@dataclass(frozen=True, slots=True)
class _InForce:
    """While one strategy's rules are in force: after `start_ms`, up to the evaluation at `last_ms`."""

    start_ms: int
    last_ms: int
    rules: tuple[Rule, ...]


def idle_rules(scenario: Scenario) -> tuple[IdleRule, ...]:
    """The rules of strategies and maintenance that cannot fire, whatever the table does.

    In a variant only those are named that could fire in the scenario as it is.
    """
    found = tuple(_idle(scenario))
    known = {(idle.rule, idle.reason) for idle in found}
    more = (idle for one in scenario.variants for idle in _idle(one))
    return (*found, *(idle for idle in more if (idle.rule, idle.reason) not in known))


def _idle(scenario: Scenario) -> Iterator[IdleRule]:
    for spec in scenario.strategies:
        for phase in _phases(scenario, spec):
            for rule in phase.rules:
                reason = _reason(scenario, spec, phase, rule)
                if reason is not None:
                    yield IdleRule(spec.label, rule_text(rule), reason)
    whole = _InForce(0, scenario.duration_ms, scenario.maintenance)
    for rule in scenario.maintenance:
        reason = _by_time(scenario, scenario.commit_interval_ms, whole, rule)
        if reason is not None:
            yield IdleRule("maintenance", rule_text(rule), reason)


def _phases(scenario: Scenario, spec: StrategySpec) -> Iterator[_InForce]:
    """The strategy's own rules, then those of each strategy that it switches to."""
    rules = {other.label: other.strategy.rules for other in scenario.strategies}
    starts = [(0, spec.label), *spec.switches]
    ends = [at_ms - scenario.commit_interval_ms for at_ms, _ in spec.switches]
    for (start_ms, label), last_ms in zip(starts, [*ends, scenario.duration_ms], strict=True):
        yield _InForce(start_ms, last_ms, rules[label])


def _reason(scenario: Scenario, spec: StrategySpec, phase: _InForce, rule: Rule) -> str | None:
    reason = _by_time(scenario, scenario.commit_every_ms(spec), phase, rule)
    is_alone = len(phase.rules) == 1 and not spec.switches
    if reason is not None or not is_alone:  # other rules may make any number of files and commits
        return reason
    if isinstance(rule.trigger, FileCount):
        if scenario.workload.is_cdc:  # Spark's MERGE may make any number
            return None
        most = _files_max(scenario, spec)
        return f"the whole stream adds at most {counted(most, 'file')}" if rule.trigger.files > most else None
    may_fire = may_fire_of(rule.trigger)
    if may_fire is None:
        return None
    commits_count = sum(1 for _ in scenario.commits_of(spec))
    with blaming(rule.trigger, "may_fire", "trigger"):
        if may_fire(commits_count, scenario.duration_ms):
            return None
    commits = counted(commits_count, "commit")
    return f"the table gets {commits}, an initial load included, until {_end(scenario, phase)}"


def _by_time(scenario: Scenario, commit_every_ms: int, phase: _InForce, rule: Rule) -> str | None:
    idle_until_ms = traits_of(rule.planner).idle_until_ms
    if idle_until_ms >= phase.last_ms:
        until = duration_ms_text(idle_until_ms)
        return f"its planner acts after {until}, which is after {_end(scenario, phase)}"
    match rule.trigger:
        case Every() as trigger if not trigger.fires_within(phase.start_ms, phase.last_ms):
            return f"it would fire after {_end(scenario, phase)}"
        case AfterCommits(commits=commits):
            count = phase.last_ms // commit_every_ms - phase.start_ms // commit_every_ms
            return f"{counted(count, 'commit')} until {_end(scenario, phase)}" if commits > count else None
    return None


def _end(scenario: Scenario, phase: _InForce) -> str:
    if phase.last_ms == scenario.duration_ms:
        return f"the end of the stream (duration = {duration_ms_text(scenario.duration_ms)})"
    switch = duration_ms_text(phase.last_ms + scenario.commit_interval_ms)
    return f"its strategy is switched away from (at {switch})"


def _files_max(scenario: Scenario, spec: StrategySpec) -> int:
    """How many data files the table can have at most if nothing compacts it: one per writer and partition."""
    return sum(
        min(commit.rows, spec.writer.files_per_commit or commit.writers) * max(1, len(commit.partitions))
        for commit in scenario.commits_of(spec)
    )
