"""`compactbench import`: make a scenario of an existing table's history."""

from pathlib import Path
from typing import Annotated

import typer

from bench.cli.existing import (
    CatalogOption,
    CatalogPropertiesOption,
    FormatNameOption,
    SinceOption,
    TableArgument,
    properties_of,
)
from bench.cli.importing import (
    Source,
    history_file_of,
    print_history,
    read_history,
    target_of,
    write_scenario,
)
from bench.cli.output import print_line
from bench.importing.answers import CORES_MAX, DEFAULT_CORES, Answers


def import_table(
    table: TableArgument,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file", "-f", metavar="FILE", show_default="TABLE.toml", help="The scenario to write."
        ),
    ] = None,
    since: SinceOption = None,
    cores: Annotated[
        int,
        typer.Option(metavar="N", min=1, max=CORES_MAX, help="Cores of the cluster that compacts and reads."),
    ] = DEFAULT_CORES,
    catalog: CatalogOption = None,
    catalog_properties: CatalogPropertiesOption = None,
    format_name: FormatNameOption = None,
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
    source = Source(table, catalog, properties_of(catalog_properties or ()), format_name, branch)
    target = target_of(source, file, force=force)
    imported = read_history(source, since)
    print_history(imported)
    write_scenario(imported, target, Answers(cores=cores))
    print_line(f"written: {target} and {history_file_of(target)}; next: compactbench run {target} --simulate")
