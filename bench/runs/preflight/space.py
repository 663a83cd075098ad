"""Estimates how much disk space a suite needs at most, and checks that it is free."""

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from bench.engines.format import Format
from bench.engines.registry import FORMATS
from bench.errors import MissingRuntimeError
from bench.runs.suite.cases import PlannedRun
from bench.runs.suite.change_log import cached_log, log_cache
from bench.scenario.catalog import has_shared_catalog
from bench.scenario.scenario import Scenario
from strategies.planner import traits_of
from strategies.state import GIB
from strategies.strategy import Rule
from strategies.triggers import Trigger, trigger_traits
from workloads.commit import CommitSpec

SCRATCH_BYTES = 200_000_000  # Spark's own files, the content check's dump of a small table, logs


def needed_bytes(run: PlannedRun) -> int:
    """An upper estimate of what a run needs in the results folder: dump of the content check and scratch.

    Also the table, unless the scenario names a catalog, which keeps it elsewhere.
    """
    scenario = run.scenario
    specs = tuple(scenario.shape())
    table_bytes = 0 if has_shared_catalog(scenario) else _table_bytes(run, specs)
    return _stream_bytes(specs) + table_bytes + SCRATCH_BYTES


def _table_bytes(run: PlannedRun, specs: Sequence[CommitSpec]) -> int:
    """An upper estimate of a table with all the versions that compaction leaves behind.

    Assumes that each plan rewrites the whole table, unless its planner only needs commands that write
    metadata, and that a trigger without a fixed interval fires at every commit. A strategy plans at most
    once a commit with each compactor, and each maintenance rule at most once more.
    """
    scenario = run.scenario
    table_format, settings = FORMATS[scenario.table.format], scenario.spark.settings
    deletes_bytes = sum(table_format.writer.layout(spec, settings).delete_bytes for spec in specs)
    table_bytes = _stream_bytes(specs) + deletes_bytes
    of_compactors = [run.spec.strategy.rules] * scenario.roles.compactors_count
    groups = [*of_compactors, *((rule,) for rule in scenario.maintenance)]
    plans = sum(_plans(rules, scenario) for rules in groups)
    rewrites = sum(_plans(_rewriting(rules, table_format), scenario) for rules in groups)
    rewritten_bytes = table_bytes * (rewrites + 1) // 2 if rewrites else 0
    snapshots = scenario.commits_count + plans
    return table_bytes + rewritten_bytes + snapshots * table_format.writer.metadata_bytes_per_commit


def _stream_bytes(specs: Iterable[CommitSpec]) -> int:
    return sum(spec.expected_bytes for spec in specs)


def _rewriting(rules: Iterable[Rule], table_format: Format) -> tuple[Rule, ...]:
    """The rules whose plans may write data files; without declared needs a planner may plan anything."""
    needs = ((rule, traits_of(rule.planner).needs) for rule in rules)
    metadata_commands = table_format.engines.metadata_commands
    return tuple(rule for rule, needed in needs if not needed or needed - metadata_commands)


def _plans(rules: Iterable[Rule], scenario: Scenario) -> int:
    """The most plans of rules of which at most one plans at a commit."""
    fires = (_fires(rule.trigger, scenario) for rule in rules if traits_of(rule.planner).may_plan)
    return min(scenario.commits_count, sum(fires))


def _fires(trigger: Trigger, scenario: Scenario) -> int:
    interval_ms = trigger_traits(trigger).interval_ms
    return scenario.commits_count if interval_ms is None else -(-scenario.duration_ms // interval_ms)


def results_bytes(planned: Sequence[PlannedRun], *, keep_tables: bool) -> int:
    """What the runs need in the results folder: one at a time, unless their tables are there and kept."""
    needs = [(needed_bytes(run), has_shared_catalog(run.scenario)) for run in planned]
    kept_bytes = sum(needed for needed, is_elsewhere in needs if keep_tables and not is_elsewhere)
    return max((kept_bytes, *(needed for needed, _ in needs)))


def log_bytes(planned: Sequence[PlannedRun]) -> int:
    """What change logs need that are not in the cache. Raises ScenarioError for a damaged one."""
    scenarios = {run.scenario.name: run.scenario for run in planned}  # variants share a log
    missing = (scenario for scenario in scenarios.values() if cached_log(scenario) is None)
    return sum(_stream_bytes(scenario.shape()) for scenario in missing)


def check_space(planned: Sequence[PlannedRun], out: Path, *, keep_tables: bool) -> None:
    """Change logs go to the cache, everything else to `out`. Raises MissingRuntimeError."""
    cache = next(folder for folder in (log_cache(), *log_cache().parents) if folder.exists())
    in_out, in_cache = results_bytes(planned, keep_tables=keep_tables), log_bytes(planned)
    if _file_system(cache) == _file_system(out):
        in_out, in_cache = in_out + in_cache, 0
    _check_free(out, in_out, "choose another --out")
    _check_free(cache, in_cache, "set COMPACTBENCH_CACHE to another folder")


def _file_system(folder: Path) -> int:
    return folder.stat().st_dev


def _check_free(folder: Path, needed: int, remedy: str) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise MissingRuntimeError(
            f"{free / GIB:.1f} GiB free, but {needed / GIB:.1f} GiB may be needed: free some space, "
            f"{remedy}, or make the scenario smaller",
            code="disk-full",
            path=folder,
        )
