"""Reads the history of one of the user's tables, and writes it as a scenario (`import` and `init`)."""

import re
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

from bench.cli.output import ERR, conceal, print_facts, print_heading, print_remark
from bench.cli.writing import check_folder, writing
from bench.engines.existing import Importing, TableAddress
from bench.engines.format import Format
from bench.engines.keys import duration_ms_text
from bench.engines.registry import existing_tables
from bench.errors import ScenarioError
from bench.importing.answers import Answers
from bench.importing.own_speed import OwnSpeed, own_speed
from bench.importing.scenario import scenario_text, with_notes
from bench.importing.time_grid import replay_grid
from bench.scenario import file as scenario_file
from bench.scenario.load import scenario_of
from bench.secrets import Secrets
from bench.text import counted, human_bytes, human_duration, utc_text
from strategies.quantities import parse_duration_ms
from workloads.history_file import TableHistory, write_history
from workloads.recorded import RecordedFile


@dataclass(frozen=True, slots=True)
class Source:
    """A table, as the user names it, in a catalog with these properties."""

    table: str
    catalog: str | None
    properties: Mapping[str, str]
    format_name: str | None
    branch: str | None = None

    @property
    def name(self) -> str:
        """The last part of a name or of a path: of .../orders/metadata/v3.metadata.json it is orders."""
        parts = [part for part in self.table.rstrip("/").split("/") if part] or [self.table]
        if parts[-1].endswith(".metadata.json"):
            parts = [part for part in parts[:-1] if part != "metadata"]
        is_path = "/" in self.table  # with dots in the names of folders
        return parts[-1] if is_path else parts[-1].rpartition(".")[2] or parts[-1]


@dataclass(frozen=True, slots=True)
class Imported:
    name: str
    history: TableHistory
    imports: Importing
    table_format: Format


def target_of(source: Source, file: Path | None, *, force: bool) -> Path:
    """The scenario file to write. Raises ScenarioError if it cannot or must not be written."""
    target = file or Path(f"{_file_name(source.name)}.toml")
    check_writable(target, history_file_of(target), force=force)
    return target


def history_file_of(target: Path) -> Path:
    return target.with_suffix(".history.parquet")


def read_history(source: Source, since: str | None) -> Imported:
    """The history of the table, `since` being the age of its first commit ("30d").

    Raises ScenarioError if it cannot be read, or has nothing to replay.
    """
    conceal(Secrets.of(source.properties))
    since_ms = None if since is None else round(time.time() * 1000) - _age_ms(since)
    table_format, tables = existing_tables(source.format_name, source.table)
    with ERR.status("reading metadata"):
        address = TableAddress(source.table, source.catalog, source.properties, branch=source.branch)
        history = with_notes(tables.imports.history(address, since_ms))
    if not history.stream:
        problem = "its metadata record no commit of the stream in this time: nothing can be replayed"
        raise ScenarioError(problem, code="empty", path=source.table)
    return Imported(source.name, history, tables.imports, table_format)


def write_scenario(imported: Imported, target: Path, answers: Answers) -> None:
    """Write the scenario, and its history beside it. Raises ScenarioError."""
    history, history_file = imported.history, history_file_of(target)
    with writing(history_file):
        write_history(history, history_file)
    text = partial(scenario_text, history, imported.imports, imported.name, target, history_file, answers)
    speed = None
    if any(commit.wall_s for commit in history.stream):
        document = tomllib.loads(text())
        document["workload"]["undo_compactions"] = False
        speed = own_speed(history, scenario_of(target, document))
    if speed is not None:
        print_remark(f"note: {_in_words(speed, answers.cores)}")
    with writing(target):
        target.write_text(text(speed), encoding="utf-8")


def _in_words(speed: OwnSpeed, cores: int) -> str:
    recorded, modelled = human_duration(speed.recorded_s), human_duration(speed.modelled_s)
    return (
        f"{counted(speed.commits_count, 'commit')} took {recorded} (median), and {modelled} by the "
        f"cost model on {counted(cores, 'core')}: if your cluster has so many, set "
        f"resources.core_speed = {speed.factor:.2g}"
    )


def _file_name(name: str) -> str:
    """The name as a scenario file may have it."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "table"


def check_writable(target: Path, *others: Path, force: bool, option: str = "--file") -> None:
    """Raises ScenarioError for a name that no scenario may have, and for files that exist, unless `force`."""
    scenario_file.check_name(target)
    check_folder(target, option)
    existing = next((path for path in (target, *others) if path.exists()), None)
    if existing is not None and not force:
        problem = f"exists: choose another file with {option}, or replace it with --force"
        raise ScenarioError(problem, code="exists", path=existing)


def _age_ms(text: str) -> int:
    try:
        return parse_duration_ms(text)
    except ValueError as error:
        raise ScenarioError(str(error), code="not-a-duration", path="--since") from error


def print_history(imported: Imported) -> None:
    """What the metadata record, in short, and below it what they lack."""
    history = imported.history
    delete_files = imported.table_format.words.deletes[0]
    facts, stream = history.facts, history.stream
    compactions_count = len(history.commits) - len(stream)
    span = human_duration((facts.until_ms - facts.from_ms) / 1000)
    print_heading(f"history of {imported.name}")
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
        print_remark(f"note: {note}")


def _read(history: TableHistory) -> str:
    removed = (file for one in history.commits if one.is_compaction for file in one.removed)
    size_bytes = sum(file.size_bytes for file in removed)
    return f", which read {human_bytes(size_bytes)}" if size_bytes else ""


def _replayed(history: TableHistory) -> str:
    grid = replay_grid(history)
    late = human_duration(grid.late_max_ms / 1000)
    return f"in steps of {duration_ms_text(grid.interval_ms)}, commits at most {late} late"


def _walls(history: TableHistory) -> dict[str, str]:
    """How long commits and compactions took, if the table records that."""
    walls = {
        "a commit took": [one.wall_s for one in history.stream if one.wall_s is not None],
        "a compaction took": [
            one.wall_s for one in history.commits if one.is_compaction and one.wall_s is not None
        ],
    }
    return {name: f"{human_duration(median(own))} (median)" for name, own in walls.items() if own}


def _amount(files: Sequence[RecordedFile], delete_files: str) -> str:
    data = [file for file in files if file.is_data]
    deletes_count = len(files) - len(data)
    more = f", {deletes_count:,} {delete_files}" if deletes_count else ""
    return f"{counted(len(data), 'data file')}, {human_bytes(sum(file.size_bytes for file in data))}{more}"
