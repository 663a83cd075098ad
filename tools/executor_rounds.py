"""What a round of compaction costs by Spark, without Spark, and at least: the floor.

Run by `make bench`. Two real Iceberg tables of one Spark session get the same commits of small files. After
each commit an explicit rewrite merges its files, in one table by Spark and in the other without, and DuckDB
alone reads the same files and writes one: the floor. The three take turns, so that their ratios say little
about the machine. CPU is that of the JVM and of Python, as engines measure it, and once more without the JIT
compiler's. Memory is the peak of Python alone, in which DuckDB works. With `--store` the rounds go to
tools/published/executor-rounds.json, from which pages take them.
"""

import argparse
import os
import shlex
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean, median

import duckdb

from bench.engines import runtime
from bench.engines.contract import Batch, CatalogSettings, EngineSettings, TableSpec
from bench.engines.iceberg.engine import IcebergEngine, open_iceberg
from bench.engines.iceberg.single_node.database import literal, local_path
from bench.engines.iceberg.table_keys import SINGLE_NODE
from bench.engines.master import parse_master
from bench.engines.spark.peak_memory import PeakRss
from bench.results.values import Cost
from bench.runs.worker.neighbours import Neighbours
from strategies.plan import FileGroup, Plan, Reason, Rewrite
from strategies.state import OWN_EXECUTOR
from tools.executor_figures import Round, Rounds, store_rounds
from workloads.append import Append
from workloads.change_log import ensure_change_log
from workloads.partitioning import Partitioning

SEED, INTERVAL_MS, TARGET_BYTES = 7, 60_000, 2**40
FLOOR = "floor"
GOALS = {FLOOR: 2.0, OWN_EXECUTOR: 1 / 3}  # what single-node may cost at most, as a multiple of these


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20, help="of each kind, after the warm-up")
    parser.add_argument("--warm-up", type=int, default=4, help="rounds of each kind before they count")
    parser.add_argument("--files", type=int, default=41, help="that a round merges")
    parser.add_argument("--rows", type=int, default=10, help="of each file; 41 files of 300,000 are 250 MB")
    parser.add_argument("--memory-mib", type=int, default=1024, help="that single-node may use")
    parser.add_argument("--store", action="store_true", help="keep the rounds for the pages")
    options = parser.parse_args()
    runtime.use_java()
    command = shlex.join(["python", "-P", "-m", "tools.executor_rounds", *sys.argv[1:]])
    with tempfile.TemporaryDirectory() as work:
        rounds = Rounds(command, *measured(options, Path(work)))
    print(f"{options.rounds} rounds of {options.files} files of {options.rows} rows")
    report(rounds)
    if options.store:
        store_rounds(f"{options.files}x{options.rows}", rounds)


def measured(
    options: argparse.Namespace, folder: Path
) -> tuple[Mapping[str, tuple[Round, ...]], float | None]:
    """The rounds of each kind after the warm-up, and how many cores other processes used meanwhile."""
    memory_bytes, commits = options.memory_mib * 2**20, options.warm_up + options.rounds
    settings = EngineSettings(
        folder, TableSpec(TARGET_BYTES), catalog=CatalogSettings(), compaction_memory_bytes=memory_bytes
    )
    workload, found = Append(options.files * options.rows, options.files), defaultdict[str, list[Round]](list)
    with open_iceberg(settings) as by_spark:
        spark, single_node = by_spark._spark, by_spark.sibling("without_spark")
        cores = spark.sparkContext.defaultParallelism
        database = duckdb.connect(config={"threads": cores, "memory_limit": f"{memory_bytes}B"})
        log = ensure_change_log(
            lambda: spark, folder / "logs", workload, SEED, commits, INTERVAL_MS, lambda done, total: None
        )
        by_spark.create()
        single_node.create()
        specs = workload.shape(SEED, commits, INTERVAL_MS, Partitioning())
        for number, (spec, logged) in enumerate(zip(specs, log.commits, strict=True)):
            if number <= options.warm_up:
                neighbours = Neighbours(parse_master("local"))
            batch = Batch(spec, log.paths(logged), logged.size_bytes)
            of_spark, of_single_node = committed(by_spark, batch), committed(single_node, batch)
            kinds: list[tuple[str, Callable[[], Round]]] = [
                (FLOOR, partial(floor, single_node, database, of_single_node, folder / "floor.parquet")),
                (OWN_EXECUTOR, partial(rewritten, by_spark, None, of_spark, spec.at_ms)),
                (SINGLE_NODE, partial(rewritten, single_node, SINGLE_NODE, of_single_node, spec.at_ms)),
            ]
            turn = number % len(kinds)
            for name, run in (*kinds[turn:], *kinds[:turn]):
                done = run()
                if number >= options.warm_up:
                    found[name].append(done)
        other_cores = neighbours.cores()
        single_node.close()
    return {kind: tuple(rounds) for kind, rounds in found.items()}, other_cores


