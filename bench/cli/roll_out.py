"""What to do on a table so that it is compacted as a strategy did it."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from bench.engines.registry import FORMATS
from bench.engines.sql import set_properties
from bench.scenario.plugins import PLANNER, TRIGGER, build, in_words
from reports.data.group import RunGroup
from strategies.planner import traits_of


def roll_out(group: RunGroup, label: str, table: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What to do on the table, in words and as statements."""
    manifest, definition = group.manifest_of(label), group.definition(label)
    engines = FORMATS[manifest.format].engines
    if writer := definition.get("writer"):
        yield f"To roll it out, configure the writers of the table with {_listed(writer)}.", ()
    if properties := definition.get("properties"):
        if engines.properties_are_options:
            yield (
                f"To roll it out, give each job that writes the table these options: {_listed(properties)}.",
                (),
            )
        else:
            yield "To roll it out, set these table properties once:", (set_properties(table, properties),)
    for rule in definition.get("rules", ()):
        planner = build(PLANNER, rule["planner"], Path.cwd())
        if not traits_of(planner).may_plan:
            continue
        when = in_words(build(TRIGGER, rule["trigger"], Path.cwd()))
        statements = engines.roll_out(planner, table, manifest.target_file_size_bytes)
        if executor := rule.get("executor"):
            yield (
                f"{when}: {in_words(planner)}, executed by {executor}: no statement of Spark does the same.",
                (),
            )
        elif not statements:
            yield f"{when}: {in_words(planner)} plans by the table's state: no statement does the same.", ()
        elif traits_of(planner).reads_state:
            yield (
                "To roll it out, set once; an Amoro server that manages the table then evaluates it at its "
                f"own times, in the simulation {when}:",
                statements,
            )
        else:
            yield f"To roll it out, run on the table, {when}:", statements


def _listed(settings: Mapping[str, object]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in settings.items())
