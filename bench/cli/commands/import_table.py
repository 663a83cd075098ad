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
    check_writable,
    history_file_of,
    print_history,
    read_history,
    target_of,
    write_scenario,
)
from bench.cli.output import print_line, print_remark
from bench.cli.predicted import check_predicted, print_predicted
from bench.cli.standing_in import scale_of, trace_file_of, write_stand_in
from bench.errors import ScenarioError
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
    stand_in: Annotated[
        Path | None,
        typer.Option(
            "--stand-in",
            metavar="FILE",
            help="Also write a scenario of synthetic rows in about the same files, which runs for real.",
        ),
    ] = None,
    scale: Annotated[
        str,
        typer.Option(
            metavar="SHARE",
            help="Multiply the stand-in's file sizes and target file size by this share, e.g. 1/100.",
        ),
    ] = "1",
    predicted: Annotated[
        Path | None,
        typer.Option(
            "--predicted",
            metavar="RESULTS",
            help="Also print what the simulation of an earlier import expected of --strategy.",
        ),
    ] = None,
    strategy: Annotated[
        str | None, typer.Option(metavar="LABEL", help="The strategy that was rolled out since.")
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
    docs/your-table.md explains what is exact, and what metadata does not tell.

    A history has no rows, so it can only be simulated. `--stand-in` imitates its stream with rows of the
    `orders` table: on average as many files of about the same bytes, at the same times. With `--scale 1/100`
    file counts and policy decisions stay as they are at full size. So do amplifications, unless the files
    become so small that their footers matter. Seconds and bytes change.

    Once a policy has run for some weeks, `--since` imports these weeks alone, and `--predicted` shows what
    the simulation had expected beside what came: compactions a day, the bytes that they write, and files.

    `--catalog` names a catalog as for `compactbench plan`.
    """
    check_predicted(predicted, strategy)
    source = Source(table, catalog, properties_of(catalog_properties or ()), format_name, branch)
    target = target_of(source, file, force=force)
    share = scale_of(scale)
    if stand_in is not None:
        if stand_in.resolve() == target.resolve():
            raise ScenarioError(
                "is the scenario of the history: name another file", code="twice", path="--stand-in"
            )
        check_writable(stand_in, trace_file_of(stand_in), force=force, option="--stand-in")
    elif share != 1:
        raise ScenarioError("only scales a stand-in: add --stand-in FILE", code="no-effect", path="--scale")
    imported = read_history(source, since)
    print_history(imported)
    if predicted is not None and strategy is not None:
        print_predicted(predicted, strategy, imported.history)
    write_scenario(imported, target, Answers(cores=cores))
    print_line(f"written: {target} and {history_file_of(target)}; next: compactbench run {target} --simulate")
    if stand_in is not None:
        print_remark(f"note: {write_stand_in(imported, stand_in, share)}")
        print_line(f"written: {stand_in} and {trace_file_of(stand_in)}; next: compactbench run {stand_in}")
