"""`compactbench plan`: preview what a strategy would do to an existing table. Nothing is written."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

import typer

from bench.cli.output import (
    ERR,
    FormatOption,
    OutputFormat,
    conceal,
    print_facts,
    print_heading,
    print_json,
    print_paragraph,
    print_table,
)
from bench.cli.tables import Column
from bench.engines.contract import CatalogSettings
from bench.engines.existing import TableAddress
from bench.engines.format import Format
from bench.engines.registry import FORMATS, existing_tables
from bench.errors import ScenarioError
from bench.preview.figures import plan_figures, table_figures
from bench.preview.preview import named_planners, preview_strategy
from bench.scenario.catalog import configured_catalog, has_shared_catalog
from bench.scenario.environment import filled_in
from bench.scenario.load import load_scenario
from bench.scenario.scenario import Scenario
from bench.scenario.values import OptionError
from bench.secrets import NO_SECRETS, Secrets, key_of
from bench.text import MISSING, counted, human_bytes, human_count, human_duration

PARTITIONS_SHOWN = 20
FILES_SHOWN = 50
BAR_LENGTH = 30


def plan(
    table: Annotated[
        str,
        typer.Argument(
            metavar="TABLE",
            help="namespace.table, or the path or URI of a table's folder or of a *.metadata.json in it.",
        ),
    ],
    strategies: Annotated[
        list[str],
        typer.Option(
            "--strategy",
            metavar="NAME",
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
    catalog: Annotated[
        str | None,
        typer.Option(
            "--catalog", metavar="NAME", help="A catalog by its name in the configuration described above."
        ),
    ] = None,
    catalog_properties: Annotated[
        list[str] | None,
        typer.Option(
            "--catalog-property",
            metavar="KEY=VALUE",
            help="A property of the catalog, e.g. uri=http://localhost:8181, or of its storage, e.g. "
            "s3.region=eu-north-1. May be repeated; secrets are never printed.",
        ),
    ] = None,
    scenario: Annotated[
        str | None,
        typer.Option(
            "--scenario", metavar="SCENARIO", help="Take strategies and [catalog] from this scenario."
        ),
    ] = None,
    format_name: Annotated[
        str | None,
        typer.Option(
            "--table-format",
            metavar="NAME",
            help="The format of the table, where neither its folder nor --scenario says which.",
        ),
    ] = None,
    branch: Annotated[
        str | None, typer.Option("--branch", metavar="NAME", help="Preview this branch instead of main.")
    ] = None,
    files: Annotated[
        bool,
        typer.Option(
            "--files", help=f"Also list the files: {FILES_SHOWN} in the table, all of them in JSON."
        ),
    ] = False,
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """Preview what a strategy would do to a table of yours right now: files, bytes, result and rough cost.

    Only metadata is read, no Java is needed, and nothing is written.

    * `compactbench plan db.orders --scenario my.toml --strategy a --strategy b`

    {formats}

    A scenario's strategy is evaluated as if all its triggers had fired: its planners are tried in order, and
    the first plan wins.
    """
    loaded = load_scenario(scenario) if scenario else None
    properties = _filled_in(_pairs(catalog_properties or ()))
    conceal(Secrets.of(properties) | (loaded.secrets if loaded else NO_SECRETS))
    if options and len(strategies) > 1:
        raise ScenarioError(
            f"--option {key_of(options[0])} goes with one --strategy; to see planners with options side by "
            "side, make them strategies of a scenario, and name that by --scenario"
        )
    named = [named_planners(strategy, options or (), loaded) for strategy in strategies]
    within = _one_place(loaded, strategies) if loaded else None
    chosen = format_name or (within.table.format if within else None)
    of_format = (name for name in strategies if name.partition(".")[0] in FORMATS)
    table_format, tables = existing_tables(chosen, table, next(of_format, strategies[0]))
    with ERR.status("reading metadata"):
        existing = tables.open(TableAddress(table, catalog, properties, _catalog(within), branch))
        facts = table_figures(table, existing)
        previews = [preview_strategy(each, existing, table_format) for each in named]
        answers = [plan_figures(preview, existing, with_files=files) for preview in previews]
    for answer in answers:
        answer["nothing_because"] = _nothing_because(answer, facts)
    if output is OutputFormat.JSON:
        print_json({"table": facts, **(answers[0] if len(answers) == 1 else {"strategies": answers})})
        return
    _print_table_facts(facts, table_format.words.deletes[0])
    if len(answers) == 1:
        _print_plan(answers[0], table_format)
    else:
        _print_side_by_side(answers)


plan.__doc__ = (plan.__doc__ or "").format(
    formats="\n\n    ".join(
        table_format.existing.help for table_format in FORMATS.values() if table_format.existing
    )
)


def _one_place(scenario: Scenario, strategies: Sequence[str]) -> Scenario:
    """The scenario in the variant of the strategies. Raises ScenarioError if they are of several places."""
    places = [scenario.with_strategy(strategy) for strategy in strategies]
    first = places[0]
    for strategy, place in zip(strategies, places, strict=True):
        if (place.table.format, _catalog(place)) != (first.table.format, _catalog(first)):
            raise ScenarioError(
                f"--strategy {strategy}: is of another format or catalog than {strategies[0]}: preview them "
                "one by one"
            )
    return first


def _catalog(scenario: Scenario | None) -> CatalogSettings | None:
    """That of a scenario; None without one, or if it has the default catalog, which its runs delete."""
    return configured_catalog(scenario) if scenario and has_shared_catalog(scenario) else None


def _pairs(settings: Sequence[str]) -> dict[str, str]:
    """The settings by key. Errors never repeat a value, since it may be a secret."""
    pairs = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key.strip():
            raise ScenarioError("--catalog-property: write key=value, e.g. --catalog-property type=rest")
        pairs[key.strip()] = value
    return pairs


def _filled_in(properties: dict[str, str]) -> dict[str, str]:
    """The properties with their variables replaced, as in a scenario's [catalog]."""
    filled = dict(properties)
    try:
        conceal(Secrets.of_values(filled_in(filled, ())))
    except OptionError as error:
        raise ScenarioError(f"--catalog-property {error}") from error
    return filled


