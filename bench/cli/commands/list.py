"""`compactbench list`: what a scenario can name, each explained with its options."""

from collections.abc import Callable, Iterable
from dataclasses import asdict
from enum import StrEnum
from typing import Annotated, Any

import typer

from bench.cli.output import Format, FormatOption, print_json, print_table
from bench.engines.registry import FORMATS, PLANNED
from bench.results.rows import METRICS
from bench.scenario import file as scenario_file
from bench.scenario import plugins
from bench.scenario.scenario import load_scenario


class Listed(StrEnum):
    """What can be listed."""

    STRATEGIES = "strategies"
    TRIGGERS = "triggers"
    FORMATS = "formats"
    WORKLOADS = "workloads"
    SCENARIOS = "scenarios"
    METRICS = "metrics"
    ARRIVALS = "arrivals"


def list_what(
    what: Annotated[Listed, typer.Argument(help="What to list.")], output: FormatOption = Format.TABLE
) -> None:
    """Explain what a scenario can name, and the options each takes.

    * `compactbench list strategies`: planners, for `planner = { type = ... }`

    * `compactbench list triggers`: for `trigger = { type = ... }`

    * `compactbench list metrics`: what the figures of a report mean
    """
    entries = _ENTRIES[what]()
    if output is Format.JSON:
        print_json(entries)
        return
    shown = [{key: _cell(value) for key, value in entry.items()} for entry in entries]
    print_table(list(shown[0]), [tuple(row.values()) for row in shown])


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    return "\n".join(_option(option) for option in value)


def _option(option: dict[str, str | None]) -> str:
    default = "must be given" if option["default"] is None else f"default {option['default']}"
    return f"{option['key']}: {'; '.join(filter(None, (option['type'], default)))}"


def _plugins(kind: plugins.PluginKind[Any]) -> Callable[[], list[dict[str, Any]]]:
    return lambda: [
        {"name": told.name, "doc": told.doc, "options": [asdict(option) for option in told.options]}
        for told in plugins.describe_all(kind)
    ]


def _formats() -> list[dict[str, Any]]:
    described = {**{name: found.description for name, found in FORMATS.items()}, **PLANNED}
    return [{"name": name, "doc": doc, "engine": name in FORMATS} for name, doc in described.items()]


def _scenarios() -> list[dict[str, Any]]:
    loaded = [(load_scenario(name), file) for name, file in scenario_file.shipped().items()]
    return [
        {"name": s.name, "doc": s.description, "strategies": _labels(s.strategies), "file": str(file)}
        for s, file in loaded
    ]


def _labels(specs: Iterable[Any]) -> str:
    return ", ".join(spec.label for spec in specs)


def _metrics() -> list[dict[str, Any]]:
    return [
        {"name": m.name, "unit": m.unit, "better": m.better, "exact": m.exact, "doc": m.definition}
        for m in METRICS
    ]


_ENTRIES: dict[Listed, Callable[[], list[dict[str, Any]]]] = {
    Listed.STRATEGIES: _plugins(plugins.PLANNER),
    Listed.TRIGGERS: _plugins(plugins.TRIGGER),
    Listed.FORMATS: _formats,
    Listed.WORKLOADS: _plugins(plugins.WORKLOAD),
    Listed.SCENARIOS: _scenarios,
    Listed.METRICS: _metrics,
    Listed.ARRIVALS: _plugins(plugins.ARRIVAL),
}
