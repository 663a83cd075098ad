"""`compactbench list`: what a scenario can refer to by name, in a table or one entry in full."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer

from bench.cli.completion import quiet
from bench.cli.output import (
    FormatOption,
    print_facts,
    print_heading,
    print_json,
    print_line,
    print_paragraph,
    print_table,
)
from bench.cli.shipped_scenarios import NOTE as SCENARIO_NOTE
from bench.cli.shipped_scenarios import minutes, shipped_scenarios
from bench.cli.tables import Column
from bench.engines.keys import duration_ms_text
from bench.engines.registry import FORMATS
from bench.errors import ScenarioError
from bench.names import known_text
from bench.results.metrics import METRIC_BY_NAME, METRICS
from bench.scenario import plugins
from bench.scenario.file import shipped
from bench.scenario.load import load_scenario
from bench.scenario.price_presets import preset_prices, preset_words, shipped_presets
from bench.text import MISSING, counted, human_duration, named_once

Entry = dict[str, Any]
_OF_FORMAT = "options."  # prefix of options that a planner passes on, such as Amoro's
_BASES = {
    "count": "counts, which repeat exactly in every run",
    "bytes": "sizes in bytes, which repeat almost exactly",
    "timing": "timings, which differ from run to run: compare several repetitions",
}


@dataclass(frozen=True, slots=True)
class Topic:
    """How one topic is listed. Users name their own entries as module:Class if these are plug-ins."""

    word: str  # for an entry
    use: str  # what the topic lists
    names: Collection[str]  # of its entries, without what other packages install
    entries: Callable[[], Iterable[Entry]]
    print_details: Callable[[Entry], None]
    columns: Mapping[str, str]  # titles, by key of an entry
    plugin: plugins.PluginKind[Any] | None = None
    note: str = ""  # on the columns


@quiet
def _names(ctx: typer.Context) -> Iterable[str]:
    """The names of the entries of the topic."""
    return TOPICS[ctx.params["topic"]].names


def list_what(
    topic: Annotated[
        str | None,
        typer.Argument(
            metavar="TOPIC",
            autocompletion=lambda: list(TOPICS),
            help="What to list; without it, the topics.",
            show_default=False,
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            autocompletion=_names,
            help="Print this entry in full: a name of the topic, or a class of your own as module:Class.",
            show_default=False,
        ),
    ] = None,
    output: FormatOption = "table",
) -> None:
    """List what a scenario can refer to by name, or explain one entry with its options.

    * `compactbench list strategies`

    * `compactbench list strategies amoro`

    * `compactbench list scenarios`

    * `compactbench list scenarios quickstart`

    * `compactbench list metrics write_amplification`

    The topics: strategies (the planners, which say what is compacted), triggers (when), workloads and
    arrivals (the stream), formats, scenarios (those that ship with compactbench), metrics (what the figures
    mean) and prices (presets for `[prices]`).
    """
    if topic is None:
        topics = [{"name": key, "doc": listed.use} for key, listed in TOPICS.items()]
        _print_all(topics, {"name": "topic", "doc": "what it lists"}, "", output)
        return
    if topic not in TOPICS:
        problem = f"no such topic; {known_text(topic, TOPICS)}"
        raise ScenarioError(problem, code="unknown-name", path=f"list {topic}")
    chosen = TOPICS[topic]
    if name is None:
        _print_all(list(chosen.entries()), chosen.columns, chosen.note, output)
        return
    entry = next((entry for entry in chosen.entries() if entry["name"] == name), None)
    if entry is None and ":" in name and chosen.plugin is not None:
        entry = _plugin_entry(plugins.describe_named(chosen.plugin, name))
    if entry is None:
        known = known_text(name, (entry["name"] for entry in chosen.entries()))
        own = "" if chosen.plugin is None else "; name your own as module:Class"
        problem = f"no such {chosen.word}; {known}{own}"
        raise ScenarioError(problem, code="unknown-name", path=f"list {topic} {name}")
    if output == "json":
        print_json(entry)
        return
    print_heading(name)
    print_paragraph(entry["doc"])
    print_line("")
    chosen.print_details(entry)


def _print_all(entries: list[Entry], columns: Mapping[str, str], note: str, output: str) -> None:
    if output == "json":
        print_json(entries)
        return
    print_table(
        list(columns.values()), [[cell_text(key, entry[key]) for key in columns] for entry in entries]
    )
    if note:
        print_line("")
        print_paragraph(note)


def cell_text(key: str, value: Any) -> str:
    if value is None:
        return MISSING
    if isinstance(value, list):
        return "\n".join(value)  # a column of short words is narrow
    return minutes(value) if key.endswith("_s") else str(value)


def _print_paragraphs(details: str) -> None:
    for paragraph in filter(None, details.split("\n\n")):
        print_paragraph(paragraph)
        print_line("")


def _print_plugin(entry: Entry) -> None:
    _print_paragraphs(entry["details"])
    rows = [
        (option["key"], option["type"] or "", "required" if option["default"] is None else option["default"])
        for option in entry["options"]
    ]
    if not rows:
        print_line("It has no options.")
    # Two tables, since the long names of `options.` would not fit into a table on a narrow terminal.
    tables = [
        [row for row in rows if row[0].startswith(_OF_FORMAT) is passed_on] for passed_on in (False, True)
    ]
    for number, table in enumerate(filter(None, tables)):
        if number:
            print_line("")
        print_table(("option", Column("value", shown="if any"), "default"), table)


def _print_metric(entry: Entry) -> None:
    print_facts({"unit": entry["unit"], "better": entry["better"], "rests on": _BASES[entry["basis"]]})


def _print_scenario(entry: Entry) -> None:
    scenario = load_scenario(entry["name"])
    every, lasts = (duration_ms_text(ms) for ms in (scenario.commit_interval_ms, scenario.duration_ms))
    by = scenario.table.partitioning
    variants = ", ".join(str(variant.variant_label) for variant in scenario.variants)
    print_facts({
        "file": entry["file"],
        "stream": f"{scenario.workload_name}, a commit every {every} for {lasts}",
        "table": f"{named_once(entry['formats'])}, "
        f"{'not partitioned' if by == 'none' else f'partitioned by {by}'}",
        "runs": f"{entry['runs']:,}, {counted(scenario.repetitions, 'repetition')} of each strategy",
        "takes": _took(entry),
        **({"variants": variants} if variants else {}),
        "query": f"{scenario.primary_probe.name}: {scenario.primary_probe.sql}",
    })  # fmt: skip
    print_line("")
    print_table(("strategy", "what it does"), [(spec.label, spec.summary) for spec in scenario.strategies])
    print_line("")
    print_line(f"next: compactbench validate {entry['name']}")


def _took(entry: Entry) -> str:
    if entry["run_s"] is None:
        return "not known: some strategies have no published runs"
    runs = counted(entry["measured_runs"], "published run")
    return f"about {minutes(entry['suite_s'])} on two cores, {human_duration(entry['run_s'])} a run by {runs}"


def _plugins(word: str, use: str, kind: plugins.PluginKind[Any], doc: str = "what it does") -> Topic:
    def entries() -> Iterable[Entry]:
        return map(_plugin_entry, plugins.describe_all(kind))

    return Topic(word, use, kind.registry, entries, _print_plugin, {"name": "name", "doc": doc}, kind)


def _plugin_entry(plugin: plugins.Description) -> Entry:
    return {
        "name": plugin.name, "doc": plugin.doc, "details": plugin.details,
        "options": [asdict(option) for option in plugin.options],
    }  # fmt: skip


def _formats() -> Iterator[Entry]:
    for name, table_format in FORMATS.items():
        yield {"name": name, "doc": table_format.words.description}


def _metrics() -> Iterator[Entry]:
    for metric in METRICS:
        keys = ("name", "unit", "better", "exact", "basis")
        yield {**{key: getattr(metric, key) for key in keys}, "doc": metric.definition}


def _prices() -> Iterator[Entry]:
    for name, file in shipped_presets().items():
        doc, details = preset_words(file)
        prices = dict(preset_prices(file))
        yield {"name": name, "doc": doc, "details": details, "prices": prices, "file": str(file)}


def _print_prices(entry: Entry) -> None:
    _print_paragraphs(entry["details"])
    print_facts({**{key: str(price) for key, price in entry["prices"].items()}, "file": entry["file"]})
    print_line("")
    print_line(f'in a scenario: prices = {{ preset = "{entry["name"]}", queries_per_hour = 60 }}')


TOPICS: Mapping[str, Topic] = {
    "strategies": _plugins(
        "planner", "planners: what a rule compacts, for planner = { type = ... }", plugins.PLANNER
    ),
    "triggers": _plugins(
        "trigger", "when a rule acts, for trigger = { type = ... }", plugins.TRIGGER, "when it fires"
    ),
    "formats": Topic(
        "format", "table formats, for table.format",
        FORMATS, _formats, lambda entry: None, {"name": "name", "doc": "what it is"},
    ),
    "workloads": _plugins("workload", "streams of commits, for workload.type", plugins.WORKLOAD),
    "scenarios": Topic(
        "scenario", "scenarios that ship with compactbench, for `compactbench run`",
        shipped(), shipped_scenarios, _print_scenario,
        {"name": "name", "formats": "format", "stream": "stream", "runs": "runs", "suite_s": "takes",
         "purpose": "what it shows"},
        note=SCENARIO_NOTE,
    ),
    "metrics": Topic(
        "metric", "what the figures of show, compare and report mean",
        METRIC_BY_NAME, _metrics, _print_metric, {"name": "name", "unit": "unit", "doc": "what it is"},
        note="Where readers ask at a changing rate (queries.arrival), means of queries over scenario time "
        "are means over the queries that arrive.",
    ),
    "arrivals": _plugins(
        "arrival", "how traffic varies over time, for workload.arrival and queries.arrival", plugins.ARRIVAL
    ),
    "prices": Topic(
        "preset", "prices to start from, for prices.preset",
        shipped_presets(), _prices, _print_prices, {"name": "name", "doc": "what it has the prices of"},
    ),
}  # fmt: skip