_CHANGES = ("groups", "delete_groups", "files_converted", "delete_files_dropped")


def _nothing_because(answer: Mapping[str, Any], table: Mapping[str, Any]) -> str | None:
    """Why no file would change, in words; None if some would."""
    effect, shortfall = answer["effect"], answer["shortfall"]
    if effect and any(effect[key] for key in _CHANGES):
        return None
    if not table["data_files"]:
        return "the table contains no data files"
    if effect is None:
        return f"{' and '.join(answer['planners'])} would do nothing"
    if shortfall is None:
        return "the plan rewrites no file"
    if not shortfall["files_count"]:
        return "no data file can contain rows that the plan selects"
    return _shortfall_text(shortfall)


def _shortfall_text(short: Mapping[str, Any]) -> str:
    """The thresholds of the command, and how far the files are from them."""
    has = (
        f"{short['candidates_count']:,} of {short['files_count']:,} data files are {short['candidates_are']}"
    )
    if short["candidates_count"]:
        has += f", at most {short['candidates_together_count']:,} of them in one {short['together_in']}"
    return f"{has}; {short['needs']}"


def _print_table_facts(facts: Mapping[str, Any], delete_files: str) -> None:
    by, format_version = facts["partition_spec"], facts["format_version"]
    print_heading(f"table {facts['name']}")
    print_facts(
        {
            "location": facts["location"],
            "metadata": facts["metadata"],
            **({} if format_version is None else {"format version": str(format_version)}),
            "table version": _version(facts["version"], facts["committed_at"]),
            "data files": _amount(facts["data_files"], facts["data_bytes"], facts["rows"]),
            delete_files: "; ".join(_deletes(facts["delete_files"])) or "none",
            "partitions": f"{facts['partitions']:,} by {by}" if by else "not partitioned",
            "target file size": human_bytes(facts["target_file_size_bytes"]),
        }
    )
    if facts["data_files"]:
        print_paragraph("")
        print_table(
            ("file size", "files", "bytes", Column("", drop=1)), list(_size_lines(facts["file_sizes"]))
        )


