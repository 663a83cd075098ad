"""`compactbench list`: everything a scenario can refer to by name, with explanations and options."""

from collections.abc import Callable, Iterable
from dataclasses import asdict
from enum import StrEnum
from typing import Annotated, Any

import typer

from bench.cli.output import FormatOption, OutputFormat, print_json, print_table
from bench.engines.registry import FORMATS, PLANNED
from bench.results.rows import METRICS
from bench.scenario import file as scenario_file
from bench.scenario import plugins
from bench.scenario.scenario import load_scenario


class Topic(StrEnum):
    """What can be listed."""

    STRATEGIES = "strategies"
    TRIGGERS = "triggers"
    FORMATS = "formats"
    WORKLOADS = "workloads"
    SCENARIOS = "scenarios"
    METRICS = "metrics"
    ARRIVALS = "arrivals"


def list_what(
    what: Annotated[
        Topic, typer.Argument(metavar="WHAT", show_choices=False, help=f"One of: {', '.join(Topic)}.")
    ],
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """List what a scenario can refer to by name, with explanations and options.

    * `compactbench list strategies`: the planners, for `planner = { type = ... }`

    * `compactbench list triggers`: the triggers, for `trigger = { type = ... }`

    * `compactbench list metrics`: what the figures of a report mean
    """
    entries = _ENTRIES[what]()
    if output is OutputFormat.JSON:
        print_json(entries)
        return
    shown = [{key: _cell(value) for key, value in entry.items()} for entry in entries]
    print_table([_HEADINGS.get(key, key) for key in shown[0]], [tuple(row.values()) for row in shown])


_HEADINGS = {"doc": "description"}


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    return "\n".join(_option(option) for option in value)


def _option(option: dict[str, str | None]) -> str:
    default = "required" if option["default"] is None else f"default {option['default']}"
    return f"{option['key']}: {'; '.join(filter(None, (option['type'], default)))}"


def _plugins(kind: plugins.PluginKind[Any]) -> Callable[[], list[dict[str, Any]]]:
    return lambda: [
        {"name": plugin.name, "doc": plugin.doc, "options": [asdict(option) for option in plugin.options]}
        for plugin in plugins.describe_all(kind)
    ]


def _formats() -> list[dict[str, Any]]:
    built = [
        {"name": name, "doc": found.description, "engine": bool(found.real or found.simulated)}
        for name, found in FORMATS.items()
    ]
    return [*built, *({"name": name, "doc": doc, "engine": False} for name, doc in PLANNED.items())]


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


_ENTRIES: dict[Topic, Callable[[], list[dict[str, Any]]]] = {
    Topic.STRATEGIES: _plugins(plugins.PLANNER),
    Topic.TRIGGERS: _plugins(plugins.TRIGGER),
    Topic.FORMATS: _formats,
    Topic.WORKLOADS: _plugins(plugins.WORKLOAD),
    Topic.SCENARIOS: _scenarios,
    Topic.METRICS: _metrics,
    Topic.ARRIVALS: _plugins(plugins.ARRIVAL),
}
