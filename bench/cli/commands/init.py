"""`compactbench init`: write a scenario by asking for what it needs."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from bench.cli.existing import (
    CatalogOption,
    CatalogPropertiesOption,
    FormatNameOption,
    SinceOption,
    properties_of,
)
from bench.cli.importing import (
    Source,
    check_writable,
    print_history,
    read_history,
    target_of,
    write_scenario,
)
from bench.cli.output import print_line
from bench.cli.questions import ask, number, one_of, rows_or_size, whole
from bench.cli.writing import writing
from bench.engines.keys import bytes_text
from bench.engines.registry import FORMATS, check_format
from bench.errors import ScenarioError
from bench.importing.answers import CORES_MAX, DEFAULT_CORES, Answers
from bench.importing.new_scenario import COLUMNS, COMMITS, TARGET_BYTES, Stream, new_scenario_text
from bench.importing.row_count import rows_of_file
from bench.importing.scenario import example_condition
from bench.results.money import DAY_MS
from bench.scenario.load import load_scenario
from strategies.quantities import parse_bytes, parse_duration_ms
from workloads.commit import FILES_MAX, ROWS_MAX
from workloads.history_file import TableHistory
from workloads.recorded import Content
from workloads.schema import SCHEMAS

DEFAULT_FILE = Path("mine.toml")
_AMOUNT_MAX = 10**9


def init(
    table: Annotated[
        str | None,
        typer.Argument(
            metavar="[TABLE]",
            help="One of your tables, named as for `compactbench import`. Without it a stream is described.",
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file",
            "-f",
            metavar="FILE",
            show_default=f"TABLE.toml or {DEFAULT_FILE}",
            help="The scenario to write.",
        ),
    ] = None,
    since: SinceOption = None,
    catalog: CatalogOption = None,
    catalog_properties: CatalogPropertiesOption = None,
    format_name: FormatNameOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the files if they exist.")] = False,
) -> None:
    """Write your first scenario: a few questions, each with an answer to accept.

    * `compactbench init`

    * `compactbench init /data/lake/orders`

    Without a table the questions are about the stream, and the rows will be synthetic. With one, its history
    is imported as `compactbench import` does, and the questions are about what metadata do not tell.

    The file has comments on what to adapt, and the commands that come next.
    """
    then = ""
    if table is None:
        of_tables = {"--since": since, "--catalog": catalog, "--catalog-property": catalog_properties}
        if unused := [option for option, value in of_tables.items() if value]:
            problem = "is for a table of yours: name one (`compactbench init TABLE`), or leave it out"
            raise ScenarioError(problem, code="no-effect", path=unused[0])
        target = file or DEFAULT_FILE
        check_writable(target, force=force)
        text = _asked_text(target, format_name)
        with writing(target):
            target.write_text(text, encoding="utf-8")
    else:
        source = Source(table, catalog, properties_of(catalog_properties or ()), format_name)
        target = target_of(source, file, force=force)
        imported = read_history(source, since)
        print_history(imported)
        answers = _asked_answers(imported.history)
        if answers.subject_to or (answers.core_hour and answers.queries_per_hour):
            then = f"; then: compactbench recommend results/{target.stem}{answers.subject_to}"
        write_scenario(imported, target, answers)
    load_scenario(str(target))
    print_line(f"written: {target}; next: compactbench run {target} --simulate{then}")


def _asked_text(target: Path, format_name: str | None) -> str:
    name = format_name or ask(f"Table format ({', '.join(FORMATS)})", "iceberg", one_of(*FORMATS))
    check_format(name, f"--table-format {name}")
    does = ask(
        "Stream: append rows, or upsert (also update and delete)", "append", one_of("append", "upsert")
    )
    size_of = FORMATS[name].engines.size_model(SCHEMAS[COLUMNS])

    def rows_in(size_bytes: int, files: int) -> int:
        return files * rows_of_file(size_bytes / files, size_of)

    def rows_of_table(size_bytes: int) -> int:
        return rows_in(size_bytes, max(1, size_bytes // TARGET_BYTES))

    initial_rows = None
    if does == "upsert":
        question = "The table at the start: its rows, or its size such as 20GB"
        initial_rows = ask(question, "1000000", rows_or_size(ROWS_MAX, 1, rows_of_table))
    interval_ms = ask("It commits every", "1min", parse_duration_ms)
    files = ask("Files that a commit writes", "8", whole(FILES_MAX))
    rows = ask(
        "A commit: its rows, or the size of all its files such as 5MB",
        str(max(1000, files)),
        rows_or_size(ROWS_MAX, files, lambda size_bytes: rows_in(size_bytes, files)),
    )
    commits = max(COMMITS, DAY_MS // interval_ms)
    stream = Stream(name, interval_ms, rows, files, initial_rows, commits=commits)
    if does == "upsert":
        inserts = ask("Share of the changes that insert a row", "0.5", number(1))
        deletes = ask("Share that delete one; the rest update", "0.05", number(1 - inserts))
        stream = replace(stream, insert_share=inserts, delete_share=deletes)
    return new_scenario_text(stream, FORMATS[name].existing.imports, target)


def _asked_answers(history: TableHistory) -> Answers:
    recorded = bytes_text(history.facts.target_file_size_bytes)
    target_bytes = ask("Size up to which your jobs merge files", recorded, parse_bytes)
    reads = "table"
    if condition := example_condition(history):
        question = f"Readers ask for the whole table, or for one partition such as {condition}"
        reads = ask(question, reads, one_of("table", "partition"))
    hit_share = None
    has_equality_deletes = any(recorded.content is Content.EQUALITY for recorded in history.files)
    if has_equality_deletes and history.facts.hit_share is None:
        question = (
            "Share of the keys in equality deletes that delete a row: 0 if the stream only inserts, 1 if it "
            "only updates and deletes"
        )
        hit_share = ask(question, "0.5", number(1))
    cores = ask("Cores of the cluster that compacts and reads", str(DEFAULT_CORES), whole(CORES_MAX))
    core_hour = ask("Price of a core for an hour, or 0", "0", number(_AMOUNT_MAX))
    queries = ask("Queries per hour, or 0 if you do not know", "0", number(_AMOUNT_MAX))
    reads_partition = reads == "partition"
    question = "Longest mean query that readers accept, such as 2s, or none"
    limit_ms = ask(question, "none", lambda text: None if text == "none" else parse_duration_ms(text))
    limit_s = None if limit_ms is None else limit_ms / 1000
    return Answers(
        cores, core_hour or None, queries or None, hit_share, target_bytes, reads_partition, limit_s
    )
