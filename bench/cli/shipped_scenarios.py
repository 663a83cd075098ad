"""The shipped scenarios as `compactbench list` has them: what each is for, and how long its suite takes."""

import re
from collections.abc import Iterator
from typing import Any

from bench.runs.suite.cases import cases, repetitions_of
from bench.scenario import file as scenario_file
from bench.scenario.durations import run_durations
from bench.scenario.load import load_scenario
from bench.scenario.scenario import Scenario
from workloads.history import History

NOTE = (
    "runs: strategies x variants x repetitions. takes: all real runs on two cores, by the newest "
    "published runs; a dash where a strategy has none. A simulation takes seconds."
)
_FIRST = ("quickstart", "example")
_OF_MEASURING = ("append-cold", "append-warm", "trust")  # they ask how far comparisons can be trusted
_FORMATS = ("iceberg", "delta", "hudi")


def shipped_scenarios() -> Iterator[dict[str, Any]]:
    """For a first look, by format, of several formats, and those that examine the measuring."""
    loaded = [(load_scenario(name), str(file)) for name, file in scenario_file.shipped().items()]
    for scenario, file in sorted(loaded, key=lambda entry: _place(entry[0])):
        yield _entry(scenario, file)


def minutes(seconds: float) -> str:
    return f"{max(1, round(seconds / 60)):,} min"


def _entry(scenario: Scenario, file: str) -> dict[str, Any]:
    runs = len(cases(scenario)) * repetitions_of(scenario, "real")
    measured = run_durations().get(scenario.name)
    return {
        "name": scenario.name,
        "doc": scenario.description,
        "purpose": re.split(r"[:.](?: |$)", scenario.description, maxsplit=1)[0],
        "formats": _formats(scenario),
        "stream": _stream(scenario),
        "strategies": ", ".join(spec.label for spec in scenario.strategies),
        "runs": runs,
        "run_s": measured.run_s if measured else None,
        "measured_runs": measured.runs if measured else 0,
        "suite_s": measured.run_s * runs if measured else None,
        "file": file,
    }


def _place(scenario: Scenario) -> tuple[int, int, str]:
    formats = _formats(scenario)
    if scenario.name in _FIRST:
        return 0, _FIRST.index(scenario.name), ""
    if scenario.name in _OF_MEASURING:
        return 3, 0, scenario.name
    if len(formats) > 1:
        return 2, 0, scenario.name
    of_format = _FORMATS.index(formats[0]) if formats[0] in _FORMATS else len(_FORMATS)
    is_later = of_format == 0 and _stream(scenario) != "append"
    return 1, 2 * of_format + is_later, scenario.name


def _formats(scenario: Scenario) -> list[str]:
    """That of the scenario, and then those of its variants."""
    return list(dict.fromkeys(variant.table.format for variant in (scenario, *scenario.variants)))


def _stream(scenario: Scenario) -> str:
    if isinstance(scenario.workload, History):
        return "history"
    return "CDC" if scenario.workload.is_cdc else "append"
