"""Streams an engine test commits: a change log on disk, and batches of it for any partitioning."""

from collections.abc import Sequence
from pathlib import Path

from bench.engines.contract import Batch, Engine, Probe
from bench.engines.simulated.engine import SimulatedEngine
from bench.runs.worker.content_check import ContentCheck, compare_content
from strategies.plan import FileGroup, Plan, Reason, Rewrite
from strategies.state import MIB, DataFile
from workloads.append import Append
from workloads.change_log import ChangeLog
from workloads.partitioning import Partitioning
from workloads.schema import ORDERS

SEED, COMMITS, INTERVAL_MS = 7, 6, 60_000
WORKLOAD = Append(rows_per_commit=40, files_per_commit=4, late_share=0.5, initial_rows=60, initial_files=3)
FULL_SCAN = Probe("full", "SELECT count(*), sum(product_prices + order_id) FROM orders", primary=True)


def batches(log: ChangeLog | None, partitioning: Partitioning | None = None) -> list[Batch]:
    """The initial load (60 rows, 3 files) and six commits of 40 rows and 4 files.

    Without a log they have no rows, their shapes alone.
    """
    shape = WORKLOAD.shape(SEED, COMMITS, INTERVAL_MS, partitioning or Partitioning())
    if log is None:
        return [Batch(spec, (), spec.expected_bytes) for spec in shape]
    pairs = zip(shape, log.commits, strict=True)
    return [Batch(spec, log.paths(logged), logged.size_bytes) for spec, logged in pairs]


def commit_all(engine: Engine, stream: Sequence[Batch]) -> list[Batch]:
    for batch in stream:
        engine.commit(batch, batch.spec.at_ms)
    return list(stream)


def content_of(engine: Engine, stream: Sequence[Batch], folder: Path) -> ContentCheck:
    """The table's content against the change-log rows of `stream`; `folder` must not exist.

    Of an engine without rows only their number is compared.
    """
    if isinstance(engine, SimulatedEngine):
        expected = sum(batch.spec.rows for batch in stream)
        return ContentCheck(expected, engine.model.physical_rows, 0, 0)
    engine.dump(folder)
    logged = [path for batch in stream for path in batch.paths]
    return compare_content(sorted(folder.glob("*.parquet")), logged, ORDERS.names)


def snapshots(outcome) -> int:
    """The versions a step made that are more than metadata."""
    return sum(version.id is not None for version in outcome.versions)


def execute(engine: Engine, plan: Plan, at_ms: int, executor: str | None = None):
    return engine.complete(engine.schedule(plan, at_ms, at_ms, executor), at_ms)


def plan(*actions) -> Plan:
    return Plan(actions, Reason.OTHER, "a test")


def rewrite(
    *groups: Sequence[DataFile], target_bytes: int = 8 * MIB, sort_columns: tuple[str, ...] = ()
) -> Plan:
    """An explicit plan; each group's files lie in one partition."""
    named = (
        FileGroup(tuple(f.path for f in group), group[0].partition, (), sort_columns) for group in groups
    )
    return plan(Rewrite(tuple(named), target_bytes))


def files(engine: Engine) -> list[DataFile]:
    """The live data files, in the order they came into the table; those of one step by path."""
    return sorted(engine.state(0).data_files, key=lambda f: (f.added_at_ms, f.path))
