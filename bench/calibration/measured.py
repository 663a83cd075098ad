"""Measured steps: what a step of a real run cost, and what work the simulation of that run says it did.

Compactions and queries have the work that they recorded, if that is complete: a strategy that decides by
costs decides otherwise in a simulation by other coefficients. All other work is the simulated step's, at the
same place of the same stream. It is known for every run, also for those that did not record it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bench.engines.registry import FORMATS
from bench.engines.simulated.steps import (
    QUERIES,
    Step,
    commit_step,
    maintenance_step,
    query_step,
    rewrite_operation,
    rewrite_step,
)
from bench.results.folders import RunResult
from bench.results.records import CommitRecord, CompactionRecord, MaintenanceRecord, Manifest, QueryRecord
from bench.results.rows import timed
from bench.results.sittings import sittings
from bench.results.values import Cost
from bench.runs.resimulation import Resimulation

_Priced = CommitRecord | CompactionRecord | MaintenanceRecord | QueryRecord
_PRICED = (CommitRecord, CompactionRecord, MaintenanceRecord, QueryRecord)


@dataclass(frozen=True, slots=True, eq=False)  # no two steps are the same one
class MeasuredStep:
    """A step of a real run. Its JVM had used `jvm_cpu_s` of CPU since the stream began.

    `stream` identifies the rows that the run wrote: runs of one stream tell nothing new about each other's
    work. `strategy` is that of the run, with its scenario. `sitting` names the runs that were made
    without a long break. `planning_s` is the part of a query before its first task, None for other steps.
    `is_settled`: a query after the compactions of its tick. `fixed_work_cpu_s` is the mean of its run and
    those beside it (`resimulation.fixed_work_cpu_s`).
    """

    format: str
    stream: str
    strategy: str
    run_id: str
    sitting: str
    step: Step
    cost: Cost
    jvm_cpu_s: float
    cores: int
    is_initial: bool = False
    is_settled: bool = False
    planning_s: float | None = None
    fixed_work_cpu_s: float | None = None


def measured_steps(resimulated: Iterable[Resimulation]) -> list[MeasuredStep]:
    """The steps of all real runs that were simulated again.

    Left out are queries of probes that are not primary, steps that failed or shared their CPU with others,
    metadata commands of a strategy, and steps of unknown work; runs that shared a JVM or were checked after
    every compaction, and what does not know its cores or the compiler's CPU.
    """
    every = [*resimulated]
    sitting_of = sittings(run for one in every for run in one.real)
    return [
        step
        for one in every
        if one.made is not None
        for run in one.real
        if timed(run) and run.manifest.cores is not None
        for step in _steps(run, one.made, sitting_of[run.folder], one.fixed_work_cpu_s)
    ]


def _steps(
    real: RunResult, simulated: RunResult, sitting: str, fixed_work_cpu_s: float | None
) -> Iterator[MeasuredStep]:
    manifest, modelled = real.manifest, dict(_by_place(simulated))
    table_amounts = _table_amounts(simulated.manifest)
    jvm_cpu_s, label = 0.0, f"{manifest.scenario}: {manifest.strategy}"
    for place, record in _by_place(real):
        used_s = jvm_cpu_s
        if not (isinstance(record, CompactionRecord) and record.executor):  # others compile no Java
            jvm_cpu_s += record.cost.cpu_s
        if not _counts(record):
            continue
        step = _step(manifest.format, record, modelled.get(place), table_amounts)
        if step is None:
            continue
        query = record if isinstance(record, QueryRecord) else None
        yield MeasuredStep(
            manifest.format, manifest.change_log_hash, label, manifest.run_id, sitting,
            step, record.cost, used_s, manifest.cores or 1,
            is_initial=isinstance(record, CommitRecord) and record.is_initial,
            is_settled=query is not None and query.when == "settled",
            planning_s=None if query is None else query.planning_s,
            fixed_work_cpu_s=fixed_work_cpu_s,
        )  # fmt: skip


def _table_amounts(simulated: Manifest) -> Mapping[str, float]:
    properties: Any = simulated.options["table_properties"]
    return FORMATS[simulated.format].engines.simulated.table_amounts(properties)


def _counts(record: _Priced) -> bool:
    if isinstance(record, QueryRecord) and not record.primary:
        return False
    return record.status in ("ok", "noop") and record.cost.cpu_s > 0 and record.cost.jit_cpu_s is not None


def _is_known(twin: _Priced) -> bool:
    return not isinstance(twin, CompactionRecord) or twin.work.groups_count is not None


def _by_place(run: RunResult) -> Iterator[tuple[tuple[Any, ...], _Priced]]:
    """The priced records in their order, by their place in the stream.

    Queries of all sessions open the same files, and coefficients may be without costs for some of them. So
    a query has its place whoever runs it.
    """
    seen = Counter[tuple[Any, ...]]()
    for record in run.records:
        if isinstance(record, _PRICED):
            place = (record.kind, record.tick, *_which(record))
            session = record.session if isinstance(record, QueryRecord) else None
            yield (*place, seen[place, session]), record
            seen[place, session] += 1


def _which(record: _Priced) -> tuple[str, ...]:
    match record:
        case QueryRecord():
            return record.probe, record.when
        case MaintenanceRecord():
            return (record.command,)
        case CompactionRecord():
            return record.actions[0].partition("(")[0], str(record.is_inline)
        case _:
            return ()


def _step(
    table_format: str, record: _Priced, twin: _Priced | None, table_amounts: Mapping[str, float]
) -> Step | None:
    """The real record's step, with the work of the simulated one unless its own is complete."""
    if isinstance(record, QueryRecord | CompactionRecord):
        own = step_of(record).on_table(table_amounts)
        explaining = FORMATS[table_format].engines.simulated.calibrating.explaining
        if own.amounts.keys() >= {*explaining.get(own.operation, ())}:
            return own
    if twin is None or twin.status != record.status or not _is_known(twin):
        return None
    step = step_of(twin).on_table(table_amounts)
    return replace(step, operation=QUERIES[record.session]) if isinstance(record, QueryRecord) else step


def step_of(record: _Priced) -> Step:
    """The step that a record of a simulated run describes."""
    match record:
        case CommitRecord():
            return commit_step(record.change, record.work)
        case QueryRecord():
            return query_step(record.work, record.session)
        case MaintenanceRecord():
            return maintenance_step(record.work)
        case CompactionRecord():
            operation = rewrite_operation(
                record.work, record.actions[0],
                is_sorted=record.is_sorted, is_noop=record.status == "noop", executor=record.executor or None,
            )  # fmt: skip
            return rewrite_step(operation, record.work, record.before.data_files_count)
