"""The tables of a report as CSV: full precision, every run, safe to open in a spreadsheet."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from bench.results.query_effect import QueryEffect
from reports.data.frames import each_once, frame
from reports.data.group import RunGroup
from reports.data.spreadsheets import formula_safe

CSV_NAMES = ("summary.csv", "compactions.csv", "probes.csv")  # `compactbench export` has all records


def csv_tables(run_groups: Iterable[RunGroup]) -> Mapping[str, pd.DataFrame]:
    """The tables of all run groups together, by file name."""
    groups = tuple(run_groups)
    runs = [run for group in groups for run in group.usable_runs]
    tables = (_summary(groups), frame(runs, QueryEffect), _probes(groups))
    return dict(zip(CSV_NAMES, tables, strict=True))


def write_csv_files(tables: Mapping[str, pd.DataFrame], folder: Path) -> None:
    """Write tables into a folder of tables alone; those of an earlier report are deleted."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.csv"):
        if path.name not in tables:
            path.unlink()
    for name, table in tables.items():
        write_csv(table, folder / name)


def write_csv(table: pd.DataFrame, path: Path) -> None:
    texts = table.select_dtypes(object).columns
    safe = table.assign(**{column: each_once(table[column].tolist(), formula_safe) for column in texts})
    safe.to_csv(path, index=False, lineterminator="\n")


def _summary(groups: tuple[RunGroup, ...]) -> pd.DataFrame:
    plain = (
        "scenario", "workload", "format", "mode", "strategy", "runs", "failed", "interrupted", "content",
    )  # fmt: skip
    rows = [row for group in groups for row in group.rows]
    return pd.DataFrame([{**{name: getattr(row, name) for name in plain}, **row.values} for row in rows])


def _probes(groups: tuple[RunGroup, ...]) -> pd.DataFrame:
    lines = [
        {"scenario": row.scenario, "workload": row.workload, "format": row.format, "mode": row.mode,
         "strategy": row.strategy, "probe": name, **figures}
        for group in groups for row in group.rows for name, figures in row.probes.items()
    ]  # fmt: skip
    return pd.DataFrame(lines)
