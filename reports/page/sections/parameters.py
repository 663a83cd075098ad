"""Every parameter of every strategy with its value, including those left at their defaults."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from bench.text import MISSING
from reports.data.group import RunGroup
from reports.page.tables import Cell, Column, Table
from reports.phrases import Verbatim

_DEFAULT = "default"
_CAPTION = "Every parameter of every strategy"
_NOTE = (
    f"{_DEFAULT}: not set by the strategy, so the value on the right applies. A dash: the strategy has no "
    "such parameter, or the default was not recorded."
)


def parameters(group: RunGroup) -> Table | None:
    """A row per parameter, a column per strategy with parameters; None if no strategy has any."""
    defaults = {name: own for run in group.runs for name, own in run.manifest.option_defaults.items()}
    of_all = {label: dict(_of_strategy(group.definition(label), defaults)) for label in group.strategies}
    by_label = {label: values for label, values in of_all.items() if values}
    names = dict.fromkeys(name for values in by_label.values() for name in values)
    rows = tuple(_row(name, [values.get(name) for values in by_label.values()], defaults) for name in names)
    titles = ("Parameter", *map(Verbatim, by_label), "Default")
    if not rows:
        return None
    columns = tuple(Column(title, is_number=False) for title in titles)
    return Table(columns, rows, _NOTE, caption=_CAPTION)


_Name = tuple[str, str, str]  # the rule ("" if there is only one), its planner, the parameter


def _of_strategy(
    definition: Mapping[str, Any], defaults: Mapping[str, Mapping[str, str]]
) -> Iterator[tuple[_Name, str]]:
    rules = [rule for rule in definition.get("rules", ()) if rule["planner"]["type"] != "never"]
    for number, rule in enumerate(rules, 1):
        name = f"rule {number}" if len(rules) > 1 else ""
        yield (name, "", "trigger"), plugin_text(rule["trigger"])
        yield (name, "", "planner"), rule["planner"]["type"]
        for key in (key for key in rule if key not in ("trigger", "planner")):
            yield (name, "", key), _value(rule[key])
        yield from _of_planner(name, rule["planner"], defaults)
    for name in ("writer", "properties"):
        if definition.get(name):
            yield ("", "", name), _value(definition[name])


def _of_planner(
    rule: str, planner: Mapping[str, Any], defaults: Mapping[str, Mapping[str, str]]
) -> Iterator[tuple[_Name, str]]:
    kind, options = planner["type"], planner.get("options")
    set_options = options if isinstance(options, dict) else {}
    for name, value in planner.items():
        if name not in ("type", "options"):
            yield (rule, kind, name), _value(value)
    for name in dict.fromkeys([*defaults.get(kind, {}), *set_options]):
        yield (rule, kind, name), _value(set_options[name]) if name in set_options else _DEFAULT


def _row(
    name: _Name, values: list[str | None], defaults: Mapping[str, Mapping[str, str]]
) -> tuple[Cell, ...]:
    rule, kind, parameter = name
    default = defaults.get(kind, {}).get(parameter)
    cells = (Cell(MISSING if value is None else value) for value in values)
    return (
        Cell(Verbatim(parameter), ", ".join(filter(None, (rule, kind)))),
        *cells,
        Cell(MISSING if default is None else default),
    )


def plugin_text(table: Mapping[str, Any]) -> str:
    """A trigger or planner of a resolved scenario, as `type(option=value)`."""
    options = ", ".join(f"{key}={_value(value)}" for key, value in table.items() if key != "type")
    return f"{table.get('type')}({options})"


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
