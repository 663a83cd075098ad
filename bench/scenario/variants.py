"""Variants: a scenario with some keys changed, compared with the original in pairs of runs.

All variants replay one stream and answer the same queries. In a variant, a strategy runs under another label,
`never @ cache-on`, so that results and reports distinguish variants as they distinguish strategies.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import JsonValue

from bench.engines.keys import TableKeys, value_text
from bench.errors import ScenarioError
from bench.names import known_text
from bench.results.records import label_in
from bench.scenario import file as scenario_file
from bench.scenario.schema import VariantKeys
from bench.scenario.specs import StrategySpec
from bench.scenario.values import KeyPath, OptionError, path_text
from bench.secrets import hidden

BASE = "base"  # in `--only variant=...`, the scenario without changes

_OF_STREAM = "determines the stream, which all variants share: make it a scenario of its own"
_OF_MEASURING = "determines what is measured, which all variants share: make it a scenario of its own"
_OF_FILE = "belongs to the scenario as a whole, not to a variant: leave it out"
_SHARED: Mapping[str, str] = {
    **dict.fromkeys(("workload", "seed", "duration", "commit_interval", "clock"), _OF_STREAM),
    **dict.fromkeys(
        ("probes", "probe_every", "side_probe_every", "probe_phase", "queries", "prices"), _OF_MEASURING
    ),
    **dict.fromkeys(("description", "repetitions", "variants"), _OF_FILE),
}
_TABLE_OF_EVERY_FORMAT = {field.alias or name for name, field in TableKeys.model_fields.items()} - {
    "properties"
}


@dataclass(frozen=True, slots=True)
class Variant:
    """`changes` are the keys that it sets, in the notation of `--set`, secrets hidden.

    `only` are the labels of the strategies that run in it; empty for all.
    """

    label: str
    changes: Mapping[str, JsonValue]
    only: tuple[str, ...] = ()

    def has(self, strategy: str) -> bool:
        """Whether a strategy of the scenario runs in the variant."""
        return not self.only or strategy in self.only

    def to_json(self) -> dict[str, JsonValue]:
        """As in a manifest."""
        return {"label": self.label, "set": dict(self.changes)}

    def __str__(self) -> str:
        changes = {**self.changes, **({"only": list(self.only)} if self.only else {})}
        return ", ".join(f"{key} = {value_text(value)}" for key, value in changes.items())


def spec_in(spec: StrategySpec, variant: str) -> StrategySpec:
    """The strategy with its label in a variant."""
    label = label_in(spec.label, variant)
    return replace(spec, label=label, strategy=replace(spec.strategy, label=label))


def check_variant(variants: Sequence[VariantKeys], index: int, strategies: Sequence[str]) -> None:
    """Raises OptionError for a label that is taken, and for a variant that changes nothing."""
    path: KeyPath = ("variants", index)
    variant, before = variants[index], [other.label for other in variants[:index]]
    label = variant.label
    if label == BASE:
        problem = "is reserved for the scenario without changes: choose another label"
        raise OptionError((*path, "label"), problem, label, code="taken")
    if label in before:
        problem = f"is also the label of variants[{before.index(label)}]: rename one"
        raise OptionError((*path, "label"), problem, label, code="taken")
    for name in strategies:
        if label_in(name, label) in strategies:
            problem = f"makes {name!r} {label_in(name, label)!r}, which is another strategy: rename one"
            raise OptionError((*path, "label"), problem, label, code="taken")
    if not variant.changes:
        raise OptionError(path, "changes nothing: add `set`", label, code="no-change")
    for name in variant.only:
        if name not in strategies:
            problem = f"no such strategy; {known_text(name, strategies)}"
            raise OptionError((*path, "only"), problem, name, code="unknown-name")


def changed(document: Mapping[str, Any], keys: VariantKeys, path: KeyPath) -> tuple[dict[str, Any], Variant]:
    """A file's document with the keys of one of its variants, which is at `path`, and the variant itself.

    A variant of another format starts without the keys that only the scenario's format has. Raises
    OptionError for a key that does not exist or that all variants share.
    """
    merged, changes = _with_changes(document, keys, path)
    if _format_of(merged) != _format_of(document):
        merged, changes = _with_changes(_of_every_format(document), keys, path)
    return merged, Variant(keys.label, hidden(changes), keys.only)


def _of_every_format(document: Mapping[str, Any]) -> dict[str, Any]:
    """A file's document without the keys of one format: catalog, properties, upsert modes, some of [table].

    Rules stay, although most are for one format: a strategy must not silently turn into another.
    """
    general = {key: value for key, value in document.items() if key != "catalog"}
    table = {key: value for key, value in document["table"].items() if key in _TABLE_OF_EVERY_FORMAT}
    strategies = [_strategy_of_every_format(strategy) for strategy in document.get("strategies", [])]
    return {**general, "table": table, **({"strategies": strategies} if strategies else {})}


def _strategy_of_every_format(strategy: Mapping[str, Any]) -> dict[str, Any]:
    general = {key: value for key, value in strategy.items() if key not in ("properties", "writer")}
    writer = {key: value for key, value in strategy.get("writer", {}).items() if key != "upsert_mode"}
    return {**general, **({"writer": writer} if writer else {})}


def _with_changes(
    document: Mapping[str, Any], keys: VariantKeys, path: KeyPath
) -> tuple[dict[str, Any], dict[str, Any]]:
    """A copy of the document with the variant's keys set, and their values by key."""
    copied = {key: copy.deepcopy(value) for key, value in document.items() if key != "variants"}
    changes: dict[str, Any] = {}
    for key, value in keys.changes.items():
        try:
            merged = scenario_file.merge(copied, key, value)
        except ScenarioError as error:
            raise OptionError((*path, "set"), str(error), code=error.code) from None
        for changed_path, item in merged:
            _check_own(changed_path, path)
            changes[path_text(changed_path)] = item
    return copied, changes


def _format_of(document: Mapping[str, Any]) -> object:
    """None if [table] is not a table, which the schema refuses."""
    table = document["table"]
    return table["format"] if isinstance(table, Mapping) else None


def _check_own(changed_path: KeyPath, path: KeyPath) -> None:
    """Raises OptionError for a key that no variant may change."""
    first, last = changed_path[0], changed_path[-1]
    problem = _SHARED.get(str(first))
    if first == "strategies" and (len(changed_path) < 3 or last == "label"):
        problem = "names the strategies, which run in every variant: change keys of one of them instead"
    if problem is not None:
        problem = f"{path_text(changed_path)} {problem}"
        raise OptionError((*path, "set"), problem, code="shared-by-variants")
