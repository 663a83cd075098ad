"""The tables of a report as CSV: full precision, every run, safe to open in a spreadsheet."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from bench.results.query_effect import QueryEffect
from bench.results.records import DecisionRecord, ObserveRecord
from reports.data.frames import frame
from reports.data.group import RunGroup
from reports.data.spreadsheets import formula_safe

CSV_NAMES = ("summary.csv", "compactions.csv", "decisions.csv", "probes.csv", "files.csv")


def write_csv_files(run_groups: Iterable[RunGroup], folder: Path) -> tuple[str, ...]:
    """summary, compactions, decisions, probes and files of all run groups together; returns their names."""
    groups = tuple(run_groups)
    runs = [run for group in groups for run in group.usable_runs]
    tables = (
        _summary(groups), frame(runs, QueryEffect), frame(runs, DecisionRecord), _probes(groups),
        frame(runs, ObserveRecord),
    )  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in zip(CSV_NAMES, tables, strict=True):
        table.map(formula_safe).to_csv(folder / name, index=False, lineterminator="\n")
    return CSV_NAMES


def _summary(groups: tuple[RunGroup, ...]) -> pd.DataFrame:
    plain = (
        "scenario", "workload", "format", "mode", "strategy", "is_quick", "runs", "failed", "interrupted",
        "content",
    )  # fmt: skip
    rows = [row for group in groups for row in group.rows]
    return pd.DataFrame([{**{name: getattr(row, name) for name in plain}, **row.values} for row in rows])


def _probes(groups: tuple[RunGroup, ...]) -> pd.DataFrame:
    lines = [
        {"scenario": row.scenario, "workload": row.workload, "format": row.format, "mode": row.mode,
         "strategy": row.strategy, "is_quick": row.is_quick, "probe": name, **figures}
        for group in groups for row in group.rows for name, figures in row.probes.items()
    ]  # fmt: skip
    return pd.DataFrame(lines)
