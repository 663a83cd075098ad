"""`compactbench plan`: what a strategy would do to a table that is already there. Nothing is written."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

import typer

from bench.cli.output import ERR, OUT, Format, FormatOption, conceal, print_json, print_line, print_table
from bench.engines.contract import CatalogSettings
from bench.engines.format import TableAddress
from bench.engines.registry import FORMATS, existing_tables
from bench.errors import ScenarioError
from bench.preview.figures import plan_figures, table_figures
from bench.preview.preview import named_planners, preview_strategy
from bench.scenario.scenario import Scenario, load_scenario
from bench.secrets import NO_SECRETS, Secrets
from bench.text import human_bytes, human_count, human_duration

PARTITIONS_SHOWN = 20
FILES_SHOWN = 50
BAR_LENGTH = 30


def plan(
    table: Annotated[
        str,
        typer.Argument(
            metavar="TABLE",
            help="namespace.table, the path or URI of a table's folder, or of one of its *.metadata.json.",
        ),
    ],
    strategy: Annotated[
        str,
        typer.Option(
            "--strategy",
            metavar="NAME",
            help="A planner (`compactbench list strategies`, or your own module:Class), or with --scenario "
            "the label of one of its strategies.",
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
            "--catalog", metavar="NAME", help="A catalog by its name in the configuration named below."
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
    branch: Annotated[
        str | None, typer.Option("--branch", metavar="NAME", help="Look at this branch, not at main.")
    ] = None,
    files: Annotated[
        bool, typer.Option("--files", help=f"List the files too: {FILES_SHOWN} in the table, all in JSON.")
    ] = False,
    output: FormatOption = Format.TABLE,
) -> None:
    """Say what a strategy would do to a table of yours right now: files, bytes, result, rough cost.

    Only metadata is read, no Java is needed, and nothing is written.

    * `compactbench plan db.orders --catalog prod --scenario my-table.toml --strategy every-10min`

    {formats}

    A scenario's strategy is evaluated as if all its triggers had fired: its planners in order, and the first
    that plans wins.
    """
    loaded = load_scenario(scenario) if scenario else None
    properties = _pairs(catalog_properties or ())
    conceal(Secrets.of(properties) | (loaded.secrets if loaded else NO_SECRETS))
    named = named_planners(strategy, options or (), loaded)
    table_format, open_existing = existing_tables(loaded.table.format if loaded else None)
    with ERR.status("reading metadata"):
        found = open_existing(TableAddress(table, catalog, properties, _catalog(loaded), branch))
        done = preview_strategy(named, found, table_format)
        told = {"table": table_figures(table, found), **plan_figures(done, found, with_files=files)}
    told["nothing_because"] = _nothing_because(told)
    if output is Format.JSON:
        print_json(told)
    else:
        _print_table_facts(told["table"])
        _print_plan(told, table_format.title)


plan.__doc__ = (plan.__doc__ or "").format(
    formats="\n\n    ".join(found.existing_help for found in FORMATS.values() if found.open_existing)
)


def _catalog(scenario: Scenario | None) -> CatalogSettings | None:
    given = scenario.catalog if scenario else None
    return CatalogSettings(given.name, given.namespace, given.properties) if given else None


def _pairs(settings: Sequence[str]) -> dict[str, str]:
    """Never with a value in the error: it may be a secret."""
    pairs = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key.strip():
            raise ScenarioError("--catalog-property: write key=value, e.g. --catalog-property type=rest")
        pairs[key.strip()] = value
    return pairs


_CHANGES = ("groups", "delete_groups", "files_converted", "delete_files_dropped")


def _nothing_because(told: Mapping[str, Any]) -> str | None:
    """Why no file would change, in words."""
    effect, shortfall = told["effect"], told["shortfall"]
    if effect and any(effect[key] for key in _CHANGES):
        return None
    if not told["table"]["data_files"]:
        return "the table holds no data files"
    if effect is None:
        return f"{' and '.join(told['planners'])} would do nothing"
    if shortfall is None:
        return "the plan rewrites no file"
    if not shortfall["files_count"]:
        return "no data file may hold rows of those the plan names"
    deleted = any(kind["files"] for kind in told["table"]["delete_files"])
    alone = ", and no file has deletes enough to be taken for them" if deleted else ""
    return f"{_shortfall_text(shortfall)}{alone}"


def _shortfall_text(short: Mapping[str, Any]) -> str:
    """The thresholds, with what the files have."""
    sizes = f"below {human_bytes(short['min_bytes'])} or above {human_bytes(short['max_bytes'])}"
    has = f"{short['candidates_count']:,} of {short['files_count']:,} data files are {sizes}"
    if short["candidates_count"]:
        has += f", at most {short['candidates_together_count']:,} of them in one partition"
    return (
        f"{has}; a rewrite takes {short['needed_count']:,} of a partition ({short['needed_option']}), or 2 "
        f"of more than {human_bytes(short['target_bytes'])} together"
    )


def _print_table_facts(facts: Mapping[str, Any]) -> None:
    by = facts["partition_spec"]
    print_table(
        ("table", facts["name"]),
        [
            ("location", facts["location"]),
            ("metadata", facts["metadata"]),
            ("format version", str(facts["format_version"])),
            ("snapshot", _snapshot(facts["snapshot"], facts["committed_at"])),
            ("data files", _amount(facts["data_files"], facts["data_bytes"], facts["rows"])),
            ("delete files", "; ".join(_deletes(facts["delete_files"])) or "none"),
            ("partitions", f"{facts['partitions']:,} by {by}" if by else "not partitioned"),
            ("target file size", human_bytes(facts["target_file_size_bytes"])),
        ],
    )
    if facts["data_files"]:
        OUT.print()
        print_table(("file size", "files", "bytes", ""), list(_size_lines(facts["file_sizes"])))


def _snapshot(number: int | None, committed_at: str | None) -> str:
    if number is None or committed_at is None:
        return "none: nothing was written to it yet"
    return f"{number}, committed {datetime.fromisoformat(committed_at):%Y-%m-%d %H:%M:%S} UTC"


def _amount(files: int, size_bytes: int, rows: int) -> str:
    return f"{files:,} files, {human_bytes(size_bytes)}, {rows:,} rows"


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


def _print_plan(told: Mapping[str, Any], format_title: str) -> None:
    OUT.print()
    planned, effect = told["plan"], told["effect"]
    if planned:
        detail = f", {planned['detail']}" if planned["detail"] else ""
        print_line(
            f"{planned['planner']} plans, reason {planned['reason']}{detail}: {'; '.join(planned['actions'])}"
        )
    if told["nothing_because"]:
        print_line(f"Nothing would change: {told['nothing_because']}.")
    else:
        _print_effect(effect, format_title)
    if told["cost"]:
        about = human_duration(float(f"{told['cost']['cpu_s']:.1g}"))
        marked = "rough" if told["cost"]["calibrated"] else "rough, uncalibrated"
        print_line(f"Cost: about {about} of CPU ({marked}).")
    print_line("Nothing was written.")


def _print_effect(effect: Mapping[str, Any], format_title: str) -> None:
    if effect["delete_groups"]:
        print_line(
            f"It would rewrite {effect['delete_files_in']:,} delete files "
            f"({human_bytes(effect['delete_bytes_in'])}) in {effect['delete_groups']:,} groups; how many "
            "come out, their rows tell."
        )
    if effect["files_converted"]:
        print_line(
            f"The deletes of {effect['files_converted']:,} data files would become position deletes of their "
            "own; the data files stay."
        )
    if effect["delete_files_dropped"]:
        print_line(f"{effect['delete_files_dropped']:,} delete files would go.")
    if effect["vetoed_because"]:
        print_line(f"It would be vetoed: {effect['vetoed_because']}.")
    if not effect["groups"]:
        return
    cut = effect["planned_groups"] - effect["groups"] - effect["delete_groups"]
    about = "" if effect["files_out_exact"] else "about "
    left = f"; a limit leaves {cut:,} more groups, and {format_title} may choose others" if cut > 0 else ""
    print_line(
        f"It would rewrite {effect['files_in']:,} data files ({human_bytes(effect['bytes_in'])}) in "
        f"{effect['groups']:,} groups into {about}{effect['files_out']:,}: the table goes "
        f"from {effect['files_before']:,} data files to {about}{effect['files_after']:,}{left}."
    )
    if effect["delete_files_read"]:
        print_line(
            f"Delete files to apply: {'' if effect['deletes_exact'] else 'at most '}"
            f"{effect['delete_files_read']:,} "
            f"({human_bytes(effect['delete_bytes_read'])}), each once per data file it applies to."
        )
    OUT.print()
    lines = effect["partitions"]
    print_table(
        ("partition", "groups", "files in", "files out", "bytes in", "deletes"),
        [_partition_cells(line) for line in lines[:PARTITIONS_SHOWN]],
    )
    if len(lines) > PARTITIONS_SHOWN:
        print_line(f"and {len(lines) - PARTITIONS_SHOWN:,} more partitions")
    if any("files" in group for group in effect["groups_in_order"]):
        _print_files(effect["groups_in_order"])
    OUT.print()


def _partition_cells(line: Mapping[str, Any]) -> tuple[str, ...]:
    counts = (human_count(line[key]) for key in ("groups", "files_in", "files_out"))
    return (
        line["partition"] or "(whole table)", *counts, human_bytes(line["bytes_in"]),
        human_count(line["delete_files_read"]),
    )  # fmt: skip


def _print_files(groups: Sequence[Mapping[str, Any]]) -> None:
    OUT.print()
    lines = [
        (str(number), human_bytes(file["bytes"]), f"{file['rows']:,}", file["path"])
        for number, group in enumerate(groups, 1)
        for file in group["files"]
    ]
    print_table(("group", "size", "rows", "file"), lines[:FILES_SHOWN])
    if len(lines) > FILES_SHOWN:
        print_line(f"and {len(lines) - FILES_SHOWN:,} more files; --format json lists them all")
