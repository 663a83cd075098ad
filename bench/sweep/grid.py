"""The scenarios and strategies of a sweep: every combination of the values of its axes."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import product
from pathlib import Path
from typing import Any

from bench.errors import ScenarioError
from bench.names import known_text
from bench.results.cells import cell_label
from bench.scenario import file as scenario_file
from bench.scenario.load import scenario_of
from bench.scenario.scenario import Scenario
from bench.sweep.axes import OPTION, RULE, Axis, parse_axis

CELLS_MAX = 10_000
_MARK_LENGTH = 6


def swept_scenarios(base: Scenario, over: Sequence[str]) -> list[Scenario]:
    """The scenario with each strategy that has an axis replaced by one for each of its cells.

    Axes of the scenario itself make a scenario for each combination of their values. Raises ScenarioError.
    """
    axes = _axes(base, over)
    document = _swept(base.document, [axis for axis in axes if axis.strategy is not None])
    own = [axis for axis in axes if axis.strategy is None]
    return [
        scenario_of(file, made, secrets=base.secrets) for file, made in _documents(base.file, document, own)
    ]


def families(base: Scenario, over: Sequence[str]) -> dict[str, dict[str, tuple[str, ...]]]:
    """The cells of each strategy that has an axis: by label, what `--set` would change of the strategy.

    Raises ScenarioError, also for an axis of the scenario itself.
    """
    own: dict[str, list[Axis]] = {}
    for axis in _axes(base, over):
        if axis.strategy is None:
            problem = "is no key of a strategy: vary the stream by `compactbench sweep`"
            raise ScenarioError(problem, code="not-an-axis", path=f"{OPTION} {axis.key}")
        own.setdefault(axis.strategy, []).append(axis)
    return {
        label: {
            cell: tuple(
                f"strategies[{label}].{axis.key}={value}" for axis, value in zip(axes, values, strict=True)
            )
            for cell, values in _settings(label, axes)
        }
        for label, axes in own.items()
    }


def drawn(labels: Sequence[str], seed: int, count: int) -> list[str]:
    """`count` of the labels, drawn from the seed, in their own order."""
    hashes = {label: hashlib.sha256(f"{seed}/{label}".encode()).digest() for label in labels}
    chosen = {*sorted(hashes, key=hashes.__getitem__)[:count]}
    return [label for label in labels if label in chosen]


def _axes(base: Scenario, over: Sequence[str]) -> list[Axis]:
    axes = [parse_axis(text, base.commit_interval_ms) for text in over]
    labels = [spec.label for spec in base.strategies]
    _check_distinct(axes)
    _check_count(axes, len(labels))
    for axis in axes:
        if axis.strategy is not None and axis.strategy not in labels:
            problem = f"no such strategy; {known_text(axis.strategy, labels)}"
            raise ScenarioError(problem, code="unknown-name", path=f"{OPTION} strategies.{axis.strategy}")
    return axes


def _check_distinct(axes: Sequence[Axis]) -> None:
    """Of two axes of one key only the last would have an effect."""
    for (strategy, key), count in Counter((axis.strategy, axis.key) for axis in axes).items():
        if count > 1:
            name = key if strategy is None else f"strategies.{strategy}.{key}"
            raise ScenarioError(
                "is given twice: write all its values in one", code="twice", path=f"{OPTION} {name}"
            )


def _check_count(axes: Sequence[Axis], strategies_count: int) -> None:
    """Before any of them is made."""
    sizes: dict[str | None, int] = {}
    for axis in axes:
        sizes[axis.strategy] = sizes.get(axis.strategy, 1) * len(axis.values)
    scenarios_count = sizes.pop(None, 1)
    count = scenarios_count * (sum(sizes.values()) + strategies_count - len(sizes))
    if count > CELLS_MAX:
        problem = f"makes {count:,} runs, more than {CELLS_MAX:,}: take fewer values"
        raise ScenarioError(problem, code="too-many", path=OPTION)


def _swept(document: Mapping[str, Any], axes: Sequence[Axis]) -> dict[str, Any]:
    changed = deepcopy(dict(document))
    strategies: list[Mapping[str, Any]] = []
    for strategy in changed["strategies"]:
        own = [axis for axis in axes if axis.strategy == strategy.get("label")]
        strategies += _cells(strategy, own) if own else [strategy]
    return {**changed, "strategies": strategies}


def _cells(strategy: Mapping[str, Any], axes: Sequence[Axis]) -> Iterator[Mapping[str, Any]]:
    for label, values in _settings(strategy["label"], axes):
        cell = {"strategies": [deepcopy(dict(strategy))]}
        for axis, value in zip(axes, values, strict=True):
            _set_in_rule(cell, axis, value)
        yield {**cell["strategies"][0], "label": label}


def _settings(family: str, axes: Sequence[Axis]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The labels of a family's cells, with a value of each axis."""
    names = [axis.name for axis in axes]
    for values in product(*(axis.values for axis in axes)):
        yield cell_label(family, zip(names, values, strict=True)), values


def _set_in_rule(cell: dict[str, Any], axis: Axis, value: str) -> None:
    if axis.key.startswith(RULE) and not cell["strategies"][0].get("rules"):
        problem = "the strategy has no rule, so it has no interval and no options: choose another one"
        raise ScenarioError(problem, code="no-rule", path=f"{OPTION} strategies.{axis.strategy}.{axis.name}")
    scenario_file.override(cell, f"strategies[0].{axis.key}={value}", OPTION)


def _documents(
    file: Path, document: Mapping[str, Any], axes: Sequence[Axis]
) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Each scenario with a file name of its own, which names its results; it need not exist."""
    used: set[str] = set()
    for values in product(*(axis.values for axis in axes)):
        changed = deepcopy(dict(document))
        for axis, value in zip(axes, values, strict=True):
            scenario_file.override(changed, f"{axis.key}={value}", OPTION)
        names = [f"{axis.name}-{value}" for axis, value in zip(axes, values, strict=True)]
        stem = "-".join(re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") for name in (file.stem, *names))
        if len(stem) > scenario_file.NAME_LENGTH_MAX or stem in used:
            stem = _marked(stem, values)
        used.add(stem)
        yield file.with_name(f"{stem}{file.suffix}"), changed


def _marked(stem: str, values: Sequence[str]) -> str:
    """A name of a permitted length, which still differs from those with other values."""
    mark = hashlib.sha256(f"{stem} {values}".encode()).hexdigest()[:_MARK_LENGTH]
    return f"{stem[: scenario_file.NAME_LENGTH_MAX - _MARK_LENGTH - 1].strip('-')}-{mark}"
