"""The tables of a report as CSV: full precision, every run, safe to open in a spreadsheet."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from bench.results.records import CompactionRecord, DecisionRecord, ObserveRecord
from reports.load import Section, frame

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def write_csv_files(found: Iterable[Section], folder: Path) -> tuple[str, ...]:
    """summary, compactions, decisions, probes and files for all sections together; returns their names."""
    known = tuple(found)
    runs = [run for section in known for run in section.usable_runs]
    made = {
        "summary.csv": _summary(known),
        "compactions.csv": frame(runs, CompactionRecord),
        "decisions.csv": frame(runs, DecisionRecord),
        "probes.csv": _probes(known),
        "files.csv": frame(runs, ObserveRecord),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in made.items():
        table.map(guarded).to_csv(folder / name, index=False, lineterminator="\n")
    return tuple(made)


def guarded(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula; numbers stay numbers, nested values become JSON.

    Source: OWASP, "CSV Injection": a leading = + - @, tab or line break starts a formula.
    """
    if isinstance(value, list | tuple | dict):
        value = json.dumps(value, sort_keys=True)
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_STARTS) else value


def _summary(found: tuple[Section, ...]) -> pd.DataFrame:
    """A line a row of `show`: who ran how often, and the mean of every metric."""
    plain = ("scenario", "workload", "format", "mode", "strategy", "runs", "failed", "interrupted", "content")
    rows = [row for section in found for row in section.rows]
    return pd.DataFrame([{**{name: getattr(row, name) for name in plain}, **row.values} for row in rows])


def _probes(found: tuple[Section, ...]) -> pd.DataFrame:
    """A line for each strategy and probe."""
    lines = [
        {"scenario": row.scenario, "workload": row.workload, "format": row.format, "mode": row.mode,
         "strategy": row.strategy, "probe": name, **figures}
        for section in found for row in section.rows for name, figures in row.probes.items()
    ]  # fmt: skip
    return pd.DataFrame(lines)
