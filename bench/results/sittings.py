"""Which runs were made without a long break between them."""

import math
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from bench.results.folders import RunResult

BREAK_S = 7_200.0  # after which machine conditions may differ; how fast they change is not known


def sittings(runs: Iterable[RunResult]) -> dict[Path, str]:
    """The sitting of each run, by its folder: runs of a results folder with no long break between them.

    A suite that is resumed at once continues the sitting, although it is another suite.
    """
    by_folder: dict[Path, list[RunResult]] = {}
    for run in sorted(runs, key=started_s):
        by_folder.setdefault(run.folder.parent, []).append(run)
    by_run: dict[Path, str] = {}
    for ordered in by_folder.values():
        name, busy_until = "", -math.inf
        for run in ordered:
            if started_s(run) - busy_until > BREAK_S:
                name = str(run.folder)
            busy_until = max(busy_until, ended_s(run))
            by_run[run.folder] = name
    return by_run


def started_s(run: RunResult) -> float:
    """When a run began, in seconds since 1970 UTC."""
    return datetime.fromisoformat(run.manifest.started_utc).timestamp()


def ended_s(run: RunResult) -> float:
    """When its last record was written, or when it began if there is none."""
    written = run.records.last.written_utc if run.records else run.manifest.started_utc
    return datetime.fromisoformat(written).timestamp()