def committed(engine: IcebergEngine, batch: Batch) -> tuple[str, ...]:
    """The data files of a commit, once it is made."""
    known = {file.path for file in engine.state(batch.spec.at_ms).data_files}
    engine.commit(batch, batch.spec.at_ms)
    return tuple(file.path for file in engine.state(batch.spec.at_ms).data_files if file.path not in known)


def rewritten(engine: IcebergEngine, executor: str | None, paths: Sequence[str], at_ms: int) -> Round:
    peak = PeakRss([os.getpid()])
    peak.reset()
    action = Rewrite((FileGroup(tuple(paths)),), TARGET_BYTES)
    ticket = engine.schedule(Plan((action,), Reason.OTHER), at_ms, at_ms, executor)
    peak_bytes = peak.read_bytes()  # of staging, in which files are read and written
    outcome = engine.complete(ticket, at_ms)
    assert outcome.status == "ok", outcome.error
    return as_round(outcome.cost, peak_bytes)


def floor(
    engine: IcebergEngine, database: duckdb.DuckDBPyConnection, paths: Sequence[str], target: Path
) -> Round:
    """The files may have been rewritten already: they stay in storage."""
    files = ", ".join(literal(local_path(path)) for path in paths)
    peak = PeakRss([os.getpid()])
    peak.reset()
    with engine._meter.step() as step:
        database.execute(
            f"COPY (SELECT * FROM read_parquet([{files}])) TO {literal(str(target))} "  # noqa: S608
            "(FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 3)"
        )
    return as_round(step.cost, peak.read_bytes())


def as_round(cost: Cost, peak_bytes: int | None) -> Round:
    assert cost.jit_cpu_s is not None
    return Round(cost.cpu_s, cost.jit_cpu_s, peak_bytes)


def report(rounds: Rounds) -> None:
    print(f"{'':12} {'CPU s mean':>11} {'median':>8} {'of it JIT':>10} {'x floor':>8} {'peak of Python':>15}")
    floor_s = fmean(one.cpu_s for one in rounds.by_kind[FLOOR])
    for name in (FLOOR, SINGLE_NODE, OWN_EXECUTOR):
        of_kind = rounds.by_kind[name]
        cpu_s, jit_s = [one.cpu_s for one in of_kind], [one.jit_cpu_s for one in of_kind]
        print(
            f"{name:12} {fmean(cpu_s):11.3f} {median(cpu_s):8.3f} {fmean(jit_s):10.3f} "
            f"{fmean(cpu_s) / floor_s:8.2f} {rounds.peak(name):>15}"
        )
    if rounds.other_cores is not None:
        print(f"other processes used {rounds.other_cores:.2f} cores meanwhile")
    for other, most in GOALS.items():
        whole, compiled = (rounds.ratio(SINGLE_NODE, other, has_jit=has_jit) for has_jit in (True, False))
        print(f"{SINGLE_NODE} / {other}: {whole}, without JIT {compiled} (goal: <= {most:.2g})")


if __name__ == "__main__":
    main()
