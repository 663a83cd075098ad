"""The requests that each kind of step sent to S3."""

from collections.abc import Callable
from typing import Any

from bench.results.figures import primary_queries_of
from bench.results.folders import RunResult
from bench.results.records import CompactionRecord, MaintenanceRecord
from bench.results.requests import REQUEST_KINDS
from bench.results.table_content import stream_commits_of
from bench.results.tables import Records
from bench.text import human_count
from reports.data.group import RunGroup
from reports.page.tables import Cell, Column, Table
from reports.phrases import Verbatim

_COLUMNS = (
    Column("Strategy", is_number=False),
    Column("Step", is_number=False),
    Column("Steps"),
    *(Column(kind, "per step") for kind in REQUEST_KINDS),
)
_STEPS: tuple[tuple[str, Callable[[RunResult], Records[Any]]], ...] = (
    ("commit", stream_commits_of),
    ("compaction", lambda run: _successful(run.of(CompactionRecord))),
    ("maintenance", lambda run: _successful(run.of(MaintenanceRecord))),
    ("primary query", primary_queries_of),
)
_CAPTION = "Requests to S3"
_NOTE = (
    "Means over the steps of the first usable repetition of each strategy, as the client logs what it sends, "
    "retries included. DELETE includes requests that delete many objects. Reading the table's state for the "
    "strategies is no part of it."
)


def requests(group: RunGroup) -> Table | None:
    """A row per strategy and kind of step; None if no run counted its requests."""
    rows = []
    for label, run in group.first_runs.items():
        for name, steps_of in _STEPS:
            steps = steps_of(run)
            costs = zip(*(steps.column(part).tolist() for part in ("requests", "is_shared")), strict=True)
            sent = [None if is_shared else requests for requests, is_shared in costs]
            counted = [kinds for kinds in sent if kinds is not None]
            if any(counted) and len(counted) == len(sent):
                means = [sum(kinds.get(kind, 0) for kinds in counted) / len(sent) for kind in REQUEST_KINDS]
                cells = (Cell(f"{mean:,.1f}", value=mean) for mean in means)
                rows.append((Cell(Verbatim(label)), Cell(name), Cell(human_count(len(sent))), *cells))
    return Table(_COLUMNS, tuple(rows), _NOTE, caption=_CAPTION) if rows else None


def _successful(steps: Records[Any]) -> Records[Any]:
    return steps.having(status="ok")
