"""How the two ways of clearing deletes grow with the table: rewriting it, and converting its deletes.

Run by `make scale` on the results of the scenario `upsert`, loaded with tables of several sizes and widths,
a folder each. Prints a Markdown table of costs, and one of queries.
"""

import sys
from collections.abc import Callable, Iterable
from itertools import groupby
from pathlib import Path

from bench.metrics import Row, rows
from bench.results import CompactionRecord, ObserveRecord, QueryRecord, RunResult, load_runs
from reports.contrasts import with_baseline
from reports.load import sections

REWRITING, CONVERTING = "spark-10min-deletes", "amoro"
GIGA = 1e9


def main() -> None:
    runs = [run for run in load_runs(*map(Path, sys.argv[1:])) if run.finished]
    tables = [tuple(group) for _, group in groupby(sorted(runs, key=table_of), key=table_of)]
    print("| table | policy | n | compaction CPU, s | wall, s | rounds | one round, CPU s | content |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |")
    for table in tables:
        for row in rows(table):
            print(f"| {name_of(table)} | {cost_of(row)} |")
    print(f"\n{REWRITING} / {CONVERTING}")
    print("| table | compaction CPU | compaction wall | one round, CPU | one round, wall | mean query |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for table in tables:
        print(f"| {name_of(table)} | {' | '.join(ratios_of(table))} |")
    print("\n| table | policy | query at each probe, s | before a round, s | after, s | delete files |")
    print("| --- | --- | --- | ---: | ---: | ---: |")
    for table in tables:
        for row in rows(table):
            print(f"| {name_of(table)} | {row.strategy} | {queries_of(table, row)} |")


def table_of(run: RunResult) -> tuple[int, int]:
    """Columns, and rows loaded."""
    workload = run.manifest.resolved_scenario["workload"]
    return int(workload["columns"]), int(workload["initial_rows"])


def name_of(runs: Iterable[RunResult]) -> str:
    run = next(iter(runs))
    columns, loaded_rows = table_of(run)
    loaded = run.of(ObserveRecord)[0]
    return f"{columns} columns, {loaded_rows / 1e6:g} M rows, {loaded.live_bytes / GIGA:.2f} GB"


def cost_of(row: Row) -> str:
    rounds = row.values["compactions"] or 0
    cpu_s, wall_s = row.values["compaction_cpu_s"] or 0, row.values["compaction_s"] or 0
    one = f"{cpu_s / rounds:.1f}" if rounds else "-"
    return f"{row.strategy} | {row.runs} | {cpu_s:.0f} | {wall_s:.0f} | {rounds:g} | {one} | {row.content}"


def ratios_of(table: tuple[RunResult, ...]) -> list[str]:
    (section,) = sections(table)
    totals = with_baseline(
        section, CONVERTING, [REWRITING], ["compaction_cpu_s", "compaction_s", "query_mean_s"]
    )
    cpu, wall, query = (
        f"{found.ratio:.2f} ({found.low:.2f} to {found.high:.2f})"
        if found.ratio is not None and found.low is not None and found.high is not None
        else f"{found.ratio or 0:.2f}"
        for found in (contrast.found for contrast in totals)
    )
    rounds = [round_ratio(table, field) for field in (lambda c: c.cpu_s, lambda c: c.wall_s)]
    return [cpu, wall, *(f"{one:.1f}" for one in rounds), query]


def round_ratio(table: tuple[RunResult, ...], seconds: Callable[[CompactionRecord], float]) -> float:
    """Seconds of one effective round, the mean over all of a policy's runs: rewriting over converting."""

    def one(strategy: str) -> float:
        found = [
            seconds(c)
            for run in table
            if run.manifest.strategy == strategy
            for c in run.of(CompactionRecord)
            if c.status == "ok"
        ]
        return sum(found) / len(found)

    return one(REWRITING) / one(CONVERTING)


def queries_of(table: tuple[RunResult, ...], row: Row) -> str:
    run = next(run for run in table if run.manifest.strategy == row.strategy)
    at = [f"{q.wall_s:.1f}" for q in run.of(QueryRecord) if q.primary and q.when == "cadence"]
    before, after = (row.values[name] for name in ("query_before_s", "query_after_s"))
    told = " | ".join("-" if value is None else f"{value:.1f}" for value in (before, after))
    return f"{' '.join(at)} | {told} | {row.values['delete_files_mean'] or 0:.0f}"


if __name__ == "__main__":
    main()
