"""`compactbench list`: what a scenario can refer to by name, in a table or one entry in full."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Annotated, Any

import typer

from bench.cli.output import (
    FormatOption,
    OutputFormat,
    print_facts,
    print_heading,
    print_json,
    print_line,
    print_paragraph,
    print_table,
)
from bench.cli.tables import Column
from bench.engines.keys import duration_ms_text, known_text
from bench.engines.registry import FORMATS
from bench.errors import ScenarioError
from bench.results.metrics import METRICS
from bench.scenario import file as scenario_file
from bench.scenario import plugins
from bench.scenario.load import load_scenario
from bench.scenario.scenario import Scenario
from bench.text import counted, named_once

Entry = dict[str, Any]


class Topic(StrEnum):
    STRATEGIES = "strategies"
    TRIGGERS = "triggers"
    FORMATS = "formats"
    WORKLOADS = "workloads"
    SCENARIOS = "scenarios"
    METRICS = "metrics"
    ARRIVALS = "arrivals"


@dataclass(frozen=True, slots=True)
class Catalogue:
    """How one topic is listed. Users name their own entries as module:Class if these are plug-ins."""

    word: str  # for an entry
    use: str  # what the topic lists
    entries: Callable[[], list[Entry]]
    print_entry: Callable[[Entry], None]
    columns: Mapping[str, Column]  # by key of an entry
    plugin: plugins.PluginKind[Any] | None = None


def list_what(
    topic: Annotated[
        str | None,
        typer.Argument(
            metavar="TOPIC",
            autocompletion=lambda: list(Topic),
            help="What to list; without it, the topics.",
            show_default=False,
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="Print this entry in full: a name of the topic, or a class of your own as module:Class.",
            show_default=False,
        ),
    ] = None,
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """List what a scenario can refer to by name, or explain one entry with its options.

    * `compactbench list strategies`

    * `compactbench list strategies amoro`

    * `compactbench list scenarios quickstart`

    * `compactbench list metrics write_amplification`

    The topics: strategies (the planners, which say what is compacted), triggers (when), workloads and
    arrivals (the stream), formats, scenarios (those that ship with compactbench) and metrics (what the
    figures mean).
    """
    if topic is None:
        topics = [{"name": str(entry), "doc": _CATALOGUES[entry].use} for entry in Topic]
        _print_all(topics, {"name": Column("topic"), "doc": Column("what it lists")}, output)
        return
    if topic not in list(Topic):
        raise ScenarioError(
            f"no such topic; {known_text(topic, Topic)}", code="unknown-name", path=f"list {topic}"
        )
    catalogue = _CATALOGUES[Topic(topic)]
    entries = catalogue.entries()
    if name is None:
        _print_all(entries, catalogue.columns, output)
        return
    named = next((entry for entry in entries if entry["name"] == name), None)
    if named is None and ":" in name and catalogue.plugin is not None:
        named = _plugin_entry(plugins.describe_named(catalogue.plugin, name))
    if named is None:
        known = known_text(name, (entry["name"] for entry in entries))
        own = "" if catalogue.plugin is None else "; name your own as module:Class"
        problem = f"no such {catalogue.word}; {known}{own}"
        raise ScenarioError(problem, code="unknown-name", path=f"list {topic} {name}")
    if output is OutputFormat.JSON:
        print_json(named)
    else:
        print_heading(name)
        catalogue.print_entry(named)


def _print_all(entries: list[Entry], columns: Mapping[str, Column], output: OutputFormat) -> None:
    if output is OutputFormat.JSON:
        print_json(entries)
    else:
        print_table(list(columns.values()), [[entry[key] for key in columns] for entry in entries])


def _print_plugin(entry: Entry) -> None:
    print_paragraph(entry["doc"])
    for paragraph in filter(None, entry["details"].split("\n\n")):
        print_line("")
        print_paragraph(paragraph)
    print_line("")
    if not entry["options"]:
        print_line("It has no options.")
        return
    columns = (Column("option"), Column("value", shown="if any"), Column("default"))
    # Two tables, since the long names of `options.` would not fit into a table on a narrow terminal.
    for is_of_format in (False, True):
        cells = [
            _option_cells(o) for o in entry["options"] if o["key"].startswith(_OF_FORMAT) is is_of_format
        ]
        if cells:
            print_table(columns, cells)
        if cells and not is_of_format and len(cells) < len(entry["options"]):
            print_line("")


_OF_FORMAT = "options."  # prefix of options that a planner passes on, such as Amoro's


def _option_cells(option: Mapping[str, str | None]) -> tuple[str, str, str]:
    return (
        str(option["key"]),
        option["type"] or "",
        "required" if option["default"] is None else option["default"],
    )


def _print_metric(entry: Entry) -> None:
    print_paragraph(entry["doc"])
    print_line("")
    print_facts({"unit": entry["unit"], "better": entry["better"], "rests on": _BASES[entry["basis"]]})


_BASES = {
    "count": "counts, which repeat exactly in every run",
    "bytes": "sizes in bytes, which repeat almost exactly",
    "timing": "timings, which differ from run to run: compare several repetitions",
}


def _print_format(entry: Entry) -> None:
    print_paragraph(entry["doc"])
    print_line("")
    print_facts({"real tables": _yes(entry["real"]), "simulated tables": _yes(entry["simulated"])})


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


def _print_scenario(entry: Entry) -> None:
    scenario = load_scenario(entry["name"])
    print_paragraph(entry["doc"])
    print_line("")
    print_facts({"file": entry["file"], **dict(_facts(scenario))})
    print_line("")
    print_table(("strategy", "what it does"), [(spec.label, spec.summary) for spec in scenario.strategies])
    print_line("")
    print_line(f"next: compactbench validate {entry['name']}")


def _facts(scenario: Scenario) -> Iterator[tuple[str, str]]:
    every, lasts = (duration_ms_text(ms) for ms in (scenario.commit_interval_ms, scenario.duration_ms))
    by = scenario.table.keys.partitioning
    yield "stream", f"{scenario.workload_name}, a commit every {every} for {lasts}"
    formats = named_once(variant.table.format for variant in (scenario, *scenario.variants))
    yield "table", f"{formats}, {'not partitioned' if by == 'none' else f'partitioned by {by}'}"
    yield "runs", f"{counted(scenario.repetitions, 'repetition')} of each strategy"
    if scenario.variants:
        yield "variants", ", ".join(str(variant.variant_label) for variant in scenario.variants)
    yield "query", f"{scenario.primary_probe.name}: {scenario.primary_probe.sql}"


def _plugins(word: str, use: str, kind: plugins.PluginKind[Any], columns: Mapping[str, Column]) -> Catalogue:
    def entries() -> list[Entry]:
        return [_plugin_entry(plugin) for plugin in plugins.describe_all(kind)]

    return Catalogue(word, use, entries, _print_plugin, columns, kind)


def _plugin_entry(plugin: plugins.Description) -> Entry:
    return {
        "name": plugin.name, "doc": plugin.doc, "details": plugin.details,
        "options": [asdict(option) for option in plugin.options],
    }  # fmt: skip


def _formats() -> list[Entry]:
    return [
        {
            "name": name, "doc": table_format.words.description,
            "engine": bool(engines.real or engines.simulated),
            "real": engines.real is not None, "simulated": engines.simulated is not None,
        }
        for name, table_format in FORMATS.items()
        for engines in [table_format.engines]
    ]  # fmt: skip


def _scenarios() -> list[Entry]:
    loaded = [(load_scenario(name), file) for name, file in scenario_file.shipped().items()]
    return [
        {
            "name": scenario.name, "doc": scenario.description,
            "strategies": ", ".join(spec.label for spec in scenario.strategies), "file": str(file),
        }
        for scenario, file in loaded
    ]  # fmt: skip


def _metrics() -> list[Entry]:
    return [
        {
            "name": metric.name, "unit": metric.unit, "better": metric.better, "exact": metric.exact,
            "basis": metric.basis, "doc": metric.definition,
        }
        for metric in METRICS
    ]  # fmt: skip


_NAME_AND_DOC = {"name": Column("name"), "doc": Column("what it does")}
_CATALOGUES: Mapping[Topic, Catalogue] = {
    Topic.STRATEGIES: _plugins(
        "planner", "planners: what a rule compacts, for planner = { type = ... }",
        plugins.PLANNER, _NAME_AND_DOC,
    ),
    Topic.TRIGGERS: _plugins(
        "trigger", "when a rule acts, for trigger = { type = ... }",
        plugins.TRIGGER, {"name": Column("name"), "doc": Column("when it fires")},
    ),
    Topic.FORMATS: Catalogue(
        "format", "table formats, for table.format",
        _formats, _print_format, {"name": Column("name"), "doc": Column("what it is")},
    ),
    Topic.WORKLOADS: _plugins(
        "workload", "streams of commits, for workload.type", plugins.WORKLOAD, _NAME_AND_DOC
    ),
    Topic.SCENARIOS: Catalogue(
        "scenario", "scenarios that ship with compactbench, for `compactbench run`",
        _scenarios, _print_scenario, {"name": Column("name"), "doc": Column("what it shows")},
    ),
    Topic.METRICS: Catalogue(
        "metric", "what the figures of show, compare and report mean",
        _metrics, _print_metric,
        {"name": Column("name"), "unit": Column("unit"), "doc": Column("what it is")},
    ),
    Topic.ARRIVALS: _plugins(
        "arrival", "how traffic varies over time, for workload.arrival", plugins.ARRIVAL, _NAME_AND_DOC
    ),
}  # fmt: skip
