"""`compactbench plan`: preview what a strategy would do to an existing table. Nothing is written."""

from collections.abc import Sequence
from typing import Annotated

import typer

from bench.cli.completion import planner_names, scenario_names
from bench.cli.existing import CatalogOption, CatalogPropertiesOption, TableArgument, properties_of
from bench.cli.output import ERR, FormatOption, conceal, print_json
from bench.cli.plan_output import (
    FILES_SHOWN,
    nothing_because,
    print_plan,
    print_side_by_side,
    print_table_facts,
)
from bench.engines.contract import CatalogSettings
from bench.engines.existing import TableAddress
from bench.engines.registry import FORMATS, existing_tables
from bench.errors import ScenarioError
from bench.preview.figures import plan_figures, table_figures
from bench.preview.preview import named_planners, preview_strategy
from bench.scenario.catalog import configured_catalog, has_shared_catalog
from bench.scenario.load import load_scenario
from bench.scenario.scenario import Scenario
from bench.secrets import NO_SECRETS, Secrets, key_of


def plan(
    table: TableArgument,
    strategies: Annotated[
        list[str],
        typer.Option(
            "--strategy",
            metavar="NAME",
            autocompletion=planner_names,
            help="A planner (see `compactbench list strategies`, or module:Class for your own), or with "
            '--scenario the label of one of its strategies, in a variant "LABEL @ VARIANT". May be repeated, '
            "to see several side by side.",
        ),
    ],
    options: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            metavar="KEY=VALUE",
            help="An option of the planner, as a scenario writes it, e.g. options.min-input-files=2. May be "
            "repeated.",
        ),
    ] = None,
    catalog: CatalogOption = None,
    catalog_properties: CatalogPropertiesOption = None,
    scenario: Annotated[
        str | None,
        typer.Option(
            metavar="SCENARIO",
            autocompletion=scenario_names,
            help="Take strategies and [catalog] from this scenario.",
        ),
    ] = None,
    format_name: Annotated[
        str | None,
        typer.Option(
            "--table-format",
            metavar="NAME",
            help="The format of the table, if neither its folder nor --scenario determines it.",
        ),
    ] = None,
    branch: Annotated[
        str | None, typer.Option(metavar="NAME", help="Preview this branch instead of main.")
    ] = None,
    files: Annotated[
        bool,
        typer.Option(
            "--files", help=f"Also list the files: {FILES_SHOWN} in the table, all of them in JSON."
        ),
    ] = False,
    output: FormatOption = "table",
) -> None:
    """Preview what a strategy would do to one of your tables now: files, bytes, result and rough cost.

    Only metadata is read, no Java is needed, and nothing is written.

    * `compactbench plan db.orders --scenario my.toml --strategy a --strategy b`

    {formats}

    A scenario's strategy is evaluated as if all its triggers had fired: its planners are tried in order, and
    the first plan wins.
    """
    loaded = load_scenario(scenario) if scenario else None
    properties = properties_of(catalog_properties or ())
    conceal(Secrets.of(properties) | (loaded.secrets if loaded else NO_SECRETS))
    if options and len(strategies) > 1:
        raise ScenarioError(
            f"--option {key_of(options[0])} goes with one --strategy: to see planners with options side by "
            "side, make them strategies of a scenario, and name it with --scenario",
            code="exclusive",
        )
    named = [named_planners(strategy, options or (), loaded) for strategy in strategies]
    within = _one_place(loaded, strategies) if loaded else None
    chosen = format_name or (within.table.format if within else None)
    of_format = (name for name in strategies if name.partition(".")[0] in FORMATS)
    table_format, tables = existing_tables(chosen, table, next(of_format, strategies[0]))
    with ERR.status("reading metadata"):
        existing = tables.open(TableAddress(table, catalog, properties, _catalog(within), branch))
        facts = table_figures(table, existing)
        previews = [preview_strategy(planners, existing, table_format) for planners in named]
        answers = [plan_figures(preview, existing, with_files=files) for preview in previews]
    for answer in answers:
        answer["nothing_because"] = nothing_because(answer, facts)
    if output == "json":
        print_json({"table": facts, **(answers[0] if len(answers) == 1 else {"strategies": answers})})
        return
    print_table_facts(facts, table_format.words.deletes[0])
    if len(answers) == 1:
        print_plan(answers[0], table_format)
    else:
        print_side_by_side(answers)


plan.__doc__ = (plan.__doc__ or "").format(
    formats="\n\n    ".join(table_format.existing.help for table_format in FORMATS.values())
)


def _one_place(scenario: Scenario, strategies: Sequence[str]) -> Scenario:
    """The scenario in the variant of the strategies, which must share their format and catalog."""
    places = [scenario.with_strategy(strategy) for strategy in strategies]
    first = places[0]
    for strategy, place in zip(strategies, places, strict=True):
        if (place.table.format, _catalog(place)) != (first.table.format, _catalog(first)):
            problem = f"has another format or catalog than {strategies[0]}: preview them one by one"
            raise ScenarioError(problem, code="exclusive", path=f"--strategy {strategy}")
    return first


def _catalog(scenario: Scenario | None) -> CatalogSettings | None:
    """The scenario's catalog; None for the default one, since runs delete its tables."""
    return configured_catalog(scenario) if scenario and has_shared_catalog(scenario) else None
