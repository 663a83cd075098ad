"""`compactbench import`: make a scenario of an existing table's history."""

import re
import time
from pathlib import Path
from statistics import median
from typing import Annotated

import typer

from bench.cli.existing import CatalogOption, CatalogPropertiesOption, TableArgument, properties_of
from bench.cli.output import ERR, conceal, print_facts, print_heading, print_line, print_remark
from bench.engines.existing import TableAddress
from bench.engines.keys import duration_ms_text
from bench.engines.registry import existing_tables
from bench.errors import ScenarioError
from bench.importing.scenario import scenario_text, stream_of, utc_text, with_notes
from bench.importing.time_grid import time_grid
from bench.scenario import file as scenario_file
from bench.secrets import Secrets
from bench.text import counted, human_bytes, human_duration
from strategies.quantities import parse_duration_ms
from workloads.history_file import TableHistory, write_history
from workloads.recorded import RecordedFile


def import_table(
    table: TableArgument,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file", "-f", metavar="FILE", show_default="TABLE.toml", help="The scenario to write."
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="AGE",
            show_default="as far as the metadata reach",
            help="Only the commits of this time before now, e.g. 30d. Older files are there at the start.",
        ),
    ] = None,
    cores: Annotated[
        int,
        typer.Option(metavar="N", min=1, max=10_000, help="Cores of the cluster that compacts and reads."),
    ] = 2,
    catalog: CatalogOption = None,
    catalog_properties: CatalogPropertiesOption = None,
    format_name: Annotated[
        str | None,
        typer.Option(
            "--table-format", metavar="NAME", help="The format of the table, if its folder does not tell it."
        ),
    ] = None,
    branch: Annotated[
        str | None, typer.Option(metavar="NAME", help="Import this branch instead of main.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the files if they exist.")] = False,
) -> None:
    """Make a scenario of one of your tables: its commits, to be simulated under any compaction policy.

    * `compactbench import /data/lake/orders`

    * `compactbench run orders.toml --simulate`

    * `compactbench report`

    Only metadata is read, no Java is needed, and the table is not touched. Two files are written: the
    scenario, with policies to start from and comments on what to adapt, and next to it the history as
    Parquet, with the sizes, rows and partitions of files. Paths and values of rows are not in it.

    The compactions that the table had are left out, so that each policy starts from what the stream wrote.
    docs/my-table.md explains what is exact, and what metadata does not tell.

    `--catalog` names a catalog as for `compactbench plan`.
    """
    properties = properties_of(catalog_properties or ())
    conceal(Secrets.of(properties))
    target = file or Path(f"{_file_name(_name_of(table))}.toml")
    scenario_file.check_name(target)
    history_file = target.with_suffix(".history.parquet")
    _check_writable(target, history_file, force=force)
    table_format, tables = existing_tables(format_name, table)
    imports = tables.imports
    if imports is None:
        title = table_format.words.title
        raise ScenarioError(f"the history of a {title} table cannot be read", code="unsupported", path=table)
    since_ms = None if since is None else round(time.time() * 1000) - _age_ms(since)
    with ERR.status("reading metadata"):
        address = TableAddress(table, catalog, properties, branch=branch)
        history = with_notes(imports.history(address, since_ms))
    if not stream_of(history):
        raise ScenarioError(
            "its metadata record no commit of the stream in this time: nothing can be replayed",
            code="empty",
            path=table,
        )
    text = scenario_text(history, imports, _name_of(table), target, history_file, cores)
    try:
        write_history(history, history_file)
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        problem = f"cannot be written ({error.strerror}); choose another place with --file"
        raise ScenarioError(problem, code="unwritable", path=target) from error
    _print_history(_name_of(table), history, table_format.words.deletes[0])
    print_line(f"written: {target} and {history_file}; next: compactbench run {target} --simulate")


def _name_of(table: str) -> str:
    """The last part of a name or of a path: of .../orders/metadata/v3.metadata.json it is orders."""
    parts = [part for part in table.rstrip("/").split("/") if part] or [table]
    if parts[-1].endswith(".metadata.json"):
        parts = [part for part in parts[:-1] if part != "metadata"]
    return parts[-1].rpartition(".")[2] or parts[-1]


def _file_name(name: str) -> str:
    """The name as a scenario file may have it."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "table"


def _check_writable(target: Path, history_file: Path, *, force: bool) -> None:
    if not target.absolute().parent.is_dir():
        problem = "its folder does not exist: create it, or choose another file with --file"
        raise ScenarioError(problem, code="unwritable", path=target)
    existing = next((path for path in (target, history_file) if path.exists()), None)
    if existing is not None and not force:
        problem = "exists: choose another file with --file, or replace it with --force"
        raise ScenarioError(problem, code="exists", path=existing)


def _age_ms(text: str) -> int:
    try:
        return parse_duration_ms(text)
    except ValueError as error:
        raise ScenarioError(str(error), code="not-a-duration", path="--since") from error


def _print_history(name: str, history: TableHistory, delete_files: str) -> None:
    facts, stream = history.facts, stream_of(history)
    compactions_count = len(history.commits) - len(stream)
    span = human_duration((facts.until_ms - facts.from_ms) / 1000)
    print_heading(f"history of {name}")
    print_facts(
        {
            "from": f"{utc_text(facts.from_ms)} to {utc_text(facts.until_ms)} UTC, {span}",
            "commits": f"{len(stream):,}, besides {counted(compactions_count, 'compaction')}{_read(history)}",
            "replayed": _replayed(history),
            "at the start": _amount(history.start, delete_files),
            "at the end": _amount(list(history.live_after().values()), delete_files),
            **_walls(history),
            "partitioned by": ", ".join(facts.partition_columns) or "nothing",
            "target file size": human_bytes(facts.target_file_size_bytes),
        }
    )
    for note in facts.notes:
        print_remark(note)


def _read(history: TableHistory) -> str:
    removed = (file for one in history.commits if one.is_compaction for file in one.removed)
    size_bytes = sum(file.size_bytes for file in removed)
    return f", which read {human_bytes(size_bytes)}" if size_bytes else ""


def _replayed(history: TableHistory) -> str:
    grid = time_grid([one.at_ms for one in stream_of(history)], history.facts.from_ms)
    late = human_duration(grid.late_max_ms / 1000)
    return f"in steps of {duration_ms_text(grid.interval_ms)}, commits at most {late} late"


def _walls(history: TableHistory) -> dict[str, str]:
    """How long commits and compactions took, if the table records that."""
    walls = {
        "a commit took": [one.wall_s for one in stream_of(history) if one.wall_s is not None],
        "a compaction took": [
            one.wall_s for one in history.commits if one.is_compaction and one.wall_s is not None
        ],
    }
    return {name: f"{human_duration(median(own))} (median)" for name, own in walls.items() if own}


def _amount(files: tuple[RecordedFile, ...] | list[RecordedFile], delete_files: str) -> str:
    data = [file for file in files if file.is_data]
    deletes_count = len(files) - len(data)
    more = f", {deletes_count:,} {delete_files}" if deletes_count else ""
    return f"{counted(len(data), 'data file')}, {human_bytes(sum(file.size_bytes for file in data))}{more}"
