"""The strategies of a scenario: built from their rules, checked against its times, hashed."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.scenario.checks import check_interval
from bench.scenario.plugins import PLANNER, TRIGGER, build, in_words, name_of, to_table
from bench.scenario.schema import ScenarioKeys, StrategyKeys, WriterKeys
from bench.scenario.values import KeyPath, OptionError, duration_ms_text
from bench.secrets import hidden
from strategies.never import Never
from strategies.plan import Capability
from strategies.strategy import Rule, Strategy
from strategies.triggers import AfterCommits, Every
from workloads.schema import Schema

_BASELINE_RULE = Rule(AfterCommits(1), Never())
_DELAYABLE = frozenset({
    Capability.COMPACT, Capability.REWRITE, Capability.CONVERT, Capability.DELAYED_COMMIT,
})  # fmt: skip
_NARROWING = frozenset({Capability.ROW_FILTER, Capability.BRANCH})  # how a command is run, not which


@dataclass(frozen=True, slots=True)
class StrategySpec:
    """A strategy of the scenario, and what it overrides.

    `switches` are (scenario milliseconds, label): from then on that strategy's rules. `summary` is the
    rules in words. `hash` names the definition whatever the label.
    """

    label: str
    strategy: Strategy
    writer: WriterKeys
    properties: Mapping[str, str]
    switches: tuple[tuple[int, str], ...]
    summary: str
    hash: str


def build_strategies(keys: ScenarioKeys, folder: Path, schema: Schema) -> tuple[StrategySpec, ...]:
    """The strategies in the file's order. Raises OptionError."""
    built = {
        strategy.label: Strategy(
            strategy.label, _rules(keys, strategy, ("strategies", index, "rules"), folder, schema)
        )
        for index, strategy in enumerate(keys.strategies)
    }
    return tuple(_spec(strategy, built) for strategy in keys.strategies)


def strategy_table(spec: StrategySpec) -> dict[str, Any]:
    """The strategy as a file would say it with nothing left to defaults."""
    return {
        "label": spec.label,
        "rules": _rule_tables(spec.strategy),
        "writer": _said(spec.writer),
        "properties": dict(spec.properties),
        "switch": [{"at": duration_ms_text(at_ms), "strategy": label} for at_ms, label in spec.switches],
    }


def option_defaults(strategies: Iterable[StrategySpec]) -> dict[str, dict[str, str]]:
    """By planner, what each option it knows is where it is not given, in words."""
    planners = [type(rule.planner) for spec in strategies for rule in spec.strategy.rules]
    known = {name_of(planner): getattr(planner, "known_options", {}) for planner in planners}
    return {name: dict(options) for name, options in known.items() if options}


def content_hash(content: object) -> str:
    """Sixteen hexadecimal digits that any change of `content` changes."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _rules(
    keys: ScenarioKeys, strategy: StrategyKeys, path: KeyPath, folder: Path, schema: Schema
) -> tuple[Rule, ...]:
    rules = []
    for index, rule in enumerate(strategy.rules):
        at: KeyPath = (*path, index)
        trigger = build(TRIGGER, rule.trigger, (*at, "trigger"), folder)
        if isinstance(trigger, Every):
            check_interval(trigger.interval_ms, keys.commit_interval_ms, (*at, "trigger", "interval"))
        planner = build(PLANNER, rule.planner, (*at, "planner"), folder)
        _check_columns(planner, schema, (*at, "planner"))
        _check_format(planner, keys.table.format_version, (*at, "planner", "type"), rule.planner["type"])
        if keys.compaction_delay_ms > 0:
            _check_delay(keys.compaction_delay_ms, planner, (*at, "planner", "type"), rule.planner["type"])
        rules.append(Rule(trigger, planner))
    return tuple(rules) or (_BASELINE_RULE,)


def _check_columns(planner: object, schema: Schema, path: KeyPath) -> None:
    missing = [name for name in getattr(planner, "columns", ()) if name not in schema.names]
    if missing:
        problem = f"names {', '.join(missing)}, which the table has not: name some of "
        raise OptionError(path, f"{problem}{', '.join(schema.names)}")


def _check_format(planner: object, version: int, path: KeyPath, name: str) -> None:
    highest = getattr(planner, "max_format_version", version)
    if version > highest:
        raise OptionError(
            path,
            f"knows tables up to format version {highest}: set table.format_version = {highest} instead of "
            f"{version}, or leave the strategy out of a copy of the file",
            name,
        )


def _check_delay(delay_ms: int, planner: object, path: KeyPath, name: str) -> None:
    native = sorted(getattr(planner, "needs", frozenset()) - _DELAYABLE - _NARROWING)
    if native:
        raise OptionError(
            path,
            f"cannot be delayed: {', '.join(native)} plans and commits in one call, so no commit of the "
            f'stream can land between; set compaction_delay = "0s", not "{duration_ms_text(delay_ms)}", '
            "or use a planner that names its files",
            name,
        )


def _spec(keys: StrategyKeys, built: Mapping[str, Strategy]) -> StrategySpec:
    strategy = built[keys.label]
    switches = tuple((switch.at_ms, switch.strategy) for switch in keys.switch)
    definition = {
        "rules": _rule_tables(strategy),
        **{"files_per_commit": None, **_said(keys.writer)},
        "properties": keys.properties,
        "switch": [(at_ms, _rule_tables(built[label])) for at_ms, label in switches],
    }
    return StrategySpec(
        label=keys.label,
        strategy=strategy,
        writer=keys.writer,
        properties=keys.properties,
        switches=switches,
        summary=_summary(keys, strategy),
        hash=content_hash(hidden(definition)),
    )


def _said(writer: WriterKeys) -> dict[str, Any]:
    """What differs from the defaults."""
    return writer.model_dump(mode="json", exclude_defaults=True)


def _rule_tables(strategy: Strategy) -> list[dict[str, Any]]:
    return [{"trigger": to_table(r.trigger), "planner": to_table(r.planner)} for r in strategy.rules]


def _summary(keys: StrategyKeys, strategy: Strategy) -> str:
    rules = "; else ".join(f"{in_words(r.trigger)}: {in_words(r.planner)}" for r in strategy.rules)
    parts = [rules if keys.rules else "no compaction"]
    if keys.writer.files_per_commit is not None:
        parts.append(f"writes {keys.writer.files_per_commit} files a commit")
    if "upsert_mode" in _said(keys.writer):
        parts.append(f"upserts by {keys.writer.upsert_mode}")
    parts += [f"{key}={value}" for key, value in hidden(keys.properties).items()]
    parts += [f"from {duration_ms_text(switch.at_ms)} on as {switch.strategy}" for switch in keys.switch]
    return ", ".join(parts)
