"""The scenario of a stream that a few questions describe, with policies to start from and comments."""

from dataclasses import dataclass
from pathlib import Path

from bench.engines.existing import Importing
from bench.engines.keys import bytes_text, duration_ms_text, value_text
from bench.importing.scenario import policies, rendered, sweep_axis
from bench.importing.time_grid import TimeGrid
from strategies.state import MIB
from workloads.recorded import HistoryFacts

COMMITS = 60
_TARGET_BYTES = 128 * MIB
_TABLE_KEYS = {  # beyond the defaults; a Hudi table with a bucket index cannot be clustered
    ("hudi", False): {"index": "simple"},
    ("hudi", True): {"index": "bucket"},
}


@dataclass(frozen=True, slots=True)
class Stream:
    """Commits of `rows_per_commit` rows in `files_per_commit` files.

    `initial_rows` is None if rows are only appended; otherwise the stream changes a table that has so many.
    """

    format: str
    commit_interval_ms: int
    rows_per_commit: int
    files_per_commit: int
    initial_rows: int | None = None


def new_scenario_text(stream: Stream, imports: Importing, file: Path) -> str:
    """A scenario file with `COMMITS` commits of the stream."""
    grid = TimeGrid(stream.commit_interval_ms, COMMITS, 0)
    is_upsert = stream.initial_rows is not None
    table_keys = _TABLE_KEYS.get((stream.format, is_upsert), {})
    facts = HistoryFacts(stream.format, table_keys, 0, (), _TARGET_BYTES, 0, grid.duration_ms)
    return rendered(
        "new_scenario.toml.j2",
        stream=stream, file=file.name, commits=COMMITS, is_upsert=is_upsert,
        duration=duration_ms_text(grid.duration_ms),
        commit_interval=duration_ms_text(grid.interval_ms),
        target_file_size=bytes_text(_TARGET_BYTES),
        table_keys={name: value_text(value) for name, value in table_keys.items()},
        sweep=sweep_axis(imports, facts, grid, has_deletes=is_upsert),
        policies=list(policies(imports, facts, grid, has_deletes=is_upsert)),
    )  # fmt: skip
