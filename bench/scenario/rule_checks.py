"""Checks of a scenario's rules: whether they suit the times, the table and the delay of their plans."""

from collections.abc import Iterator

from bench.engines.keys import duration_ms_text, unknown_columns
from bench.engines.registry import FORMATS
from bench.scenario.plugins import name_of
from bench.scenario.schema import RuleKeys, ScenarioKeys, StrategyRuleKeys
from bench.scenario.values import KeyPath, OptionError
from strategies.plan import Capability
from strategies.planner import traits_of
from strategies.triggers import trigger_traits

_DELAYABLE = frozenset({
    Capability.COMPACT, Capability.REWRITE, Capability.CONVERT, Capability.DELAYED_COMMIT,
})  # fmt: skip
_NARROWING = frozenset({Capability.ROW_FILTER, Capability.BRANCH})  # options of a command, not commands


def rule_errors(keys: ScenarioKeys) -> Iterator[OptionError]:
    """What is wrong with the rules of strategies and of maintenance, to which no compaction delay applies."""
    for index, strategy in enumerate(keys.strategies):
        for number, rule in enumerate(strategy.rules):
            path: KeyPath = ("strategies", index, "rules", number)
            yield from _rule(keys, rule, path)
            yield from _delay(keys, rule, path)
            yield from _executor(keys, rule, path)
    for index, maintenance in enumerate(keys.maintenance):
        yield from _rule(keys, maintenance, ("maintenance", index))


def _rule(keys: ScenarioKeys, rule: RuleKeys, path: KeyPath) -> Iterator[OptionError]:
    interval_ms, traits = trigger_traits(rule.trigger).interval_ms, traits_of(rule.planner)
    if interval_ms is not None and interval_ms < keys.commit_interval_ms:
        problem = (
            f"must be at least commit_interval = {duration_ms_text(keys.commit_interval_ms)}: strategies are "
            "evaluated once per commit"
        )
        yield OptionError((*path, "trigger", "interval"), problem, duration_ms_text(interval_ms))
    if problem := unknown_columns(traits.columns, keys.workload.schema.names) or "":
        yield OptionError((*path, "planner"), problem)
    version, highest = keys.table.version, traits.max_format_version
    if version is not None and highest is not None and version > highest:
        usable = [allowed for allowed in keys.table.versions() if allowed <= highest]
        remedy = f"set table.{keys.table.version_key} = {max(usable)}, or " if usable else ""
        problem = (
            f"supports tables up to format version {highest}, and this one has {version}: {remedy}leave the "
            "rule out"
        )
        yield OptionError((*path, "planner", "type"), problem, name_of(type(rule.planner)))


def _delay(keys: ScenarioKeys, rule: StrategyRuleKeys, path: KeyPath) -> Iterator[OptionError]:
    delay_ms, needs = rule.rule.delay_or(keys.compaction_delay_ms), traits_of(rule.planner).needs
    if rule.concurrent and delay_ms == 0:
        problem = 'concurrent rules need a deadline: set delay, such as "10min"'
        yield OptionError((*path, "concurrent"), problem, rule.concurrent)
    native = sorted(needs - _DELAYABLE - _NARROWING)
    if delay_ms > 0 and native and Capability.DELAYED_COMMIT not in needs:
        problem = (
            f"cannot be delayed: {', '.join(native)} plans and commits in one call, so no commit of the "
            f'stream can land in between; set compaction_delay, or the delay of the rule, to "0s" and not to '
            f'"{duration_ms_text(delay_ms)}", or use a planner that names its files or schedules first'
        )
        yield OptionError((*path, "planner", "type"), problem, name_of(type(rule.planner)))


def _executor(keys: ScenarioKeys, rule: StrategyRuleKeys, path: KeyPath) -> Iterator[OptionError]:
    names = FORMATS[keys.table.format].engines.executors
    if rule.executor is not None and rule.executor not in names:
        problem = f"is no executor of {keys.table.format}: choose {' or '.join(names)}"
        yield OptionError((*path, "executor"), problem, rule.executor)