def _version(version: str | None, committed_at: str | None) -> str:
    if version is None:
        return "none: nothing has been written to the table yet"
    if committed_at is None:
        return version
    committed = datetime.fromisoformat(committed_at)
    zone = "in the time zone of its writer" if committed.tzinfo is None else "UTC"
    return f"{version}, committed {committed:%Y-%m-%d %H:%M:%S} {zone}"


def _amount(files: int, size_bytes: int, rows: int | None) -> str:
    rows_text = "unknown rows" if rows is None else counted(rows, "row")
    return f"{counted(files, 'file')}, {human_bytes(size_bytes)}, {rows_text}"


def _deletes(kinds: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for kind in kinds:
        if kind["files"]:
            amount = _amount(kind["files"], kind["bytes"], kind["rows"])
            yield f"{kind['kind'].replace('_', ' ')}: {amount}"


def _size_lines(classes: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str, str, str]]:
    most = max(one["files"] for one in classes)
    for one in classes:
        low, high = human_bytes(one["from_bytes"]), one["below_bytes"]
        name = f"from {low}" if high is None else f"below {human_bytes(high)}"
        bar = "\N{FULL BLOCK}" * max(round(BAR_LENGTH * one["files"] / most), one["files"] > 0)
        yield name, f"{one['files']:,}", human_bytes(one["bytes"]), bar


def _print_plan(answer: Mapping[str, Any], table_format: Format) -> None:
    print_paragraph("")
    planned, effect = answer["plan"], answer["effect"]
    if planned:
        detail = f", {planned['detail']}" if planned["detail"] else ""
        print_paragraph(
            f"{planned['planner']} plans, reason {planned['reason']}{detail}: {'; '.join(planned['actions'])}"
        )
    if answer["nothing_because"]:
        print_paragraph(f"Nothing would change: {answer['nothing_because']}.")
    else:
        _print_effect(effect, table_format)
    if answer["cost"]:
        about = human_duration(float(f"{answer['cost']['cpu_s']:.1g}"))
        marked = "rough" if answer["cost"]["calibrated"] else "rough, uncalibrated"
        print_paragraph(f"Cost: about {about} of CPU ({marked}).")
    print_paragraph("Nothing was written.")


def _print_side_by_side(answers: Sequence[Mapping[str, Any]]) -> None:
    """A row for each strategy. What rewrites delete files or converts deletes has no CPU that is known."""
    print_paragraph("")
    columns = (
        "strategy", "files in", "files out", "data rewritten", Column("deletes in", shown="if any"),
        Column("deletes dropped", shown="if any"), "CPU", Column("remark", shown="if any"),
    )  # fmt: skip
    print_table(columns, [_side_by_side_cells(answer) for answer in answers])
    if any(answer["cost"] for answer in answers):
        print_paragraph("CPU is rough.")
    print_paragraph("Nothing was written.")


def _side_by_side_cells(answer: Mapping[str, Any]) -> tuple[str, ...]:
    effect, name = answer["effect"], answer["strategy"]
    if answer["nothing_because"]:
        return name, "0", "0", human_bytes(0), "", "", MISSING, f"nothing: {answer['nothing_because']}"
    about = "" if effect["files_out_exact"] else "about "
    deletes = effect["delete_files_read"] + effect["delete_files_in"]
    cost = answer["cost"]
    cpu = human_duration(float(f"{cost['cpu_s']:.1g}")) if cost else MISSING
    veto = f"would be vetoed: {effect['vetoed_because']}" if effect["vetoed_because"] else ""
    return (
        name, human_count(effect["files_removed_count"]), f"{about}{effect['files_added_count']:,}",
        human_bytes(effect["read_data_bytes"]), human_count(deletes) if deletes else "",
        _dropped_text(effect), cpu, veto,
    )  # fmt: skip


