"""Variants: a scenario once more, with some of its keys changed, to be compared with it in pairs of runs.

All variants replay one stream and answer the same queries. A strategy runs in a variant under a label of its
own, `never @ cache-on`, so that everything that tells strategies apart tells variants apart too.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import JsonValue

from bench.engines import runtime
from bench.engines.keys import TableKeys, known_text, value_text
from bench.errors import ScenarioError
from bench.results.records import label_in
from bench.scenario import file as scenario_file
from bench.scenario.schema import VariantKeys
from bench.scenario.specs import StrategySpec
from bench.scenario.values import KeyPath, OptionError, path_text
from bench.secrets import hidden

BASE = "base"  # what `--only variant=...` calls the scenario as it is

_OF_STREAM = "determines the stream, which all variants share: make it a scenario of its own"
_OF_MEASURING = "determines what is measured, which all variants share: make it a scenario of its own"
_OF_FILE = "belongs to the scenario as a whole, not to a variant: leave it out"
_SHARED: Mapping[str, str] = {
    **dict.fromkeys(("workload", "seed", "duration", "commit_interval", "clock"), _OF_STREAM),
    **dict.fromkeys(("probes", "probe_every", "side_probe_every", "probe_phase", "prices"), _OF_MEASURING),
    **dict.fromkeys(("description", "repetitions", "variants"), _OF_FILE),
}


_TABLE_OF_EVERY_FORMAT = {field.alias or name for name, field in TableKeys.model_fields.items()} - {
    "properties"
}


@dataclass(frozen=True, slots=True)
class Variant:
    """What makes a variant: the keys that it sets, in the notation of `--set`, secrets hidden.

    `versions` is the name of a line of `runtime.LINES`; None for the default one.
    """

    label: str
    changes: Mapping[str, JsonValue]
    versions: str | None = None

    def to_json(self) -> dict[str, JsonValue]:
        """The variant as manifests hold it."""
        return {"label": self.label, "set": dict(self.changes), "versions": self.versions}

    def __str__(self) -> str:
        """What it changes, in words."""
        changes = {**self.changes, **({"versions": self.versions} if self.versions else {})}
        return ", ".join(f"{key} = {value_text(value)}" for key, value in changes.items())


def spec_in(spec: StrategySpec, variant: str) -> StrategySpec:
    """A strategy as it runs in a variant; so are those that it switches to."""
    label = label_in(spec.label, variant)
    return replace(
        spec,
        label=label,
        strategy=replace(spec.strategy, label=label),
        switches=tuple((at_ms, label_in(other, variant)) for at_ms, other in spec.switches),
    )


def check_variants(variants: Sequence[VariantKeys], strategies: Sequence[str]) -> None:
    """Refuse labels that are taken, and a variant that changes nothing. Raises OptionError."""
    labels = [variant.label for variant in variants]
    for index, (label, variant) in enumerate(zip(labels, variants, strict=True)):
        path: KeyPath = ("variants", index)
        if label == BASE:
            raise OptionError((*path, "label"), "means the scenario as it is: choose another", label)
        if label in labels[:index]:
            problem = f"is also the label of variants[{labels.index(label)}]: rename one"
            raise OptionError((*path, "label"), problem, label)
        for name in strategies:
            if label_in(name, label) in strategies:
                problem = f"makes {label_in(name, label)!r} of {name!r}, which is a strategy: rename one"
                raise OptionError((*path, "label"), problem, label)
        if not variant.changes and variant.versions is None:
            raise OptionError(path, "changes nothing: give it `set` or `versions`", label)


def check_versions(variant: Variant, table_format: str, path: KeyPath) -> None:
    """Refuse a line of versions that is unknown, or of another format. Raises OptionError."""
    lines = [line.name for line in runtime.LINES if line.format == table_format]
    if variant.versions not in (None, *lines):
        problem = f"no such line of versions for tables of format {table_format!r}; "
        remedy = known_text(str(variant.versions), lines) if lines else "leave it out"
        raise OptionError((*path, "versions"), problem + remedy, variant.versions)


def changed(document: Mapping[str, Any], keys: VariantKeys, path: KeyPath) -> tuple[dict[str, Any], Variant]:
    """A file's document with the keys of one of its variants set, and the variant itself.

    A variant of another format starts without the keys that only the scenario's format has. `path` leads to
    the variant. Raises OptionError on a key that does not exist or that all variants share.
    """
    merged, changes = _with_changes(document, keys, path)
    if _format_of(merged) != _format_of(document):
        merged, changes = _with_changes(_of_every_format(document), keys, path)
    return merged, Variant(keys.label, hidden(changes), keys.versions)


def _of_every_format(document: Mapping[str, Any]) -> dict[str, Any]:
    """A file's document with the keys that mean the same in every format.

    Left out are the catalog, properties, the keys of [table] that only its format has, and the upsert modes
    of writers. Rules stay, though most are for one format: a strategy must not turn into another silently.
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
    """A copy of the document with the variant's keys set, and each key that was set with its value."""
    copied = {key: copy.deepcopy(value) for key, value in document.items() if key != "variants"}
    changes: dict[str, Any] = {}
    for key, value in keys.changes.items():
        try:
            merged = scenario_file.merge(copied, key, value)
        except ScenarioError as error:
            raise OptionError((*path, "set"), str(error)) from None
        for changed_path, item in merged:
            _check_own(changed_path, path)
            changes[path_text(changed_path)] = item
    return copied, changes


def _format_of(document: Mapping[str, Any]) -> object:
    """The format of a document's tables; None if [table] is not a table, which the schema refuses."""
    table = document["table"]
    return table["format"] if isinstance(table, Mapping) else None


def _check_own(changed_path: KeyPath, path: KeyPath) -> None:
    """Refuse a key that no variant may change."""
    first, last = changed_path[0], changed_path[-1]
    problem = _SHARED.get(str(first))
    if first == "strategies" and (len(changed_path) < 3 or last == "label"):
        problem = "names the strategies, which run in every variant: change keys of one of them instead"
    if problem is not None:
        raise OptionError((*path, "set"), f"{path_text(changed_path)} {problem}")
