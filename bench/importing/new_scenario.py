"""The scenario of a stream that a few questions describe, with policies to start from and comments."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from bench.engines.existing import Importing
from bench.engines.keys import bytes_text, duration_ms_text, value_text
from bench.importing.scenario import policies, rendered, sweep_axis
from bench.importing.time_grid import TimeGrid
from bench.text import counted
from strategies.state import MIB
from workloads.recorded import HistoryFacts

TableKeys = Mapping[str, str | int]

COMMITS = 60  # of a stream that runs for real in minutes
TARGET_BYTES = 128 * MIB
COLUMNS = 17


@dataclass(frozen=True, slots=True)
class Stream:
    """Commits of `rows_per_commit` rows in `files_per_commit` files.

    `initial_rows` is None if there is no table at the start, and `initial_files` 0 if their number follows
    from the target size. With an `insert_share` of 1 rows are only appended. `table_keys` None are the usual
    ones of the format. `columns` is the width of the table (`workloads.schema`).
    """

    format: str
    commit_interval_ms: int
    rows_per_commit: int
    files_per_commit: int
    initial_rows: int | None = None
    initial_files: int = 0
    insert_share: float = 1.0
    delete_share: float = 0.0
    upsert_mode: str | None = None
    commits: int = COMMITS
    target_file_size_bytes: int = TARGET_BYTES
    table_keys: TableKeys | None = None
    columns: int = COLUMNS
    partitioning: str = "none"
    buckets: int | None = None

    @property
    def is_upsert(self) -> bool:
        return self.insert_share < 1

    @property
    def changes_text(self) -> str:
        """What a commit brings, in words."""
        return f"{self.rows_per_commit:,} {'changed' if self.is_upsert else 'new'} rows"


def new_scenario_text(stream: Stream, imports: Importing, file: Path) -> str:
    """A scenario file with the commits of the stream."""
    grid = TimeGrid(stream.commit_interval_ms, stream.commits, 0)
    table_keys = stream.table_keys
    if table_keys is None:
        table_keys = imports.table_keys(stream.is_upsert)
    target_bytes = stream.target_file_size_bytes
    facts = HistoryFacts(stream.format, table_keys, 0, (), target_bytes, 0, grid.duration_ms)
    planners = imports.planners(facts, stream.is_upsert)
    changes = f"{stream.changes_text} in {counted(stream.files_per_commit, 'file')} each"
    return stream_text(
        stream, grid, planners, imports, table_keys, file,
        stand_in=None,
        description=f"{stream.commits} commits of {changes}, one every {duration_ms_text(grid.interval_ms)}.",
        real_duration=duration_ms_text(min(COMMITS, stream.commits) * grid.interval_ms),
        sweep=sweep_axis(planners, grid),
        own_times=[],
    )  # fmt: skip


def stream_text(
    stream: Stream, grid: TimeGrid, planners: Mapping[str, str], imports: Importing, table_keys: TableKeys,
    file: Path, **values: object,
) -> str:  # fmt: skip
    """A scenario file of synthetic rows; `values` are what else its template needs."""
    mode = stream.upsert_mode if stream.is_upsert else None
    return rendered(
        "new_scenario.toml.j2",
        default_columns=COLUMNS, day=imports.day_text(date(2026, 1, 1)), stream=stream, file=file.name,
        duration=duration_ms_text(grid.duration_ms),
        commit_interval=duration_ms_text(grid.interval_ms),
        target_file_size=bytes_text(stream.target_file_size_bytes),
        table_keys={name: value_text(value) for name, value in table_keys.items()},
        writer=f'writer = {{ upsert_mode = "{mode}" }}\n' if mode else "",
        policies=list(policies(planners, grid)),
        own_planner=next(iter(planners.values())),
        **values,
    )  # fmt: skip
