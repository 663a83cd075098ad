"""How the two ways of clearing deletes grow with the table: rewriting it, and converting its deletes.

Run by `make scale` on the results of the scenario `upsert`, loaded with tables of several sizes and widths,
a folder each. Prints a Markdown table of costs, and one of queries.
"""

import sys
from itertools import groupby
from pathlib import Path
from typing import Any

from bench.results.figures import ratio
from bench.results.folders import RunResult, load_runs
from bench.results.records import ObserveRecord, QueryRecord
from bench.results.rows import Row
from reports.data.group import RunGroup, run_groups
from reports.verdicts.contrasts import with_baselines

REWRITING, CONVERTING = "spark-10min-deletes", "amoro"
GIGA = 1e9


def main() -> None:
    runs = [run for run in load_runs(*map(Path, sys.argv[1:])) if run.finished]
    by_table = groupby(sorted(runs, key=table_of), key=table_of)
    tables = [(name_of(group), group) for _, of_table in by_table for group in run_groups(of_table)]
    print("| table | strategy | n | compaction CPU, s | wall, s | compactions | CPU s of one | content |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |")
    for name, group in tables:
        for row in group.rows:
            print(f"| {name} | {cost_of(row)} |")
    print(f"\n{REWRITING} / {CONVERTING}")
    print("| table | compaction CPU | compaction wall | one round, CPU | one round, wall | mean query |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, group in tables:
        print(f"| {name} | {' | '.join(ratios_of(group))} |")
    print("\n| table | strategy | query at each probe, s | before compaction, s | after, s | delete files |")
    print("| --- | --- | --- | ---: | ---: | ---: |")
    for name, group in tables:
        for row in group.rows:
            print(f"| {name} | {row.strategy} | {queries_of(group, row)} |")


def table_of(run: RunResult) -> tuple[int, int]:
    """Columns, and rows loaded."""
    workload: Any = run.manifest.scenario_text["workload"]
    return int(workload["columns"]), int(workload["initial_rows"])


def name_of(group: RunGroup) -> str:
    run = group.runs[0]
    columns, loaded_rows = table_of(run)
    loaded = run.of(ObserveRecord)[0]
    return f"{columns} columns, {loaded_rows / 1e6:g} M rows, {loaded.table.live_bytes / GIGA:.2f} GB"


def cost_of(row: Row) -> str:
    cpu_s, wall_s = row.values["compaction_cpu_s"] or 0, row.values["compaction_s"] or 0
    rounds, round_s = row.values["compactions"] or 0, of_round(row, "compaction_cpu_s")
    per_round = "-" if round_s is None else f"{round_s:.1f}"
    return (
        f"{row.strategy} | {row.runs} | {cpu_s:.0f} | {wall_s:.0f} | {rounds:g} | {per_round} | {row.content}"
    )


def of_round(row: Row, metric: str) -> float | None:
    """The mean of a sum over the compactions that committed; None without any."""
    return ratio(row.values[metric] or 0, row.values["compactions"] or 0)


def ratios_of(group: RunGroup) -> list[str]:
    totals = with_baselines(
        group, {REWRITING: CONVERTING}, ["compaction_cpu_s", "compaction_s", "query_mean_s"]
    )
    cpu, wall, query = (
        f"{c.ratio:.2f} ({c.low:.2f} to {c.high:.2f})"
        if c.ratio is not None and c.low is not None and c.high is not None
        else f"{c.ratio or 0:.2f}"
        for c in (contrast.comparison for contrast in totals)
    )
    by_strategy = {row.strategy: row for row in group.rows}
    rounds = []
    for metric in ("compaction_cpu_s", "compaction_s"):
        rewriting, converting = (of_round(by_strategy[name], metric) or 0 for name in (REWRITING, CONVERTING))
        rounds.append(f"{ratio(rewriting, converting) or 0:.1f}")
    return [cpu, wall, *rounds, query]


def queries_of(group: RunGroup, row: Row) -> str:
    run = next(run for run in group.runs if run.manifest.strategy == row.strategy)
    at = [f"{q.cost.wall_s:.1f}" for q in run.of(QueryRecord) if q.primary and q.when == "settled"]
    before, after = (row.values[name] for name in ("query_before_s", "query_after_s"))
    compared = " | ".join("-" if value is None else f"{value:.1f}" for value in (before, after))
    return f"{' '.join(at)} | {compared} | {row.values['delete_files_mean'] or 0:.0f}"


if __name__ == "__main__":
    main()
