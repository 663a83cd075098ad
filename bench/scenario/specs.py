"""The strategies of a scenario: built from their rules, checked against its times, and hashed."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bench.engines.keys import duration_ms_text
from bench.engines.registry import FORMATS
from bench.scenario.plugins import in_words, name_of, to_table
from bench.scenario.schema import ScenarioKeys, StrategyKeys, WriterKeys
from bench.secrets import hidden
from bench.text import counted
from strategies.never import Never
from strategies.planner import Planner, known_options_of, traits_of
from strategies.strategy import Rule, Strategy
from strategies.triggers import AfterCommits

_BASELINE_RULE = Rule(AfterCommits(1), Never())


@dataclass(frozen=True, slots=True)
class StrategySpec:
    """A strategy of the scenario, and the writer and table properties that it overrides.

    `upsert_mode` is how its commits update and delete rows, None if the format's engines only append.
    `summary` is in words. `hash` identifies the definition, independent of the label.
    """

    label: str
    strategy: Strategy
    writer: WriterKeys
    upsert_mode: str | None
    properties: Mapping[str, str]
    summary: str
    hash: str


def build_strategies(keys: ScenarioKeys) -> tuple[StrategySpec, ...]:
    default_mode = FORMATS[keys.table.format].writer.default_upsert_mode
    return tuple(_spec(strategy, default_mode) for strategy in keys.strategies)


def strategy_table(spec: StrategySpec) -> dict[str, Any]:
    """The strategy in the form of a file, with all defaults written out."""
    return {
        "label": spec.label,
        "rules": rule_tables(spec.strategy.rules),
        "writer": _overrides(spec.writer),
        "properties": dict(spec.properties),
    }


def option_defaults(strategies: Iterable[StrategySpec]) -> dict[str, dict[str, str]]:
    """By planner, the defaults of its known options, in words."""
    planners = [type(rule.planner) for spec in strategies for rule in spec.strategy.rules]
    known = {name_of(planner): known_options_of(planner) for planner in planners}
    return {name: dict(options) for name, options in known.items() if options}


def content_hash(content: object) -> str:
    """16 hexadecimal digits of SHA-256 over `content` as JSON."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _spec(keys: StrategyKeys, default_mode: str | None) -> StrategySpec:
    strategy = Strategy(keys.label, tuple(rule.rule for rule in keys.rules) or (_BASELINE_RULE,))
    writer = keys.writer
    if writer.upsert_mode == default_mode:  # naming the default changes nothing
        writer = writer.model_copy(update={"upsert_mode": None})
    definition = {
        "rules": rule_tables(strategy.rules),
        **{"files_per_commit": None, **_overrides(writer)},
        "properties": keys.properties,
        "switch": [],  # stored results were hashed with it: equal definitions keep their hash
    }
    return StrategySpec(
        label=keys.label,
        strategy=strategy,
        writer=writer,
        upsert_mode=writer.upsert_mode or default_mode,
        properties=keys.properties,
        summary=_summary(keys, strategy, writer),
        hash=content_hash(hidden(definition)),
    )


def _overrides(writer: WriterKeys) -> dict[str, Any]:
    return writer.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def rule_tables(rules: Iterable[Rule]) -> list[dict[str, Any]]:
    return [
        {
            "trigger": to_table(rule.trigger),
            "planner": to_table(rule.planner),
            **({} if rule.delay_ms is None else {"delay": duration_ms_text(rule.delay_ms)}),
            **({"inline": True} if rule.is_inline else {}),
            **({} if rule.executor is None else {"executor": rule.executor}),
        }
        for rule in rules
    ]


def rule_text(rule: Rule) -> str:
    """A rule in a few words: trigger, planner, and how its plans are executed if that is not the default."""
    return f"{in_words(rule.trigger)}: {planner_text(rule.planner, rule.executor)}{_manner(rule)}"


def planner_text(planner: Planner, executor: str | None) -> str:
    """A planner with its options, and its executor unless that is the engine's own."""
    return in_words(planner) + (f" by {executor}" if executor else "")


def _manner(rule: Rule) -> str:
    if rule.is_inline and not rule.delay_ms:
        return " within the commit"
    later = f"committed {duration_ms_text(rule.delay_ms)} later" if rule.delay_ms else ""
    where = "planned within the commit" if rule.is_inline else ""
    return "".join(f", {part}" for part in (where, later) if part)


def _summary(keys: StrategyKeys, strategy: Strategy, writer: WriterKeys) -> str:
    rules = "; else ".join(map(rule_text, strategy.rules))
    without_rules = "no rules" if keys.properties else "no compaction"  # a property may make commits compact
    may_plan = any(traits_of(rule.planner).may_plan for rule in strategy.rules)
    parts = [rules if may_plan else without_rules]
    if keys.writer.files_per_commit is not None:
        parts.append(f"writes {counted(keys.writer.files_per_commit, 'file')} per commit")
    if writer.commit_every_ms is not None:
        parts.append(f"commits every {duration_ms_text(writer.commit_every_ms)}")
    if writer.upsert_mode is not None:
        parts.append(f"upserts by {writer.upsert_mode}")
    parts += [f"{key}={value}" for key, value in hidden(keys.properties).items()]
    return ", ".join(parts)