def _dropped_text(effect: Mapping[str, Any]) -> str:
    """The delete files that the plan names, and the most that a commit drops besides; nothing for none."""
    more = effect["delete_files_dropped_more_at_most"]
    count = effect["delete_files_dropped"] + more
    return f"{'up to ' if more else ''}{human_count(count)}" if count else ""


def _print_effect(effect: Mapping[str, Any], table_format: Format) -> None:
    if effect["delete_groups"]:
        print_paragraph(
            f"It would rewrite {counted(effect['delete_files_in'], 'delete file')} "
            f"({human_bytes(effect['delete_bytes_in'])}) in {counted(effect['delete_groups'], 'group')}. The "
            "number of output files cannot be predicted from metadata."
        )
    if effect["files_converted"]:
        print_paragraph(
            f"The deletes of {counted(effect['files_converted'], 'data file')} would be converted to "
            "position deletes, one delete file per data file; the data files would not change."
        )
    if effect["delete_files_dropped"]:
        print_paragraph(f"{counted(effect['delete_files_dropped'], 'delete file')} would be removed.")
    if effect["delete_files_dropped_more_at_most"]:
        more = counted(effect["delete_files_dropped_more_at_most"], "delete file")
        print_paragraph(f"Up to {more} would be dropped as well, which no data file needs then.")
    if effect["vetoed_because"]:
        print_paragraph(f"The plan would be vetoed: {effect['vetoed_because']}.")
    if not effect["groups"]:
        return
    cut = effect["planned_groups"] - effect["groups"] - effect["delete_groups"]
    about = "" if effect["files_out_exact"] else "about "
    excluded = (
        f"; a limit excludes {counted(cut, 'more group')}, and {table_format.words.title} may choose others"
    )
    removed, size = (
        counted(effect["files_removed_count"], "data file"),
        human_bytes(effect["read_data_bytes"]),
    )
    print_paragraph(
        f"It would rewrite {removed} ({size}) in {counted(effect['groups'], 'group')} into {about}"
        f"{counted(effect['files_added_count'], 'file')}: the table "
        f"would go from {counted(effect['files_before'], 'data file')} to {about}{effect['files_after']:,}"
        f"{excluded if cut > 0 else ''}."
    )
    if effect["delete_files_read"]:
        at_most = "" if effect["deletes_exact"] else "at most "
        deletes = table_format.words.deletes[0].capitalize()
        print_paragraph(
            f"{deletes} to apply: {at_most}{effect['delete_files_read']:,} "
            f"({human_bytes(effect['delete_bytes_read'])}), each counted once per data file it applies to."
        )
    print_paragraph("")
    lines = effect["partitions"]
    print_table(
        ("partition", "groups", "files in", "files out", "bytes in", "deletes"),
        [_partition_cells(line) for line in lines[:PARTITIONS_SHOWN]],
    )
    if len(lines) > PARTITIONS_SHOWN:
        print_paragraph(f"and {counted(len(lines) - PARTITIONS_SHOWN, 'more partition')}")
    if any("files" in group for group in effect["groups_in_order"]):
        _print_files(effect["groups_in_order"])
    print_paragraph("")


def _partition_cells(line: Mapping[str, Any]) -> tuple[str, ...]:
    counts = (human_count(line[key]) for key in ("groups", "files_removed_count", "files_added_count"))
    return (
        line["partition"] or "(whole table)", *counts, human_bytes(line["read_data_bytes"]),
        human_count(line["delete_files_read"]),
    )  # fmt: skip


def _print_files(groups: Sequence[Mapping[str, Any]]) -> None:
    print_paragraph("")
    lines = [
        (
            str(number),
            human_bytes(file["bytes"]),
            "unknown" if file["rows"] is None else f"{file['rows']:,}",
            file["path"],
        )
        for number, group in enumerate(groups, 1)
        for file in group["files"]
    ]
    print_table(("group", "size", "rows", Column("file", is_path=True)), lines[:FILES_SHOWN])
    if len(lines) > FILES_SHOWN:
        print_paragraph(f"and {counted(len(lines) - FILES_SHOWN, 'more file')}; --format json lists them all")
