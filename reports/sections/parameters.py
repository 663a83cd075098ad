"""Every parameter of every strategy with its value, those left at their defaults too."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from reports.load import Section
from reports.phrases import Verbatim
from reports.sections.summary import Cell, Column, Table
from reports.text import MISSING

_DEFAULT = "default"
_NOTE = (
    "Options that no strategy gives are in force at their defaults; a dash: the strategy has no such "
    "parameter, or what it is by default was not recorded."
)


def parameters(section: Section) -> Table | None:
    """A row a parameter, a column for each strategy that does anything; None where none does."""
    defaults = section.manifest.option_defaults
    known = {
        label: found
        for label in section.strategies
        if (found := dict(_of_strategy(_definition(section, label), defaults)))
    }
    names = dict.fromkeys(name for found in known.values() for name in found)
    rows = tuple(_row(name, [found.get(name) for found in known.values()], defaults) for name in names)
    columns = (
        *(Column(Verbatim(label), is_number=False) for label in known),
        Column("Default", is_number=False),
    )
    return Table((Column("Parameter", is_number=False), *columns), rows, _NOTE) if rows else None


def _definition(section: Section, label: str) -> Mapping[str, Any]:
    """The strategy as its own run's scenario has it."""
    manifest = next(run.manifest for run in section.runs if run.manifest.strategy == label)
    strategies = manifest.scenario_text.get("strategies")
    told = strategies if isinstance(strategies, list) else []
    return next((s for s in told if isinstance(s, dict) and s.get("label") == label), {})


_Name = tuple[str, str, str]  # of a rule ("" where there is one), of its planner, of the parameter


def _of_strategy(
    definition: Mapping[str, Any], defaults: Mapping[str, Mapping[str, str]]
) -> Iterator[tuple[_Name, str]]:
    rules = [rule for rule in definition.get("rules", ()) if rule["planner"]["type"] != "never"]
    for number, rule in enumerate(rules, 1):
        prefix = f"rule {number}, " if len(rules) > 1 else ""
        yield (prefix, "", "trigger"), _plugin(rule["trigger"])
        yield (prefix, "", "planner"), rule["planner"]["type"]
        yield from _of_planner(prefix, rule["planner"], defaults)
    for name in ("writer", "properties", "switch"):
        if definition.get(name):
            yield ("", "", name), _value(definition[name])


def _of_planner(
    prefix: str, planner: Mapping[str, Any], defaults: Mapping[str, Mapping[str, str]]
) -> Iterator[tuple[_Name, str]]:
    kind, options = planner["type"], planner.get("options")
    given = options if isinstance(options, dict) else {}
    for name, value in planner.items():
        if name not in ("type", "options"):
            yield (prefix, kind, name), _value(value)
    for name in dict.fromkeys([*defaults.get(kind, {}), *given]):
        yield (prefix, kind, name), _value(given[name]) if name in given else _DEFAULT


def _row(
    name: _Name, values: list[str | None], defaults: Mapping[str, Mapping[str, str]]
) -> tuple[Cell, ...]:
    prefix, kind, parameter = name
    default = defaults.get(kind, {}).get(parameter)
    cells = (Cell(MISSING if value is None else value) for value in values)
    return (
        Cell(Verbatim(parameter), f"{prefix}{kind}"),
        *cells,
        Cell(MISSING if default is None else default),
    )


def _plugin(table: Mapping[str, Any]) -> str:
    given = ", ".join(f"{key}={_value(value)}" for key, value in table.items() if key != "type")
    return f"{table.get('type')}({given})"


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
