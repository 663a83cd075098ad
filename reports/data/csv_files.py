"""The tables of a report as CSV: full precision, every run, safe to open in a spreadsheet."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from bench.results.folders import RunResult
from bench.results.query_effect import QueryEffect
from bench.results.records import BaseRecord, DecisionRecord, ObserveRecord
from reports.data.frames import each_once, frame
from reports.data.group import RunGroup
from reports.data.spreadsheets import formula_safe

CSV_NAMES = ("summary.csv", "compactions.csv", "decisions.csv", "probes.csv", "files.csv")
_LINES_MAX = 100_000  # of decisions.csv and files.csv; spreadsheets take a million, slowly


def write_csv_files(run_groups: Iterable[RunGroup], folder: Path) -> tuple[str, ...]:
    """Of all run groups together; returns the names of the files.

    Decisions and files are left out if they are too many, as in long simulations.
    """
    groups = tuple(run_groups)
    runs = [run for group in groups for run in group.usable_runs]
    tables: Mapping[str, pd.DataFrame | None] = dict(
        zip(
            CSV_NAMES,
            (
                _summary(groups), frame(runs, QueryEffect), _up_to_limit(runs, DecisionRecord),
                _probes(groups), _up_to_limit(runs, ObserveRecord),
            ),
            strict=True,
        )
    )  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        if table is None:
            (folder / name).unlink(missing_ok=True)  # of an earlier report
        else:
            write_csv(table, folder / name)
    return tuple(name for name, table in tables.items() if table is not None)


def write_csv(table: pd.DataFrame, path: Path) -> None:
    texts = table.select_dtypes(object).columns
    safe = table.assign(**{column: each_once(table[column].tolist(), formula_safe) for column in texts})
    safe.to_csv(path, index=False, lineterminator="\n")


def _up_to_limit(runs: Sequence[RunResult], kind: type[BaseRecord]) -> pd.DataFrame | None:
    return None if sum(len(run.of(kind)) for run in runs) > _LINES_MAX else frame(runs, kind)


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
